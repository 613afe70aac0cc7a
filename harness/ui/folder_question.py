"""Asks, before anything of a folder takes effect, whether the user trusts what its files want to set."""

import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from harness.settings import Loaded

FILES = (
    *(".env", ".harness/settings.toml"),
    *(f"{folder}/{kind}" for folder in (".harness", ".agents", ".claude") for kind in ("commands", "agents")),
)

RISK = "They can send your conversation elsewhere and run programs. Use them only if you know them."
COST = "They choose what some commands and subagents cost. Without them the model of the session answers."


def with_answer(
    flags: Mapping[str, object], environ: Mapping[str, str], source: TextIO | None, out: TextIO | None
) -> Mapping[str, object]:
    """The flags, with the user's no where they do not trust what the files of the folder claim; a yes is kept.

    Asks in a terminal only, and only where a claim waits for an answer. Nothing is imported and read for a folder
    without such files. Raises SettingsError.
    """
    workspace = Path(str(flags.get("workspace") or environ.get("HARNESS_WORKSPACE") or "."))
    if not any((workspace / file).exists() for file in FILES):
        return flags
    if source is None or out is None or not (source.isatty() and out.isatty()):
        return flags
    from harness.settings import load

    loaded = load(flags, environ)
    if not loaded.claims or loaded.trust is not None:
        return flags
    if _ask(loaded, source, out):
        loaded.remember()
        return flags
    return {**flags, "trust_folder": False}


def _ask(loaded: "Loaded", source: TextIO, out: TextIO) -> bool:
    print(f"The files of {loaded.settings.workspace} want to set:\n", file=out)
    for claim in loaded.claims:
        print(f"  {claim.origin} = {claim.shown}", file=out)
    print(f"\n{RISK if any(not claim.optional for claim in loaded.claims) else COST}", file=out)
    with suppress(termios.error, OSError, ValueError):  # keys that were typed before the question are no answer to it
        termios.tcflush(source.fileno(), termios.TCIFLUSH)
    print("Use them? yes: until they change / no: start without them [no] ", end="", file=out, flush=True)
    answer = source.readline()
    if not answer.endswith("\n"):
        print(file=out)
    return answer.strip().casefold() in ("y", "yes")
