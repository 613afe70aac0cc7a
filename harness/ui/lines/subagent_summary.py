"""Many agents in few lines, where lines stay: in the log of a run that nobody watches.

The first of a crowd begin and answer in a line each, as `WorkLines` tells it. Of the others a line a second says how
many are how far. Whoever fails has a line all the same; those that never began or were stopped, which can be all of
them at once, stand together by their ids.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from harness.base.terminal_text import counted
from harness.events import AgentCreated, AgentEnd, AgentEnded, Event, GateName, WorkAdmitted
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.work import WorkLines

FEW = 10
"""Of a kind that are told one by one in each crowd: beginnings, answers, agents that never worked or were stopped."""
PAUSE_S = 1.0
"""Between two lines with numbers, in seconds."""
_ID = re.compile(r"(\D*)(\d+)")


class CrowdLines:
    """What to print of agents, commands in the background and the gate.

    A crowd are the agents that are asked for until all of them are done. No timer runs: a line that waits for its
    second comes with the next event after it, whatever that is about.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds of a clock that never goes back."""
        self._now = now
        self._work = WorkLines()
        self._told_at = 0.0
        self._asked = 0
        self._begun = 0
        self._at_work: set[str] = set()
        self._ends: Counter[AgentEnd] = Counter()
        self._apart: dict[tuple[AgentEnd, str], list[str]] = {}
        """Agents that never began or were stopped and were not told of yet, by that and the reason."""
        self._pending = False
        """Something has happened that no line tells of yet."""

    def lines(self, event: Event) -> Iterator[Line]:
        """The lines for an event."""
        line = self._work.line(event)
        if self._folds(event):
            self._pending = True
        elif line is not None:
            yield line
        if self._pending and (self._over or self._now() - self._told_at >= PAUSE_S):
            yield from self.rest()

    def rest(self) -> Iterator[Line]:
        """What has happened and was not told yet."""
        if not self._pending:
            return
        self._pending, self._told_at = False, self._now()
        apart, self._apart = self._apart, {}
        for (end, reason), agents in apart.items():
            if end is AgentEnd.CANCELLED:
                yield Line("○", f"{spans(agents)} {'were' if len(agents) > 1 else 'was'} stopped", Tone.TROUBLE)
            else:
                yield Line("✗", f"{spans(agents)} did not begin: {reason}", Tone.BAD)
        yield Line("·", self._numbers())

    @property
    def _over(self) -> bool:
        return self._ends.total() >= self._asked

    def _folds(self, event: Event) -> bool:
        """Take note of an event; whether it is one of so many that it has no line of its own."""
        match event:
            case AgentCreated():
                if self._over:
                    self._begin_anew()
                self._asked += 1
            case WorkAdmitted(key=key, gate=GateName.AGENTS):
                self._begun += 1
                self._at_work.add(key)
                return self._begun > FEW
            case AgentEnded(agent=agent, end=end, reason=reason):
                self._ends[end] += 1
                if end is not AgentEnd.NOT_STARTED:
                    self._at_work.discard(agent)
                match end:
                    case AgentEnd.ANSWERED:
                        return self._ends[end] > FEW
                    case AgentEnd.CANCELLED | AgentEnd.NOT_STARTED if self._ends[end] > FEW:
                        why = reason if end is AgentEnd.NOT_STARTED else ""
                        self._apart.setdefault((end, why), []).append(agent)
                        return True
        return False

    def _begin_anew(self) -> None:
        self._asked = self._begun = 0
        self._ends.clear()
        self._told_at = self._now()

    def _numbers(self) -> str:
        apart = AgentEnd.ANSWERED, AgentEnd.CANCELLED, AgentEnd.NOT_STARTED
        answered, stopped, not_begun = (self._ends[end] for end in apart)
        at_work = len(self._at_work)
        counts = (
            (answered, "answered"),
            (self._ends.total() - answered - stopped - not_begun, "did not finish"),
            (stopped, "stopped"),
            (not_begun, "did not begin"),
            (at_work, "at work"),
            (self._asked - self._ends.total() - at_work, "waiting"),
        )
        told = ", ".join(f"{number:,} {words}" for number, words in counts if number > 0)
        return f"{counted(self._asked, 'agent')}: {told}"


def spans(ids: Iterable[str]) -> str:
    """Ids in their order, those that follow one another as a span: "a3, a6–a400"."""
    plain = sorted({id for id in ids if not _ID.fullmatch(id)})
    counted = sorted({(found[1], int(found[2])) for id in ids if (found := _ID.fullmatch(id))})
    told = [*plain]
    for _, run in groupby(enumerate(counted), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        numbers = [f"{letters}{number}" for _, (letters, number) in run]
        told.append(numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}")
    return ", ".join(told)
