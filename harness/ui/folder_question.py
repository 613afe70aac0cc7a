"""Asks whether the user trusts the settings in the files of a folder, before they take effect."""

import termios
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from harness.ui.terminal_input import without_answers

if TYPE_CHECKING:
    from harness.settings import LoadedSettings


FILES = (
    *(".env", ".harness/settings.toml", ".mcp.json"),
    *(f"{folder}/{kind}" for folder in (".harness", ".agents", ".claude") for kind in ("commands", "agents")),
)

RISK = "They can send your conversation elsewhere and run programs. Trust only files that you know."
COST = "They choose the models of some commands and subagents. Otherwise the model of the session is used."
SERVERS = "They start programs or connect to servers, whose tools the model can call. Trust only servers that you know."


def with_answer(
    flags: Mapping[str, object], environ: Mapping[str, str], source: TextIO | None, out: TextIO | None
) -> Mapping[str, object]:
    """The flags, with `trust_folder` false if the user said no; a yes is remembered.

    Asks only in a terminal, and only about new claims. Imports nothing for a folder without such files. Raises
    SettingsError.
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


def _ask(loaded: "LoadedSettings", source: TextIO, out: TextIO) -> bool:
    print(f"Files in {loaded.settings.workspace} set:\n", file=out)
    for claim in loaded.claims:
        print(f"  {claim.origin} = {claim.shown}", file=out)
    risky = any(not claim.optional for claim in loaded.claims)
    servers = any(claim.name.startswith(".mcp.json") for claim in loaded.claims)
    print(f"\n{RISK if risky else SERVERS if servers else COST}", file=out)
    return confirmed("Trust them? yes: until they change / no: ignore them", source, out)


def confirmed(question: str, source: TextIO, out: TextIO) -> bool:
    """Ask a question whose default is no. False without a terminal, where nothing is asked."""
    if not (source.isatty() and out.isatty()):
        return False
    with suppress(termios.error, OSError, ValueError):  # keys typed before the question are no answer
        termios.tcflush(source.fileno(), termios.TCIFLUSH)
    print(f"{question} [no] ", end="", file=out, flush=True)
    answer = source.readline()
    if not answer.endswith("\n"):
        print(file=out)
    return without_answers(answer).strip().casefold() in ("y", "yes")
