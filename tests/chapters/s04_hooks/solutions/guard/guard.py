"""A hook that keeps the model from writing into the file with the keys of a project."""

from pathlib import Path

from harness import HookAnswer, HookCall, hook


@hook("before_tool", tools="write_file|edit_file")
def guard(call: HookCall) -> HookAnswer | None:
    """Refuse to write a file whose name is `.env`, in whatever folder it is. Everything else goes on.

    `call.tool` is the name of the tool, `call.input["path"]` is the file. None is no objection.
    """
    path = Path(str(call.input["path"]))
    if path.name != ".env":
        return None
    return HookAnswer(block=f"{path} holds keys; list those that are needed in {path.with_name('.env.example')}")
