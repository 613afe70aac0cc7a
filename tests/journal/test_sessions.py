"""Listing, finding, naming and forking, from the files alone, and the search through conversations."""

import json
import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import JournalError, UnknownSession
from harness.events import (
    Event,
    Message,
    MessageAdded,
    Notice,
    Origin,
    SessionStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.journal import (
    Journal,
    close_to_others,
    find,
    fork,
    name_of_session,
    new_session_id,
    outputs_folder,
    read,
    rename,
    replay,
    search,
    session_folder,
    sessions,
    workspace_slug,
)
from harness.journal.sessions import LONGEST_HIT, LONGEST_NAME, first_hit
from tests.journal.samples import session, session_started

ENDED = TurnEnded(1, TransitionCode.COMPLETED, "done", "hi", Usage(), 0.0, 1, 1, 1.0)


def write(folder: Path, session_id: str, *events: Event, at: float = 1000.0) -> Path:
    with Journal.create(folder, session_id, clock=lambda: at) as journal:
        for event in events:
            journal.append(event)
    return journal.path


def test_sessions_are_listed_with_the_one_used_last_first(tmp_path: Path) -> None:
    write(tmp_path, "a", session_started("a"), TurnStarted(1, "first\nof all"), ENDED, at=2000.0)
    write(tmp_path, "b", session_started("b"), TurnStarted(1, "later"), at=3000.0)
    write(tmp_path, "c", session_started("c"), at=1000.0)
    assert [(one.id, one.title, one.interrupted, one.updated_at) for one in sessions(tmp_path)] == [
        ("b", "later", True, 3000.0),
        ("a", "first of all", False, 2000.0),
        ("c", "", False, 1000.0),
    ]
    assert sessions(tmp_path)[0].workspace == "/home/ko/project"
    assert sessions(tmp_path)[0].model == "claude-sonnet-5-5"


def test_a_turn_that_a_process_is_running_is_not_interrupted(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "s") as journal:
        journal.append(session_started("s"))
        journal.append(TurnStarted(1, "at work"))
        assert not sessions(tmp_path)[0].interrupted
    assert sessions(tmp_path)[0].interrupted


def test_a_summary_agrees_with_the_whole_replay(tmp_path: Path) -> None:
    path = write(tmp_path, "20261121-0345-7f3a9c", *session())
    (summary,) = sessions(tmp_path)
    records = read(path).records
    state = replay(records)
    assert (summary.id, summary.title, summary.interrupted) == (state.session_id, state.title, state.interrupted)
    assert (summary.started_at, summary.updated_at) == (records[0].at, records[-1].at)
    assert summary.size == path.stat().st_size


def test_a_prompt_of_megabytes_and_a_long_tail_are_no_obstacle(tmp_path: Path) -> None:
    notices = [Notice("info", "x" * 500)] * 40
    write(tmp_path, "s", session_started("s"), TurnStarted(1, "y " * 1_000_000), *notices, at=7.0)
    (summary,) = sessions(tmp_path)
    assert summary.title == "y " * 39 + "y…"
    assert summary.updated_at == 7.0
    assert summary.interrupted


def test_damaged_journals_are_listed_all_the_same(tmp_path: Path) -> None:
    tmp_path.joinpath("empty.jsonl").write_bytes(b"")
    tmp_path.joinpath("rubbish.jsonl").write_bytes(b"\xff\xff\n\x00\x00")
    torn = write(tmp_path, "torn", session_started("torn"), TurnStarted(1, "hello"), ENDED)
    torn.write_bytes(b"\x00\n" + torn.read_bytes() + b'{"seq": 4, "at')
    for path in tmp_path.glob("*.jsonl"):
        os.utime(path, (500.0, 500.0))
    listed = {one.id: (one.title, one.updated_at, one.interrupted) for one in sessions(tmp_path)}
    assert listed == {
        "empty": ("", 500.0, False),
        "rubbish": ("", 500.0, False),
        "torn": ("hello", 1000.0, False),
    }


def test_a_journal_that_cannot_be_opened_is_listed_with_the_reason(tmp_path: Path) -> None:
    tmp_path.joinpath("folder.jsonl").mkdir()
    tmp_path.joinpath("loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    assert {one.title for one in sessions(tmp_path)} == {
        "(cannot be read: Is a directory)",
        "(cannot be read: Too many levels of symbolic links)",
    }


def test_a_folder_that_is_not_there_holds_no_sessions(tmp_path: Path) -> None:
    assert sessions(tmp_path / "none") == ()


def test_a_thousand_sessions_are_listed_at_once(tmp_path: Path) -> None:
    model = write(tmp_path, "0000", *session()).read_bytes()
    for number in range(1, 1000):
        tmp_path.joinpath(f"{number:04}.jsonl").write_bytes(model)
    began = time.process_time()
    assert len(sessions(tmp_path)) == 1000
    assert time.process_time() - began < 2.0


def test_a_session_is_found_by_its_id_and_by_the_beginning_of_it(tmp_path: Path) -> None:
    for session_id in ("20261121-0345-7f3a9c", "20261122-1000-aaaaaa", "20261122-1000-aaaaaa-x"):
        write(tmp_path, session_id, session_started(session_id))
    assert find(tmp_path, "20261121").stem == "20261121-0345-7f3a9c"
    assert find(tmp_path, "20261122-1000-aaaaaa").stem == "20261122-1000-aaaaaa"


def test_the_latest_session_is_the_one_in_which_something_was_said_last(tmp_path: Path) -> None:
    write(tmp_path, "silent", session_started("silent"), at=9000.0)
    assert find(tmp_path, "latest").stem == "silent"
    write(tmp_path, "old", session_started("old"), TurnStarted(1, "x"), at=1000.0)
    write(tmp_path, "new", session_started("new"), TurnStarted(1, "x"), at=2000.0)
    assert find(tmp_path, "latest").stem == "new"


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("2026112", "2 sessions of this folder begin with '2026112': 20261121-0345-7f3a9c, 20261122-1000-aaaaaa; give"),
        ("20261121-0345-7f3a9d", "No session .* '20261121-0345-7f3a9d'; the nearest: 20261121-0345-7f3a9c"),
        ("zzz", "No session of this folder has the id or name 'zzz'; `harness sessions` lists"),
        ("", "No session of this folder has the id or name ''"),
        ("../secret", "No session"),
    ],
)
def test_an_id_without_a_single_session_is_explained(tmp_path: Path, wanted: str, sentence: str) -> None:
    for session_id in ("20261121-0345-7f3a9c", "20261122-1000-aaaaaa"):
        write(tmp_path, session_id, session_started(session_id))
    with pytest.raises(UnknownSession, match=sentence) as caught:
        find(tmp_path, wanted)
    assert caught.value.exit_code == 2


def test_without_any_session_there_is_no_latest(tmp_path: Path) -> None:
    with pytest.raises(UnknownSession, match="There is no session for this folder yet"):
        find(tmp_path, "latest")


def test_a_fork_holds_the_same_conversation_under_its_own_id_while_the_original_is_in_use(tmp_path: Path) -> None:
    with Journal.create(tmp_path, "20261121-0345-7f3a9c") as journal:
        for event in session():
            journal.append(event)
        path = fork(journal.path, tmp_path / "elsewhere", "copy")
    original, copy = read(journal.path), read(path)
    assert copy.records[1:] == original.records[1:]
    assert copy.skipped == ()
    state = replay(copy.records)
    assert (state.session_id, state.forked_from) == ("copy", "20261121-0345-7f3a9c")
    assert state.messages == replay(original.records).messages
    assert path.stat().st_mode & 0o077 == 0
    assert [one.name for one in path.parent.iterdir()] == ["copy.jsonl"]
    with Journal.open(path) as continued:
        assert continued.append(Notice("info", "on"))


def test_a_fork_keeps_lines_of_newer_versions_and_leaves_out_a_torn_end(tmp_path: Path) -> None:
    path = write(tmp_path, "s", session_started("s"), TurnStarted(1, "x"))
    newer = json.dumps({"seq": 3, "at": 1, "type": "team_started", "members": 3}).encode()
    path.write_bytes(path.read_bytes() + b"rubbish\n" + newer + b"\n" + b'{"seq": 4, "a')
    copy = fork(path, tmp_path, "copy").read_bytes().splitlines(keepends=True)
    assert copy[1:] == [*path.read_bytes().splitlines(keepends=True)[1:2], b"rubbish\n", newer + b"\n"]


def test_a_fork_of_a_fork_names_its_parent(tmp_path: Path) -> None:
    first = fork(write(tmp_path, "s", session_started("s")), tmp_path, "one")
    started = read(fork(first, tmp_path, "two")).records[0].event
    assert isinstance(started, SessionStarted)
    assert (started.session_id, started.forked_from) == ("two", "one")


def test_a_fork_never_overwrites_and_says_what_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "s", session_started("s"))
    with pytest.raises(JournalError, match="The session s already exists"):
        fork(path, tmp_path, "s")
    with pytest.raises(JournalError, match=r"gone cannot be forked into .*: No such file"):
        fork(tmp_path / "gone.jsonl", tmp_path, "copy")
    assert not list(tmp_path.glob("copy*"))


def test_new_ids_are_short_sort_by_time_and_differ() -> None:
    ids = {new_session_id() for _ in range(400)}
    assert len(ids) == 400
    assert all(re.fullmatch(r"\d{8}-\d{4}-[0-9a-f]{6}", one) for one in ids)


def test_each_workspace_has_its_own_readable_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "my project", tmp_path / "b" / "my project"
    assert workspace_slug(one).startswith("my-project-")
    assert workspace_slug(one) != workspace_slug(two)
    assert workspace_slug(one / ".." / "my project") == workspace_slug(one)
    assert re.fullmatch(r"root-[0-9a-f]{8}", workspace_slug(Path("/")))
    assert len(workspace_slug(tmp_path / ("設" * 80)).encode()) < 255
    assert session_folder(one, tmp_path) == tmp_path / "sessions" / workspace_slug(one)
    assert session_folder(one).parts[-2] == "sessions"


def test_outputs_lie_beside_the_journal(tmp_path: Path) -> None:
    assert outputs_folder(tmp_path / "s.jsonl") == tmp_path / "s.outputs"


def said(prompt: str, answer: str) -> tuple[Event, ...]:
    content = [{"type": "text", "text": answer}]
    return (TurnStarted(1, prompt), MessageAdded(Message("assistant", tuple(content)), Origin.REPLY))


def test_a_session_is_found_by_its_name_and_by_the_beginning_of_it(tmp_path: Path) -> None:
    first, second, third = (write(tmp_path, id, *said(id, "")) for id in ("20261101-a", "20261102-b", "20261103-c"))
    assert rename(first, "  Mend\n the  Shop ") == "Mend the Shop"
    rename(second, "mend")
    rename(third, "20261101")
    assert [name_of_session(path) for path in (first, second)] == ["Mend the Shop", "mend"]
    assert {summary.id: summary.name for summary in sessions(tmp_path)}["20261102-b"] == "mend"
    assert find(tmp_path, "MEND") == second  # a whole name before the beginning of one
    assert find(tmp_path, "mend t") == first
    assert find(tmp_path, "20261101") == third
    assert find(tmp_path, "20261101-a") == first
    with pytest.raises(UnknownSession, match=r"2 sessions .* begin with 'me'"):
        find(tmp_path, "me")
    with pytest.raises(UnknownSession, match="the nearest: Mend the Shop"):
        find(tmp_path, "Mend the Ship")


def test_a_name_is_one_line_of_some_length_and_lost_with_nothing_else(tmp_path: Path) -> None:
    path = write(tmp_path, "a", *said("hi", ""))
    assert len(rename(path, "x" * 500)) == LONGEST_NAME
    with pytest.raises(JournalError, match="at least one character"):
        rename(path, " \n ")
    path.with_suffix(".name").write_bytes(b"\xff\xfe\x00 broken\nname")
    assert [summary.id for summary in sessions(tmp_path)] == ["a"]
    path.with_suffix(".name").unlink()
    path.with_suffix(".name").mkdir()
    assert name_of_session(path) == ""
    with pytest.raises(JournalError, match="cannot be named"):
        rename(path, "x")


TEXTS = st.text(st.sampled_from('abAB äÄ天\n"\\'), min_size=1, max_size=12)


@given(TEXTS, TEXTS, TEXTS)
def test_what_was_said_is_found_whatever_its_case(
    tmp_path_factory: pytest.TempPathFactory, prompt: str, answer: str, wanted: str
) -> None:
    path = write(tmp_path_factory.mktemp("s"), "a", *said(prompt, answer))
    hit = first_hit(path, wanted)
    assert (hit is not None) == any(wanted.casefold() in text.casefold() for text in (prompt, answer))
    assert hit is None or len(hit) <= LONGEST_HIT + 2


def test_the_search_names_the_line_and_finds_names_prompts_and_answers(tmp_path: Path) -> None:
    write(tmp_path, "a", *said("Where is the settings file?", f"Look:\n{'x' * 300} in src/Settings.py {'y' * 300}"))
    named = write(tmp_path, "b", *said("hi", "ho"))
    rename(named, "the settings talk")
    write(tmp_path, "c", *said("nothing", "here"))
    found = {summary.id: hit for summary, hit in search(sessions(tmp_path), "SETTINGS")}
    assert found == {"a": "Where is the settings file?", "b": "the settings talk"}
    [(_, hit)] = search(sessions(tmp_path), "src/settings")
    assert hit.startswith("…xxx")
    assert " in src/Settings.py yyy" in hit
    assert list(search(sessions(tmp_path), "turn_started")) == []
    assert first_hit(tmp_path / "missing.jsonl", "x") is None


def test_the_state_folder_is_closed_to_others_and_a_shared_one_is_left(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        new, old, shared = (tmp_path / name for name in ("new", "old", "shared"))
        close_to_others(new, tmp_path / "workspace")
        for folder in (old, shared):
            (folder / "sessions" / "a").mkdir(parents=True)
        close_to_others(old, tmp_path / "workspace")
        close_to_others(shared, shared / "workspace")
    finally:
        os.umask(before)
    modes = {path.relative_to(tmp_path).as_posix(): path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
    assert modes.pop("shared") == 0o777
    assert set(modes.values()) == {0o700}
