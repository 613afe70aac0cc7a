"""`kill -9` in sessions whose members write to each other: `python -m benchmarks.team_kills --count 100 --seed 0`.

Each run lets a lead and two members exchange messages, and is killed after a random time. Then it is gone on with by a
model that only answers. Besides what benchmarks.kills says, a run is good when

1. every message on disk to a member stands in its history exactly once, and in the order of its sender;
2. every message to the lead has arrived and was delivered exactly once;
3. no member is left at work, and no mailbox without its member is open.
"""

import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks.kills import DONE, Run, kill
from harness.events import ArrivalKind, Arrived, Delivered, Event, MemberStarted, MessageAdded, Origin
from harness.journal import read
from harness.policies.team.members import AT_WORK, TeamFold

ROUNDS = 5
_ID = re.compile(r'<mail id="([0-9]+)"')


def script() -> str:
    """A lead that starts two members and writes to both; they write to each other and to the lead."""
    starts = ", ".join(
        f'{{ name = "team_start", input = {{ name = "{name}", description = "wait", task = "Be ready." }} }}'
        for name in ("ann", "ben")
    )
    replies = [f"[[reply]]\ntools = [ {starts} ]\n"]
    for number in range(ROUNDS):
        sends = ", ".join(_message(name, f"round {number}") for name in ("ann", "ben"))
        replies.append(f"[[reply]]\ntools = [ {sends} ]\n")
    member = 'when = { lacks = "agent" }\n'
    for number in range(ROUNDS):
        sends = ", ".join(_message(name, f"word {number}") for name in ("ann", "ben", "lead"))
        replies.append(f"[[reply]]\ntools = [ {sends} ]\n{member}")
    return "".join(replies) + DONE


def _message(to: str, text: str) -> str:
    return f'{{ name = "message", input = {{ to = ["{to}"], text = "{text}" }} }}'


class TeamRun(Run):
    """A session with a lead and two members."""

    options = ("--team",)
    script = staticmethod(script)

    def after(self, path: Path) -> Iterator[str]:
        """Compare the mailboxes with the histories."""
        events = [record.event for record in read(path).records]
        fold = TeamFold()
        for event in events:
            fold.on_event(event, 0.0)
        agents = {event.member: event.agent for event in events if isinstance(event, MemberStarted)}
        if busy := [row.name for row in fold.live if row.state in AT_WORK]:
            yield f"still at work: {busy}"
        for file in self._state.glob("teams/*.sqlite"):
            with closing(sqlite3.connect(file)) as connection:
                mail = connection.execute("SELECT id, sender, recipient, recipient_generation FROM mail").fetchall()
                boxes = connection.execute("SELECT name, generation FROM boxes WHERE ended = ''").fetchall()
            known = {(address.name, address.generation) for address in agents} | {("lead", 1)}
            if ghosts := set(boxes) - known:
                yield f"mailboxes without a member: {ghosts}"
            for address, agent in agents.items():
                box = address.name, address.generation
                wanted = [id for id, _, *recipient in mail if tuple(recipient) == box]
                found = list(_read(path.with_suffix(".agents") / f"{agent}.jsonl"))
                if box in boxes and found != wanted:
                    yield f"mail of {address}: {wanted}; in its history: {found}"
            yield from self._of_lead(events, [id for id, _, recipient, _ in mail if recipient == "lead"])

    def _of_lead(self, events: Sequence[Event], wanted: list[int]) -> Iterator[str]:
        kinds = (ArrivalKind.MAIL, ArrivalKind.NOTE)
        mails = [one for one in events if isinstance(one, Arrived) and one.kind in kinds and _ID.match(one.text)]
        if (found := sorted(int(_ID.match(one.text)[1]) for one in mails)) != wanted:  # type: ignore[index]
            yield f"mail of the lead: {wanted}; arrived: {found}"
        delivered = Counter(number for one in events if isinstance(one, Delivered) for number in one.numbers)
        if wrong := [one.number for one in mails if delivered[one.number] != 1]:
            yield f"arrivals that were not delivered once: {wrong}"


def _read(path: Path) -> Iterator[int]:
    """The ids of the mail in the history of a member."""
    for record in read(path).records if path.exists() else ():
        event = record.event
        if isinstance(event, MessageAdded) and event.origin is Origin.MAIL:
            yield from (int(found[1]) for block in event.message.content if (found := _ID.match(block["text"])))


def main() -> int:
    """Print the findings; the exit code is 1 when a run was not good."""
    return kill(TeamRun, __doc__ or "")


if __name__ == "__main__":
    sys.exit(main())
