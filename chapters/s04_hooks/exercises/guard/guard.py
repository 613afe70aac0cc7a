"""A hook that keeps the model from writing into the file with the keys of a project."""

from harness import HookAnswer, HookCall, hook


@hook("before_tool", tools="write_file|edit_file")
def guard(call: HookCall) -> HookAnswer | None:
    """Refuse to write a file whose name is `.env`, in whatever folder it is. Everything else passes.

    `call.tool` is the name of the tool, `call.input["path"]` is the file. None is no objection.
    """
    # ── your part begins ─────────────────────────────────────────────
    return None
    # ── your part ends ───────────────────────────────────────────────
