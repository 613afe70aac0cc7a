"""Memories on a real disk: kept, written over, forgotten, brought back, and damaged by hand."""

import os
from pathlib import Path

import pytest

from harness.base.secrets import Secret
from harness.memory import MemoryOwner, MemoryType, StoreError
from harness.memory.memory import MOST_BYTES, MOST_FORGOTTEN, MOST_MEMORIES
from harness.memory.store import FORGOTTEN
from tests.agent.stage import KEY
from tests.memory.shelves import NOON, Minutes, draft, folders, names, reported, store


def test_what_is_kept_is_read_again_with_where_it_comes_from(tmp_path: Path) -> None:
    one = store(tmp_path)
    kept = one.keep(draft("Indentation", "Tabs,\r\nalso in Python.\n\n---\nAlways."), MemoryOwner.PERSON)
    [read] = store(tmp_path).find().memories
    assert read == kept
    assert read.name == "indentation"
    assert read.text == "Tabs,\nalso in Python.\n\n---\nAlways."
    assert (read.type, read.place, read.session) == (MemoryType.USER, MemoryOwner.PERSON, "20261121-1159-abc123")
    assert read.created == read.updated == NOON + 60
    assert read.file == folders(tmp_path)[MemoryOwner.PERSON] / "indentation.md"
    assert read.size == read.file.stat().st_size
    assert read.file.read_text().startswith('---\nname: "indentation"\ndescription: "What they want."\ntype: "user"\n')


def test_writing_over_keeps_the_day_it_began_and_what_it_was(tmp_path: Path) -> None:
    """Nothing is removed before the new text is written."""
    one = store(tmp_path)
    first = one.keep(draft("a", "One."), MemoryOwner.PERSON)
    second = one.keep(draft("A!", "Two."), MemoryOwner.PERSON)
    assert (second.created, second.updated > first.updated) == (first.created, True)
    assert [memory.text for memory in one.find().memories] == ["Two."]
    assert one.undo("a") is MemoryOwner.PERSON
    assert [memory.text for memory in one.find().memories] == ["One."]
    one.undo("a")
    assert [memory.text for memory in one.find().memories] == ["Two."]


def test_what_is_forgotten_can_be_brought_back(tmp_path: Path) -> None:
    one = store(tmp_path)
    one.keep(draft("a"), MemoryOwner.PROJECT)
    one.keep(draft("b"), MemoryOwner.PROJECT)
    assert one.forget("a") is MemoryOwner.PROJECT
    assert (names(one), one.forgotten()) == (["b"], ("a",))
    one.undo("a")
    assert (names(one), one.forgotten()) == (["a", "b"], ())
    with pytest.raises(StoreError, match="Nothing is kept"):
        one.undo("a")
    with pytest.raises(StoreError, match="did you mean"):
        one.forget("aa")


def test_the_last_fifty_of_what_was_taken_away_are_kept(tmp_path: Path) -> None:
    one = store(tmp_path)
    for number in range(MOST_FORGOTTEN + 3):
        one.keep(draft("a", f"{number}"), MemoryOwner.PERSON)
    kept = sorted((folders(tmp_path)[MemoryOwner.PERSON] / FORGOTTEN).iterdir())
    assert len(kept) == MOST_FORGOTTEN
    assert [file.read_text().splitlines()[-1] for file in (kept[0], kept[-1])] == ["2", str(MOST_FORGOTTEN + 1)]


def test_a_place_takes_two_hundred_and_says_so(tmp_path: Path) -> None:
    one = store(tmp_path)
    folder = folders(tmp_path)[MemoryOwner.PERSON]
    folder.mkdir(parents=True)
    for number in range(MOST_MEMORIES):
        (folder / f"m{number:03}.md").write_text(f"---\nname: m{number:03}\ndescription: d\ntype: user\n---\nText.\n")
    with pytest.raises(StoreError, match="200 memories of the person already"):
        one.keep(draft("one more"), MemoryOwner.PERSON)
    one.keep(draft("m000", "New."), MemoryOwner.PERSON)
    one.forget("m001")
    one.keep(draft("one more"), MemoryOwner.PERSON)
    with pytest.raises(StoreError, match="200 memories"):
        one.undo("m001")
    (folder / "zz.md").write_text("---\nname: zz\ndescription: d\ntype: user\n---\nText.\n")
    assert len(names(one)) == MOST_MEMORIES
    assert "holds 201 memories; only the first 200 are read" in reported(one)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("..", "x", "needs a letter"),
        ("undo", "x", "reserved"),
        ("NUL", "x", "reserved"),
        ("long", "x" * MOST_BYTES, "the limit is 4,096"),
        ("empty", " \n", "needs a description and a text"),
        ("key", f"The key is {KEY}.", "a key of an API"),
        ("mine", "It was plain-looking-words.", "the key of this session"),
    ],
)
def test_what_cannot_be_kept_is_refused_with_a_reason_and_nothing_is_written(
    tmp_path: Path, name: str, text: str, reason: str
) -> None:
    one = store(tmp_path, Secret("plain-looking-words"))
    with pytest.raises(StoreError, match=reason):
        one.keep(draft(name, text), MemoryOwner.PERSON)
    assert list(tmp_path.iterdir()) == []


def test_of_two_with_one_name_the_place_has_to_be_said(tmp_path: Path) -> None:
    one = store(tmp_path)
    for place in MemoryOwner:
        one.keep(draft("a", place.value), place)
    assert [memory.text for memory in one.find().named("A")] == ["person", "project"]
    for act in (one.forget, one.undo, one.file_to_edit):
        with pytest.raises(StoreError, match=r"There are two memories a|Nothing is kept"):
            act("a")
    assert one.forget("a", MemoryOwner.PROJECT) is MemoryOwner.PROJECT
    assert [memory.place for memory in one.find().memories] == [MemoryOwner.PERSON]


def test_an_unreadable_file_harms_no_other_and_is_reported(tmp_path: Path) -> None:
    one = store(tmp_path)
    one.keep(draft("good"), MemoryOwner.PERSON)
    folder = folders(tmp_path)[MemoryOwner.PERSON]
    (folder / "binary.md").write_bytes(b"\0\xff")
    (folder / "latin.md").write_bytes(b"caf\xe9")
    (folder / "long.md").write_text("x" * (MOST_BYTES + 1))
    (folder / "silent.md").write_text("---\nname: silent\n---\n")
    (folder / "Two Words.md").write_text("Text.")
    (folder / "folder.md").mkdir()
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to("/etc/passwd")
    (folder / "token.md").write_text("token: ghp_" + "a1" * 15)
    (folder / ".hidden.md").write_text("Text.")
    (folder / "notes.txt").write_text("Text.")
    assert names(one) == ["good"]
    assert reported(one).count("is left out") == 9
    for part in ("UTF-8", "4,096", "says nothing", "rename it to two-words.md", "regular file", "a token of GitHub"):
        assert part in reported(one)


def test_missing_fields_of_a_file_get_defaults_and_are_reported(tmp_path: Path) -> None:
    """Handwritten front matter causes no error and loses no text."""
    one = store(tmp_path)
    folder = folders(tmp_path)[MemoryOwner.PROJECT]
    folder.mkdir(parents=True)
    (folder / "plain.md").write_text("\ufeff# How we test\n\nWith care.\n")
    (folder / "half.md").write_text("---\nname: other\ntype: nonsense\ncreated: never\ndescription: On: x\n---\nT\n")
    (folder / "list.md").write_text("---\nname: [list]\ndescription: a --- b\ntype: feedback\n---\nT\n")
    found = {memory.name: memory for memory in one.find().memories}
    assert {name: memory.description for name, memory in found.items()} == {
        "half": "On: x",
        "list": "a --- b",
        "plain": "How we test",
    }
    assert [found[name].type for name in sorted(found)] == ["project", "feedback", "project"]
    assert "list.md: line 2: name has to be a text" in reported(one)
    assert "half.md: created is no time" in reported(one)


def test_what_is_damaged_can_be_written_over_forgotten_and_brought_back(tmp_path: Path) -> None:
    one = store(tmp_path)
    folder = folders(tmp_path)[MemoryOwner.PERSON]
    folder.mkdir(parents=True)
    (folder / "a.md").write_bytes(b"\0")
    (folder / "b.md").symlink_to("/etc/passwd")
    (folder / "c.md").mkdir()
    for name in ("a", "b"):
        one.keep(draft(name), MemoryOwner.PERSON)
    assert names(one) == ["a", "b"]
    one.undo("a")
    assert (folder / "a.md").read_bytes() == b"\0"
    one.undo("b")
    assert (folder / "b.md").is_symlink()
    one.forget("b")
    assert Path("/etc/passwd").exists()
    for act in (lambda: one.keep(draft("c"), MemoryOwner.PERSON), lambda: one.forget("c")):
        with pytest.raises(StoreError, match="is a folder"):
            act()


def test_a_place_that_cannot_be_used_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "person").write_text("a file")
    one = store(tmp_path)
    assert one.find().memories == ()
    with pytest.raises(StoreError, match="cannot be written"):
        one.keep(draft("a"), MemoryOwner.PERSON)


def test_a_clock_that_goes_back_leaves_no_memory_that_ends_before_it_begins(tmp_path: Path) -> None:
    store(tmp_path).keep(draft("a"), MemoryOwner.PERSON)
    clock = Minutes()
    clock.at = 0.0
    late = store(tmp_path)
    late._now = clock
    memory = late.keep(draft("a"), MemoryOwner.PERSON)
    assert memory.created == memory.updated == 60.0
    assert late.find().memories == (memory,)
