"""Following a journal gives what reading it gives, however its bytes arrive."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import aclosing, suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import JournalError
from harness.events import Message, MessageAdded, Notice, Origin
from harness.journal import Journal, Record, SkippedLine, read, writer_of
from harness.journal.follow import APPEARS_WITHIN_S, CHUNK, CaughtUp, FollowItem, WriterChanged, follow, running_session
from harness.journal.records import line_of
from tests.journal.samples import session
from tests.ui.program import Place, end_of, run, start

pytestmark = pytest.mark.anyio

GOOD = [Record(number, 1_795_234_000.0 + number, event) for number, event in enumerate(session(), start=1)]
LONG = Record(
    len(GOOD) + 1,
    1_795_235_000.0,
    MessageAdded(Message("user", ({"type": "text", "text": "言葉" * 700_000},)), Origin.PROMPT),
)


class Over(Exception):  # noqa: N818 (nothing went wrong)
    """The story that a test has written is over."""


async def followed(path: Path, writes: Iterable[bytes], mode: str = "ab") -> list[FollowItem]:
    """The reports to a follower when these bytes are written in turn, each between two looks."""
    pending, told = iter(writes), list[FollowItem]()

    async def wait(_: float) -> None:
        for piece in pending:
            with path.open(mode) as file:
                file.write(piece)
            return
        raise Over

    with suppress(Over):
        async for item in follow(path, wait=wait):
            told.append(item)
    return told


def pieces(content: bytes, cuts: Iterable[int]) -> Iterator[bytes]:
    places = sorted({0, len(content), *cuts})
    return (content[begin:end] for begin, end in pairwise(places))


# ── the same as reading ─────────────────────────────────────────────────────────────────────────

LINES = st.one_of(
    st.sampled_from([line_of(record) for record in GOOD[:8]]),
    st.sampled_from(
        [b"\n", b"{}\n", b'{"seq": 3, "at"\n', b"\xff\xfe\n", b'{"type": "notice", "level": "info", "text": "x"}\n']
    ),
)


@given(st.lists(LINES, max_size=12), st.binary(max_size=20).map(lambda end: end.replace(b"\n", b"")), st.data())
async def test_any_split_of_the_bytes_gives_what_reading_the_whole_lines_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], torn: bytes, data: st.DataObject
) -> None:
    content = b"".join(lines) + torn
    cuts = data.draw(st.lists(st.integers(0, len(content)), max_size=30))
    path = tmp_path_factory.getbasetemp() / "split.jsonl"
    path.write_bytes(b"")
    told = await followed(path, pieces(content, cuts))
    path.write_bytes(b"".join(lines))
    reading = read(path)
    assert [item for item in told if isinstance(item, Record)] == list(reading.records)
    assert [item for item in told if isinstance(item, SkippedLine)] == list(reading.skipped)


async def test_a_line_of_megabytes_comes_whole_and_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]))
    content = line_of(LONG) + line_of(Record(LONG.seq + 1, LONG.at, Notice("info", "after it")))
    told = await followed(path, pieces(content, range(0, len(content), 5 * CHUNK + 1)))
    assert told[:2] == [GOOD[0], CaughtUp(None)]
    assert told[2] == LONG
    assert isinstance(told[3], Record)
    assert len(told) == 4


async def test_the_mark_is_sent_once_between_the_past_and_the_present(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line_of, GOOD[:3])))
    told = await followed(path, [line_of(GOOD[3]), line_of(GOOD[4])])
    assert told == [*GOOD[:3], CaughtUp(None), *GOOD[3:5]]


async def test_half_a_line_is_not_reported_until_it_is_completed(tmp_path: Path) -> None:
    path, line = tmp_path / "s.jsonl", line_of(GOOD[1])
    path.write_bytes(line_of(GOOD[0]) + line[:20])
    assert await followed(path, []) == [GOOD[0], CaughtUp(None)]
    assert await followed(path, [line[20:-1], b"\n"]) == [GOOD[0], CaughtUp(None), GOOD[1]]


async def test_a_torn_line_is_counted_when_the_next_writer_has_ended_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]) + line_of(GOOD[1])[:20])
    told = await followed(path, [b"\n" + line_of(GOOD[2])])
    assert told == [GOOD[0], CaughtUp(None), SkippedLine(2, "not JSON"), GOOD[2]]


# ── files that are not there, or not the same any more ──────────────────────────────────────────


async def test_a_journal_that_appears_a_moment_later_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    assert await followed(path, [line_of(GOOD[0]), line_of(GOOD[1])]) == [GOOD[0], CaughtUp(None), GOOD[1]]


async def test_a_journal_that_never_appears_is_given_up(tmp_path: Path) -> None:
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    with pytest.raises(JournalError, match=r"There is no journal .*s\.jsonl; `harness sessions`"):
        await anext(aiter(follow(tmp_path / "s.jsonl", wait=wait)))
    assert sum(waited) == APPEARS_WITHIN_S


@pytest.mark.parametrize("what", ["removed", "replaced", "cut"])
async def test_a_journal_that_changes_under_the_reader_is_an_error_in_words(tmp_path: Path, what: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line_of, GOOD[:3])))

    async def wait(_: float) -> None:
        match what:
            case "removed":
                path.unlink()
            case "replaced":
                other = tmp_path / "other"
                other.write_bytes(line_of(GOOD[0]))
                other.replace(path)
            case _:
                path.write_bytes(line_of(GOOD[0]))

    async with aclosing(follow(path, wait=wait)) as items:
        assert [await anext(items) for _ in range(4)] == [*GOOD[:3], CaughtUp(None)]
        with pytest.raises(JournalError, match=f"was {what} while it was followed"):
            await anext(items)


async def test_following_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]))
    arrived = asyncio.Event()

    async def watch() -> None:
        async for item in follow(path, poll_s=60):
            if isinstance(item, CaughtUp):
                arrived.set()

    task = asyncio.create_task(watch())
    async with asyncio.timeout(60):
        await arrived.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task


# ── who writes ──────────────────────────────────────────────────────────────────────────────────


def test_the_writer_is_known_as_long_as_it_holds_the_journal(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal:
        assert writer_of(journal.path) == os.getpid()
        assert running_session(tmp_path) == journal.path
    assert writer_of(journal.path) is None
    assert running_session(tmp_path) is None
    with Journal.open(journal.path):
        assert writer_of(journal.path) == os.getpid()


def test_a_younger_process_with_the_number_of_a_killed_writer_is_none(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal:
        lock = journal.path.with_suffix(".lock")
        os.utime(lock, (1_600_000_000, 1_600_000_000))
        assert writer_of(journal.path) is None


@pytest.mark.parametrize("content", ["", "not a number\n", "99999999999999999999\n", "4194305\n", "³\n"])
def test_a_lock_that_names_no_living_process_has_no_writer(tmp_path: Path, content: str) -> None:
    tmp_path.joinpath("s.lock").write_text(content, encoding="utf-8")
    assert writer_of(tmp_path / "s.jsonl") is None


HOLDER = """
import sys
from pathlib import Path
from harness.journal import Journal
from harness.events import Notice
journal = Journal.create(Path(sys.argv[1]), "s")
journal.append(Notice("info", "begun"))
print("ready", flush=True)
sys.stdin.readline()
journal.append(Notice("info", "last words"))
journal.close()
print("closed", flush=True)
sys.stdin.readline()
"""


async def holder(folder: Path, place: Place) -> asyncio.subprocess.Process:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", HOLDER, str(folder)),
        env=place.environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    return process


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Place(folder)


async def test_the_last_words_of_a_writer_come_before_its_leaving(tmp_path: Path, place: Place) -> None:
    process = await holder(tmp_path, place)
    assert process.stdin is not None
    assert process.stdout is not None
    told: list[FollowItem] = []
    async with asyncio.timeout(60), aclosing(follow(tmp_path / "s.jsonl", poll_s=0.01)) as items:
        async for item in items:
            told.append(item)
            if isinstance(item, CaughtUp):
                process.stdin.write(b"\n")
            if isinstance(item, WriterChanged):
                break
    assert [item.event for item in told if isinstance(item, Record)] == [
        Notice("info", "begun"),
        Notice("info", "last words"),
    ]
    assert [item for item in told if not isinstance(item, Record)] == [CaughtUp(process.pid), WriterChanged(None)]
    process.stdin.write(b"\n")
    await process.wait()


async def test_a_killed_writer_is_known_to_be_gone(tmp_path: Path, place: Place) -> None:
    process = await holder(tmp_path, place)
    path = tmp_path / "s.jsonl"
    assert writer_of(path) == process.pid
    process.send_signal(signal.SIGKILL)
    await process.wait()
    assert writer_of(path) is None


async def test_asking_for_the_writer_never_keeps_one_from_starting(tmp_path: Path) -> None:
    Journal.create(tmp_path, "s").close()
    path = tmp_path / "s.jsonl"
    going = True

    def ask() -> None:
        while going:
            writer_of(path)

    asking = asyncio.create_task(asyncio.to_thread(ask))
    for _ in range(50):
        Journal.open(path).close()
        await asyncio.sleep(0)
    going = False
    await asking


# ── a real session ──────────────────────────────────────────────────────────────────────────────

SLOW = """
[[reply]]
text = "I look."
tools = [{ name = "bash", input = { command = "sleep 0.3; echo done" } }]

[[reply]]
text = "It is done."
"""


@pytest.mark.stories
async def test_a_real_session_is_followed_from_beside_it(tmp_path: Path, place: Place) -> None:
    script = tmp_path / "slow.toml"
    script.write_text(SLOW)
    arguments = ("-p", "look", "--yolo", "--practice", str(script))
    assert (await run(place, *arguments)).code == 0
    (path,) = place.state.glob("sessions/*/*.jsonl")
    told: list[FollowItem] = []
    async with asyncio.timeout(60), aclosing(follow(path, poll_s=0.01)) as items:
        async for item in items:
            told.append(item)
            if isinstance(item, CaughtUp):
                process = await start(place, *arguments, "--continue")
                ended = asyncio.create_task(end_of(process))
            if item == WriterChanged(None):
                break
    assert (await ended).code == 0
    assert tuple(item for item in told if isinstance(item, Record)) == read(path).records
    expected = [CaughtUp(None), WriterChanged(process.pid), WriterChanged(None)]
    assert [item for item in told if not isinstance(item, Record)] == expected
