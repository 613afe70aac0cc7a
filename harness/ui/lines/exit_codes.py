"""How the processes of a program have ended, in one line."""

from harness.session import ExitCounts
from harness.ui.lines.events import seconds


def exits_in_words(exits: ExitCounts) -> str:
    """What was started and what became of it; a kind of end that did not happen is not told of.

    How long ending took at most is said where something had to be ended.
    """
    ends = (
        (exits.exited, "ended by itself", "ended by themselves"),
        (exits.terminated, "was stopped", "were stopped"),
        (exits.killed, "was killed", "were killed"),
        (exits.survived, "could not be ended", "could not be ended"),
        (exits.handed_over, "goes on without the program", "go on without the program"),
    )
    running = exits.started - sum(number for number, _, _ in ends)
    kinds = (*ends, (running, "still runs", "still run"))
    told = ", ".join(f"{number:,} {one if number == 1 else many}" for number, one, many in kinds if number)
    ended = exits.terminated or exits.killed
    slowest = f"; ending one took at most {seconds(exits.slowest_end_s)}" if ended else ""
    return f"{exits.started:,} started: {told}{slowest}"
