"""What scenarios of tool calls are made of: calls, steps, and streams of them."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Made:
    """One call and its result."""

    tool: str
    arguments: str
    result: str
    ok: bool = True
    mutates: bool = False
    """It changed the workspace."""
    poll: bool = False
    """Declared as a poll with the default limits."""


Step = tuple[Made, ...]
"""All calls of one reply."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """A stream of steps, and what a good detector says of it."""

    id: str
    name: str
    steps: tuple[Step, ...]
    latest: int | None = None
    """Last step, from 1, for detecting the loop; None: legitimate work, must not be reported."""
    weak: bool = False
    """Its signs leave room for doubt: a nudge is enough."""
    apart_s: float = 5.0
    """Seconds from one step to the next."""
    prompts: tuple[int, ...] = ()
    """Steps, from 1, that follow a new prompt of the user."""


def read(path: str, result: str) -> Made:
    return Made("read_file", path, result)


def edit(path: str, change: str, result: str = "replaced 1 occurrence") -> Made:
    return Made("edit_file", f"{path}: {change}", result, mutates=True)


def run(command: str, result: str = "") -> Made:
    return Made("run_command", command, result)


def fail(tool: str, arguments: str, result: str) -> Made:
    return Made(tool, arguments, result, ok=False)


WORDS = (
    *("alpha", "bravo", "carol", "delta", "eagle", "fable", "grape", "hotel"),
    *("india", "jewel", "koala", "lemon", "mango", "noble", "ocean", "piano"),
)
"""Names that differ in more than digits, so that nothing can be blanked out of them."""


def word(number: int) -> str:
    """A name of its own for each number."""
    return WORDS[number % 16] + (WORDS[number // 16 % 16] if number >= 16 else "")


def exploring(count: int) -> tuple[Step, ...]:
    return tuple((read(f"src/{word(i)}.py", f"class {word(i).title()}: ..."),) for i in range(1, count + 1))
