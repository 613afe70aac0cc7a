"""The one writer: its lines, its lock, a full disk and a kill."""

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness import events
from harness.base.errors import JournalError
from harness.events import Event, Json, Notice, TextDelta, ToolStarted, decode, encode
from harness.journal import Journal, read
from tests.journal.samples import session
from tests.whole import stride


def written(folder: Path, events: tuple[Event, ...]) -> Path:
    ticks = count(1_795_234_000)
    with Journal.create(folder, "s", clock=lambda: float(next(ticks))) as journal:
        for event in events:
            journal.append(event)
    return journal.path


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    reading = read(written(tmp_path, session()))
    assert tuple(record.event for record in reading.records) == session()
    assert [record.seq for record in reading.records] == list(range(1, len(session()) + 1))
    assert reading.records[2].at == 1_795_234_002.0
    assert reading.skipped == ()


OF_ANY_CONTENT = {
    "MessageAdded",
    "McpToolsListed",
    "HistoryReplaced",
    "FaultOccurred",
    "ToolStarted",
    "DispatchLimitsSet",
    "TurnEnded",
}
"""Events that hypothesis cannot make from their types alone; the sample session has them, and policies their limits."""
KINDS = [cls for cls in Event.__subclasses__() if getattr(events, cls.__name__, None) is cls]


@settings(max_examples=400)
@given(st.sampled_from([cls for cls in KINDS if cls.__name__ not in OF_ANY_CONTENT]).flatmap(st.from_type))
def test_every_event_is_read_back_as_it_was_written(event: Event) -> None:
    assert repr(decode(json.loads(json.dumps(encode(event))))) == repr(event)


def test_every_line_is_plain_ascii_json_with_seq_at_and_type_in_front(tmp_path: Path) -> None:
    for line in written(tmp_path, session()).read_bytes().splitlines():
        assert line.isascii()
        assert list(json.loads(line))[:3] == ["seq", "at", "type"]


def test_no_event_has_a_field_that_would_hide_the_columns_of_the_line() -> None:
    for cls in Event.__subclasses__():
        assert not {"seq", "at", "type"} & set(cls.__dataclass_fields__)


def test_each_record_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal:
        for number in range(1, 4):
            record = journal.append(Notice("info", "x"))
            assert record is not None
            assert read(journal.path).records[-1] == record
            assert record.seq == number


def test_transient_events_are_not_kept(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal:
        assert journal.append(TextDelta("hel")) is None
        assert journal.append(Notice("info", "x")) == read(journal.path).records[0]
    assert len(read(journal.path).records) == 1


def test_a_tool_call_nested_beyond_all_reason_is_kept(tmp_path: Path) -> None:
    nested: Json = {}
    for _ in range(800):
        nested = {"a": nested}
    event = ToolStarted("c", "bash", "ls", nested)
    assert read(written(tmp_path, (event,))).records[0].event == event


def test_numbers_continue_where_the_journal_ended(tmp_path: Path) -> None:
    path = written(tmp_path, session())
    with Journal.open(path) as journal:
        record = journal.append(Notice("info", "back"))
    assert record is not None
    assert record.seq == len(session()) + 1


def test_only_the_owner_can_read_a_journal(tmp_path: Path) -> None:
    path = written(tmp_path / "new" / "folder", session()[:1])
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_a_second_opener_learns_which_process_has_the_session(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from harness.journal import Journal\n"
    program += "j = Journal.create(Path(sys.argv[1]), 's'); print(flush=True); sys.stdin.read()"
    arguments = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(JournalError, match=rf"session s is open in process {other.pid}; .* --fork-session"):
            Journal.open(tmp_path / "s.jsonl")
        other.kill()
    with Journal.open(tmp_path / "s.jsonl") as journal:
        assert journal.append(Notice("info", "free again"))


def test_a_journal_is_open_once_within_a_process_too(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal, pytest.raises(JournalError, match="is open in process"):
        Journal.open(journal.path)


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "s")
    journal.close()
    journal.close()
    Journal.open(journal.path).close()


def test_a_session_that_exists_is_not_created_again(tmp_path: Path) -> None:
    Journal.create(tmp_path, "s").close()
    with pytest.raises(JournalError, match=r"session s already exists .* resume it"):
        Journal.create(tmp_path, "s")


def test_a_folder_that_cannot_be_made_is_named_with_the_setting_that_changes_it(tmp_path: Path) -> None:
    tmp_path.joinpath("blocked").write_text("")
    with pytest.raises(JournalError, match=r"blocked/s\.jsonl cannot be created: .* HARNESS_STATE_DIR"):
        Journal.create(tmp_path / "blocked", "s")


def test_a_journal_that_is_not_there_is_not_opened_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="cannot be opened: No such file"):
        Journal.open(tmp_path / "gone.jsonl")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.grid(1)
@pytest.mark.parametrize("share", range(2))
def test_a_journal_cut_at_every_byte_opens_appends_and_reads_back_all_whole_records(tmp_path: Path, share: int) -> None:
    whole = written(tmp_path, session()).read_bytes()
    records = read(tmp_path / "s.jsonl").records
    ends = [position for position, byte in enumerate(whole, start=1) if byte == ord("\n")]
    near_the_ends = {end + step for end in ends for step in (-2, -1, 0, 1)}
    for cut in range(share, len(whole) + 1, 2):
        if cut % (2 * stride(4)) not in (0, 1) and cut not in near_the_ends:
            continue
        path = tmp_path / f"{cut}.jsonl"
        path.write_bytes(whole[:cut])
        survivors = [record for record, end in zip(records, ends, strict=True) if end - 1 <= cut]
        with Journal.open(path) as journal:
            added = journal.append(Notice("info", "after the cut"))
        reading = read(path)
        assert reading.records == (*survivors, added)
        assert added is not None
        assert added.seq == len(survivors) + 1
        torn = cut not in ends and cut + 1 not in ends and cut > 0
        assert [bad.number for bad in reading.skipped] == ([len(survivors) + 1] if torn else [])
        assert path.read_bytes().startswith(whole[:cut])
        path.unlink()


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file grows beyond `size` bytes: a full disk, for this process."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_reported_once_and_nothing_is_missing_when_there_is_room_again(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "s")
    journal.append(Notice("info", "before"))
    size = journal.path.stat().st_size
    with room_for(size + 50):
        with pytest.raises(JournalError, match=r"s\.jsonl cannot be written: .*free some space"):
            journal.append(Notice("info", "x" * 200))
        behind = [journal.behind]
        assert journal.append(Notice("info", "still full, not reported again"))
        behind.append(journal.behind)
        assert journal.path.stat().st_size == size + 50
    assert journal.append(Notice("info", "room again"))
    assert [*behind, journal.behind] == [True, True, False]
    journal.close()
    found = read(journal.path)
    texts = ["before", "x" * 200, "still full, not reported again", "room again"]
    assert [record.event for record in found.records] == [Notice("info", text) for text in texts]
    assert [record.seq for record in found.records] == [1, 2, 3, 4]
    assert found.skipped == ()


def append_failing(journal: Journal, words: str) -> None:
    with pytest.raises(JournalError):
        journal.append(Notice("info", words))


def test_what_waits_is_written_when_the_journal_is_closed(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "s")
    with room_for(20):
        append_failing(journal, "late")
    journal.close()
    assert read(journal.path).records[0].event == Notice("info", "late")


def test_closing_on_a_full_disk_says_that_records_are_lost_and_still_frees_the_session(tmp_path: Path) -> None:
    journal = Journal.create(tmp_path, "s")
    with room_for(20):
        append_failing(journal, "lost")
        with pytest.raises(JournalError, match="lost"):
            journal.close()
    with Journal.open(journal.path) as journal:
        journal.append(Notice("info", "found"))
    reading = read(journal.path)
    assert [record.event for record in reading.records] == [Notice("info", "found")]
    assert len(reading.skipped) == 1
