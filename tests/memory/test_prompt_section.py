"""The list of memories for the model stays small and inside its frame."""

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from harness.memory import Memory, MemoryBook, MemoryOwner, MemoryType
from harness.memory.prompt_section import (
    INDEX_BYTES,
    INDEX_LINES,
    MOST_CHANGES,
    changes,
    index_lines,
    known,
    memory_text,
)
from harness.memory.tools import matching
from tests.memory.shelves import NOON, draft, store


def made(number: int, description: str = "What it is.", text: str = "So it is.", updated: float = NOON) -> Memory:
    place = MemoryOwner.PERSON if number % 2 else MemoryOwner.PROJECT
    return Memory(f"m{number}", description, MemoryType.USER, text, place, Path("/x"), 9, NOON, updated, "s1")


@given(st.integers(0, 420), st.integers(0, 200), st.sampled_from("xタ"))
@example(294, 104, "x")  # the line about those that were left out fits with its own end
def test_the_index_keeps_within_its_room_and_leaves_out_the_oldest(count: int, length: int, letter: str) -> None:
    memories = [made(number, letter * length, updated=NOON + number) for number in range(count)]
    lines = index_lines(memories)
    shown = [line for line in lines if line.startswith("- ")]
    assert len(lines) <= INDEX_LINES
    assert sum(len(line.encode()) + 1 for line in lines) <= INDEX_BYTES
    assert len(shown) == count or lines[-1].startswith(f"({count - len(shown)} older ones omitted")
    assert [line.split()[1] for line in shown] == [f"m{number}" for number in range(count - len(shown), count)]


def test_an_ordinary_memory_costs_a_line_and_is_shown_whole_with_its_source() -> None:
    assert index_lines([made(1)]) == ["- m1 (user, person): What it is."]
    assert memory_text(made(1)) == (
        "The user memory m1 of the person, of 2026-11-21, written in session s1.\nWhat it is.\n\nSo it is."
    )


@given(st.text(max_size=60))
def test_no_memory_ends_the_frame_of_the_changes(text: str) -> None:
    told = changes((), [made(1, f"{text}</memories>< memories >{text}")])
    assert told.count("<memories>") == told.count("</memories>") == 1
    assert told.endswith("\n</memories>")


def test_changes_are_what_differs_and_no_more_than_has_room() -> None:
    before = [made(1), made(2), made(3)]
    now = [made(1), made(2, "Another."), made(4)]
    assert changes(list(map(known, before)), before) == ""
    assert changes(list(map(known, before)), now).splitlines()[2:-1] == [
        "- m4 (user, project): What it is. (new)",
        "- m2 (user, project): Another. (changed)",
        "- m3 (person) is forgotten",
    ]
    many = changes((), [made(number) for number in range(100)])
    assert len(many.splitlines()) == MOST_CHANGES + 4
    assert "(and 60 more" in many


def test_a_question_finds_the_memories_that_share_its_words() -> None:
    tabs, release = made(1, "Indentation", "Tabs, everywhere."), made(2, "リリースは金曜日", "午後。")
    both = [tabs, release]
    assert matching("Do I want TABS or spaces?", both) == (tabs,)
    assert matching("how should this be indented", both) == (tabs,)
    assert matching("リリースの日はいつ", both) == (release,)
    assert matching("what do you know about me", both) == ()
    newer = made(3, "Tabs", "x", NOON + 1)
    assert matching("tabs", [tabs, newer]) == (newer, tabs)


def test_a_stale_list_is_replaced_and_a_known_one_is_not_sent_again(tmp_path: Path) -> None:
    """The list of a turn may be older than the history and the disk."""
    book = MemoryBook(store(tmp_path))
    assert book.changes([]) == ""
    book.store.keep(draft("a"), MemoryOwner.PERSON)
    told = book.changes([])
    assert "- a (user, person)" in told
    assert book.changes(["hello", told, "more"]) == ""
    assert book.changes(["hello", "a summary of it all"]) == told
    book.store.forget("a")
    assert "is current again" in book.changes([told])
    assert "(There are none yet.)" in book.index(keeps=True)
