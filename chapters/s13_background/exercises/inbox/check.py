"""Kills a program with the learner's inbox after each of its writes, and reads the messages to the model at the end."""

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from types import ModuleType
from typing import Any

Event = dict[str, Any]
Act = tuple[Any, ...]
"""("start", command), ("end", command, code) or ("deliver",)."""
SESSIONS = 600


class Killed(BaseException):
    """The program was killed."""


class Log:
    """A log whose program is killed when it has written `most` events."""

    def __init__(self, events: list[Event] | None = None, most: int | None = None) -> None:
        self.events = events if events is not None else []
        self._most = most

    def write(self, event: Event) -> None:
        self.events.append(dict(event))
        if self._most is not None:
            self._most -= 1
            if self._most == 0:
                raise Killed


def lived(work: ModuleType, acts: Iterable[Act], log: Log) -> bool:
    """Whether a program with these acts came to its end."""
    try:
        inbox = work.Inbox(list(log.events), log.write)
        for act in acts:
            match act:
                case ("start", command):
                    inbox.started(command)
                case ("end", command, code):
                    inbox.ended(command, code)
                case ("deliver",):
                    inbox.deliver()
    except Killed:
        return False
    return True


def finished(work: ModuleType, log: Log) -> None:
    """A last program that delivers all that is left."""
    inbox = work.Inbox(list(log.events), Log(log.events).write)
    for _ in range(20):
        if not inbox.deliver():
            break


def messages(log: Log) -> list[str]:
    """The messages to the model."""
    return [str(event.get("text", "")) for event in log.events if event.get("type") == "message"]


def shown(log: Log, what: str) -> str:
    """The log, for the report of a difference."""
    return "\n".join([*map(str, log.events), what])


ONE: tuple[Act, ...] = (("start", "b1"), ("end", "b1", 0), ("deliver",))


def check_an_end_is_reported(work: ModuleType) -> None:
    log = Log()
    lived(work, ONE, log)
    assert messages(log) == [work.told("b1", 0)], shown(log, f"-> {messages(log)}")
    log = Log()
    lived(work, (("deliver",), ("start", "b1"), ("deliver",)), log)
    assert messages(log) == [], shown(log, f"nothing had ended -> {messages(log)}")
    inbox = work.Inbox([], Log().write)
    assert inbox.deliver() == "", "deliver() with nothing to report returns text"


def check_an_end_counts_once(work: ModuleType) -> None:
    log = Log()
    lived(
        work, (("start", "b1"), ("end", "b1", 0), ("end", "b1", -9), ("deliver",), ("end", "b1", 0), ("deliver",)), log
    )
    assert messages(log) == [work.told("b1", 0)], shown(log, f"-> {messages(log)}")


def check_a_kill_loses_and_repeats_nothing(work: ModuleType) -> None:
    for most in range(1, 8):
        log = Log(most=most)
        if lived(work, ONE, log) and most > 3:
            break
        before = [dict(event) for event in log.events]
        finished(work, log)
        code = 0 if any(event.get("type") == "ended" for event in before) else None
        assert messages(log) == [work.told("b1", code)], shown(log, f"killed after {most} writes -> {messages(log)}")


def check_nothing_runs_after_a_kill(work: ModuleType) -> None:
    log = Log()
    lived(work, (("start", "b1"), ("start", "b2"), ("end", "b2", 3)), log)
    finished(work, log)
    finished(work, log)
    lines = Counter(line for text in messages(log) for line in text.splitlines())
    assert lines == {work.told("b1", None): 1, work.told("b2", 3): 1}, shown(log, f"-> {messages(log)}")


def check_a_message_has_five_ends_at_most(work: ModuleType) -> None:
    names = [f"b{number}" for number in range(1, 13)]
    log = Log()
    lived(work, [act for name in names for act in (("start", name), ("end", name, 0))] + [("deliver",)] * 4, log)
    wanted = ["\n".join(work.told(name, 0) for name in part) for part in (names[:5], names[5:10], names[10:])]
    assert messages(log) == wanted, f"-> {messages(log)}\nwanted {wanted}"


def check_random_sessions_report_each_end_once(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(SESSIONS))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


def _difference(work: ModuleType, chance: Random) -> str:
    """The error in a random session with kills; empty: there is none."""
    log = Log()
    number = 0
    for _ in range(chance.randint(1, 4)):
        acts: list[Act] = []
        running: list[str] = []
        for _ in range(chance.randint(1, 10)):
            what = chance.random()
            if what < 0.4:
                number += 1
                running.append(f"b{number}")
                acts.append(("start", f"b{number}"))
            elif what < 0.8 and running:
                acts.append(("end", chance.choice(running), chance.randint(0, 2)))
            else:
                acts.append(("deliver",))
        life = Log(log.events, most=chance.randint(1, 12) if chance.random() < 0.7 else None)
        try:
            lived(work, acts, life)
        except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
            return shown(log, f"-> {type(error).__name__}: {error}")
    try:
        finished(work, log)
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
        return shown(log, f"-> {type(error).__name__}: {error}")
    return _judged(work.told, log)


def _judged(told: Callable[[str, int | None], str], log: Log) -> str:
    """Every started command is reported once: with its first end, or as lost."""
    first: dict[str, int | None] = {}
    for event in log.events:
        if event.get("type") == "started":
            first.setdefault(event["command"], None)
        if event.get("type") == "ended" and event.get("code") is not None and first.get(event["command"], 0) is None:
            first[event["command"]] = event["code"]
    wanted = Counter(told(command, code) for command, code in first.items())
    found = Counter(line for text in messages(log) for line in text.splitlines())
    if found == wanted:
        return ""
    return shown(log, f"reported {dict(found - wanted)} too often, and not {dict(wanted - found)}")
