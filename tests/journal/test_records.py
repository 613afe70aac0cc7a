"""Reading never fails because of a file's content."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import JournalError
from harness.events import Notice, TurnStarted
from harness.journal import Journal, Record, SkippedLine, read
from harness.journal.records import CHUNK, line_of, lines_backwards
from tests.journal.samples import session

GOOD = [Record(number, 1_795_234_000.0 + number, event) for number, event in enumerate(session(), start=1)]


def line(**fields: object) -> bytes:
    return json.dumps({"seq": 1, "at": 5.0, "type": "notice", "level": "info", "text": "x"} | fields).encode() + b"\n"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"rubbish\n", "not JSON"),
        (b'{"seq": 1, "at"', "cut off in the middle"),
        (b"\x00\x00\x00\x00\n", "not JSON"),
        (b"\xff\xfe\xfa\n", "not JSON"),
        (b"[" * 100_000 + b"\n", "not JSON"),
        (b"9" * 5000 + b"\n", "not JSON"),
        (b"[1, 2]\n", "not a JSON object"),
        (b"null\n", "not a JSON object"),
        (b"{}\n", "unknown event type None, perhaps of a newer version"),
        (line(type="team_started"), "unknown event type 'team_started', perhaps of a newer version"),
        (line(type=["notice"]), "unknown event type ['notice'], perhaps of a newer version"),
        (line(level="loud"), "the fields do not fit the event 'notice'"),
        (line(type="turn_started"), "the fields do not fit the event 'turn_started'"),
    ],
)
def test_a_bad_line_is_skipped_with_its_number_and_the_reason(tmp_path: Path, bad: bytes, why: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line_of, GOOD[:3])) + bad)
    reading = read(path)
    assert reading.records == tuple(GOOD[:3])
    assert reading.skipped == (SkippedLine(4, why),)


@given(st.data())
def test_lines_of_garbage_between_good_ones_cost_nothing_but_themselves(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    garbage = st.binary(min_size=1, max_size=60).map(lambda junk: junk.replace(b"\n", b"?") + b"\xff\n")
    lines = [part for record in GOOD[:12] for part in (*data.draw(st.lists(garbage, max_size=2)), line_of(record))]
    path = tmp_path_factory.getbasetemp() / "garbage.jsonl"
    path.write_bytes(b"".join(lines))
    reading = read(path)
    assert reading.records == tuple(GOOD[:12])
    assert len(reading.skipped) == len(lines) - 12
    with Journal.open(path) as journal:
        record = journal.append(Notice("info", "on"))
    assert record is not None
    assert record.seq == 13


@given(st.binary(max_size=400))
def test_any_file_at_all_can_be_read_and_continued(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.jsonl"
    path.write_bytes(content)
    with Journal.open(path) as journal:
        record = journal.append(Notice("info", "on"))
    assert read(path).records[-1:] == (record,)
    assert path.read_bytes().startswith(content)


def test_blank_lines_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(line_of(record).rstrip(b"\n") for record in GOOD) + b"\r\n \n")
    reading = read(path)
    assert reading.records == tuple(GOOD)
    assert reading.skipped == ()


def test_a_whole_last_record_counts_even_without_its_newline(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"".join(map(line_of, GOOD[:3])).rstrip(b"\n"))
    assert read(path).records == tuple(GOOD[:3])


def test_a_line_that_appears_twice_counts_once_and_the_second_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]) + line_of(GOOD[1]) + line_of(GOOD[1]) + line_of(GOOD[2]))
    reading = read(path)
    assert reading.records == tuple(GOOD[:3])
    assert reading.skipped == (SkippedLine(3, "the same as line 2"),)


def test_two_different_events_under_one_number_are_both_kept(tmp_path: Path) -> None:
    other = Record(2, GOOD[1].at, Notice("info", "from somewhere else"))
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]) + line_of(GOOD[1]) + line_of(other))
    assert read(path).records == (GOOD[0], GOOD[1], other)


@pytest.mark.parametrize("seq", [None, 0, -4, True, "7", 2.5])
@pytest.mark.parametrize("at", [None, "now", True, -1, float("inf"), float("nan"), 10**400])
def test_a_number_or_time_that_makes_no_sense_follows_from_the_line_before(
    tmp_path: Path, seq: object, at: object
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]) + line(seq=seq, at=at, text="odd"))
    assert read(path).records == (GOOD[0], Record(2, GOOD[0].at, Notice("info", "odd")))


def test_events_of_a_newer_version_with_more_fields_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(type="turn_started", turn=1, prompt="hello", mood="good"))
    assert read(path).records[0].event == TurnStarted(1, "hello")


@pytest.mark.parametrize("retired", ["node_visited", "walk_ended", "watch_list_full"])
def test_events_that_only_an_older_version_wrote_are_ignored(tmp_path: Path, retired: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(line_of(GOOD[0]) + line(seq=2, type=retired) + line(seq=3))
    assert ([record.seq for record in read(path).records], read(path).skipped) == ([1, 3], ())


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"gone\.jsonl cannot be read: No such file"):
        read(tmp_path / "gone.jsonl")


@given(st.lists(st.integers(0, 3 * CHUNK), max_size=6), st.booleans())
def test_lines_backwards_are_the_lines_in_the_other_order(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], ended: bool
) -> None:
    content = b"\n".join(bytes([97 + number]) * length for number, length in enumerate(lengths)) + b"\n" * ended
    path = tmp_path_factory.getbasetemp() / "lines"
    path.write_bytes(content)
    with path.open("rb") as file:
        assert list(lines_backwards(file)) == content.split(b"\n")[::-1]
