"""Texts for the model about a background command that ended, fell silent or was handed over."""

from pathlib import Path

from harness.events import CommandEnd, CommandEnded, CommandQuiet

LINE_CHARACTERS = 200
"""Of a command line, as far as it is repeated."""


def ended_text(event: CommandEnded, line: str, output: Path, time_s: float, most_bytes: int) -> str:
    """How a command ended, with the end of its output."""
    reason = f" ({event.reason})" if event.reason else ""
    parts = [f"{event.command} {_how(event, time_s, most_bytes)}{reason}: {_short(line)}"]
    if event.left:
        parts.append(f"These of its processes could not be ended: {', '.join(event.left)}.")
    if event.end is not CommandEnd.NOT_STARTED:
        parts.append(_written(event.output_bytes, event.tail, output))
    return "\n".join(parts)


def quiet_text(event: CommandQuiet, line: str) -> str:
    """A command may be waiting for an answer that it can never get."""
    return (
        f"{event.command} has written nothing for {event.quiet_s:.0f} s and seems to wait for an answer: "
        f"{_short(line)}\n"
        "It cannot get one, because its stdin is empty. If so, end it with kill_background and start it with "
        f"options that ask no questions. The end of its output:\n{event.tail.rstrip()}"
    )


def handed_over_text(command: str, line: str, pid: int, output: Path) -> str:
    """A command was handed over."""
    return (
        f"{command} was handed over by the user and keeps running (process {pid}): {_short(line)}\n"
        f"It has no time limit now and outlives this session, and you will not be notified when it ends. "
        f"Its output is in {output}."
    )


def _how(event: CommandEnded, time_s: float, most_bytes: int) -> str:
    after = f" after {event.duration_s:.1f} s" if event.duration_s else ""
    match event.end:
        case CommandEnd.EXITED if event.exit_code is not None and event.exit_code < 0:
            return f"was killed by signal {-event.exit_code}{after}"
        case CommandEnd.EXITED:
            return f"ended with exit code {event.exit_code}{after}"
        case CommandEnd.TIMED_OUT:
            return f"was ended, because its time limit of {time_s:g} s was up"
        case CommandEnd.TOO_LONG:
            return f"was ended{after}, because it wrote more than {most_bytes:,} bytes"
        case CommandEnd.STOPPED:
            return f"was stopped{after}"
        case CommandEnd.SHUT_DOWN:
            return f"was ended{after}, because the session ended"
        case CommandEnd.LOST:
            return "is lost: the program that watched it ended without warning; what became of it is not known"
        case CommandEnd.NOT_STARTED:
            return "was not started"


def _written(size: int, tail: str, output: Path) -> str:
    if not size:
        return "It wrote nothing."
    return f"Its output, {size:,} bytes, is in {output}. The end of it:\n{tail.rstrip()}"


def _short(line: str) -> str:
    first, _, rest = line.strip().partition("\n")
    return first if len(first) <= LINE_CHARACTERS and not rest else first[:LINE_CHARACTERS].rstrip() + " …"
