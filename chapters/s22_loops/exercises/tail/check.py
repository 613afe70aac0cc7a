"""Plays streams to a learner's detector, and the tail of harness beside it."""

from collections.abc import Sequence
from random import Random
from types import ModuleType

from harness.policies.loops.repeat_detector import RepeatTail, wanted_runs

STREAMS, LENGTH = 2_000, 24


def check_one_symbol_again_and_again(work: ModuleType) -> None:
    for count in range(work.COPIES + 3):
        stream = ["plan", *["read notes"] * count]
        _expect(work, stream, 1 if count >= work.COPIES else 0)


def check_a_loop_is_found_at_the_earliest_step(work: ModuleType) -> None:
    for length in range(2, work.LONGEST + 1):
        word = [f"place {number}" for number in range(length)]
        for before in ([], ["start"], ["start", "place 0"]):
            whole = [*before, *word * work.COPIES_CYCLE]
            for end in range(1, len(whole)):
                _expect(work, whole[:end], 0)
            _expect(work, whole, length)
            _expect(work, [*whole, word[0]], length)


def check_it_is_silent_when_things_only_look_alike(work: ModuleType) -> None:
    pages = [f"page {number}" for number in range(50)]
    log = [step for number in range(20) for step in ("wait", f"{number} lines")]
    work_of_a_day = ["test", "edit", "test", "edit", "commit", "test", "test", "push"]
    for stream in (pages, log, work_of_a_day):
        for end in range(1, len(stream) + 1):
            _expect(work, stream[:end], 0)
    _expect(work, [*["read notes"] * work.COPIES, "write answer"], 0)


def check_it_finds_what_the_real_one_finds(work: ModuleType) -> None:
    differences = (_difference(work, _stream(Random(seed))) for seed in range(STREAMS))
    shortest = min(filter(None, differences), key=len, default=None)
    assert shortest is None, shortest


def _difference(work: ModuleType, stream: Sequence[str]) -> str:
    """The beginning of a stream at which the two differ, in words; "": they never do."""
    tail = RepeatTail(work.LONGEST)
    wanted = wanted_runs(work.LONGEST, copies=work.COPIES, copies_cycle=work.COPIES_CYCLE)
    for end, symbol in enumerate(stream, start=1):
        tail.push(symbol)
        mine, real = work.found(list(stream[:end])), tail.shortest(wanted)
        if mine != real:
            return _told(stream[:end], mine, real)
    return ""


def _expect(work: ModuleType, stream: Sequence[str], wanted: int) -> None:
    found = work.found(list(stream))
    assert found == wanted, _told(stream, found, wanted)


def _told(stream: Sequence[str], found: int, wanted: int) -> str:
    shown = stream[-30:]
    more = "… " if len(shown) < len(stream) else ""
    return f"found([{more}{', '.join(map(repr, shown))}]) -> {found}, wanted {wanted}"


def _stream(chance: Random) -> list[str]:
    """Symbols of a walk that often repeats itself."""
    symbols = "abc"[: chance.randint(1, 3)]
    stream = [chance.choice(symbols) for _ in range(chance.randint(1, 6))]
    while len(stream) < LENGTH:
        lag = chance.randint(1, min(8, len(stream)))
        for _ in range(chance.randint(1, 3 * lag)):
            stream.append(stream[-lag])
        if chance.random() < 0.6:
            stream.append(chance.choice(symbols))
    return stream[:LENGTH]
