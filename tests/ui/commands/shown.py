"""What a slash command shows."""

from harness.session import Session
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText, StartTask


async def shown_by(line: str, session: Session) -> str:
    """The text of a line that shows one, at once or after some work."""
    match run_command(line, session):
        case ShowText(text):
            return text
        case StartTask(work):
            return await work
    raise AssertionError(line)
