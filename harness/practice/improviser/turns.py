"""The nouns of the improviser: calls, results, turns."""

import json
import re
from dataclasses import dataclass, field

from harness.events import Json

_DENIED = re.compile(
    r"\bpermission was (denied|refused)\b|\b(user|person)\b.{0,30}\b(did not|didn't) (allow|permit|consent)"
    r"|\bwas not allowed\b|\b(user|person)\b.{0,30}\b(denied|declined|refused|rejected|said no)\b"
    r"|\b(denied|declined|refused|rejected) by (the |a )?(user|person|mode|rule|default)",
    re.IGNORECASE | re.DOTALL,
)
_CANCELLED = re.compile(
    r"\A\W*(not run|interrupted|cancell?ed|no result was recorded)\b|\b(was|were) (cancell?ed|interrupted|aborted)\b",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"no such file|not found|does not exist|doesn't exist|cannot find|there is no (file|folder|directory)",
    re.IGNORECASE,
)
_SKIPPED = re.compile(r"\A\S+ was not run: ")
_PAUSED = re.compile(r"\A\W*not run: the turn pauses\b", re.IGNORECASE)
_SHORTENED = re.compile(
    r"^\W*[\[(<…].*\b(shortened|truncated|omitted|left out|more lines|capped|\d more|stopped at|all of it is in)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: asked for, or wished for."""

    name: str
    input: Json

    @property
    def key(self) -> str:
        """The same for two calls that ask for the same."""
        return f"{self.name} {json.dumps(self.input, sort_keys=True, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool call brought."""

    text: str
    failed: bool = False

    @property
    def denied(self) -> bool:
        """The person, or a rule, did not allow the call."""
        return self.failed and not self.skipped and _DENIED.search(self.text[:2_000]) is not None

    @property
    def skipped(self) -> bool:
        """The call was not run because its tool does not work now; the text names the ways round."""
        return self.failed and _SKIPPED.search(self.text) is not None

    @property
    def paused(self) -> bool:
        """The call was not run because the turn ends here, until the person wants it to go on."""
        return self.failed and _PAUSED.search(self.text) is not None

    @property
    def cancelled(self) -> bool:
        """The call was ended or never begun."""
        known = self.denied or self.skipped or self.paused
        return self.failed and not known and _CANCELLED.search(self.text[:300]) is not None

    @property
    def not_run(self) -> bool:
        """Nothing can be told of what the call brought, because it was not let through to its end."""
        return self.denied or self.skipped or self.paused or self.cancelled

    @property
    def missing(self) -> bool:
        """The thing that was named does not exist."""
        return self.failed and not self.not_run and _MISSING.search(self.text[:2_000]) is not None

    @property
    def shortened(self) -> str:
        """The note that says that this is not the whole output, "" when it is whole."""
        notes = [line.strip() for line in self.text.splitlines() if _SHORTENED.search(line[:400])]
        return notes[-1] if notes else ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A call and its result."""

    call: Call
    result: Result


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came of something in the background while the model did something else."""

    kind: str
    """ "command_ended", "command_quiet", "agent_ended"."""
    source: str
    """Id of the command or agent."""
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A request of the person and what has come of it so far."""

    prompt: str
    exchanges: tuple[Exchange, ...] = field(default=())
    said: str = ""
    answered: bool = False
    """The last that happened in it is that the model said something, without asking for a tool."""
    paused_after: int | None = None
    """How many calls there were when the turn was paused last."""
    arrivals: tuple[Arrival, ...] = ()
    """What arrived in it. A turn that nobody asked for, and that only these began, has no prompt."""
    media: tuple[str, ...] = ()
    """The images and documents that came with it, measured."""

    @property
    def standing(self) -> tuple[Exchange, ...]:
        """What still counts: of the calls before a pause those that worked, and those that the person refused."""
        before, after = self.exchanges[: self.paused_after or 0], self.exchanges[self.paused_after or 0 :]
        return (*(one for one in before if not one.result.failed or one.result.denied), *after)

    @property
    def resumed(self) -> bool:
        """The turn was paused, and is now to be taken up again."""
        return self.paused_after == len(self.exchanges)
