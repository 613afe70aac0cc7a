"""Names of sessions, and the search through what was said."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import JournalError, UnknownSession
from harness.events import Event, Message, MessageAdded, Origin, TurnStarted
from harness.journal import find, name_of_session, rename, search, sessions
from harness.journal.sessions import LONGEST_HIT, LONGEST_NAME, first_hit
from tests.journal.test_sessions import write


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
