"""Slash commands of a chapter: what its texts and reports name, for the agent of the chapter."""

from chapters.course import Recording
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import CommandError, PlayEvents, ShowText, StartTask

BREAKING = ("/fault", "/toolfault")
"""Order faults, which is recorded."""
COMMANDS = (*BREAKING, "/retry", "/reset", "/clear", "/checklist", "/agents")


async def answer(recording: Recording, line: str) -> str:
    """Run the command in a line, one of `COMMANDS`; returns the text to show. Raises HarnessError."""
    command, _, argument = line.strip().partition(" ")
    match command:
        case "/fault":
            return recording.break_model(argument.strip())
        case "/toolfault":
            return recording.break_tool(argument.strip())
        case "/clear":
            recording.session.user_commands.clear()
            return "Conversation cleared."
    match run_command(line.strip(), recording.session):
        case ShowText(text):
            return text
        case StartTask(work):
            return await work
        case PlayEvents(events):
            await recording.play(events)
            return ""
    raise CommandError(f"{command} needs a session of your own.")
