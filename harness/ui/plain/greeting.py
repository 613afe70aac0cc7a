"""What a front end says when a session has been opened."""

from collections.abc import Iterator
from pathlib import Path

from harness import __version__
from harness.base.terminal_text import counted
from harness.session import Session
from harness.settings import Loaded
from harness.ui.lines.line import Line, Tone


def greeting(session: Session, loaded: Loaded) -> Iterator[Line]:
    """Version, model and folder; then everything about this run that is out of the ordinary."""
    settings = session.settings
    address = "" if settings.practice else f" at {session.address}"
    yield Line("", f"harness {__version__} · {session.model}{address} · {short(settings.workspace)}")
    if settings.practice and loaded.origins["practice"].startswith("default"):
        rules = "the built-in rule-based practice model answers"
        yield Line("", f"No key was found, so {rules}; set ANTHROPIC_API_KEY for a real one.")
    elif settings.practice:
        script = f" and plays {settings.practice_script}" if settings.practice_script else ""
        yield Line("", f"The built-in rule-based practice model answers{script}.")
    if settings.tool_faults is not None:
        yield Line("", f"Tools fail as {settings.tool_faults} says (--tool-faults).")
    if settings.permission_mode == "yolo":
        yield Line("", "Every tool call is allowed without asking (--yolo).")
    for note in (*loaded.notes, *session.retirements):
        yield Line("!", note, Tone.TROUBLE)
    yield from recalled(session)


def recalled(session: Session) -> Iterator[Line]:
    """What there was when the session was opened; nothing for a new one."""
    before = session.resumed_from
    if not before.session_id:
        return
    turns = counted(before.turn, "turn")
    yield Line("", f"Resumed {session.id}: {before.title or 'nothing said yet'} ({turns})")
    if session.skipped_lines:
        yield Line("!", f"{counted(session.skipped_lines, 'line')} of its journal could not be read", Tone.TROUBLE)
    if before.interrupted:
        yield Line("!", "its last turn was cut off; /retry goes on with it", Tone.TROUBLE)


def short(path: Path) -> str:
    """A path as a person says it: below the home folder it begins with "~"."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
