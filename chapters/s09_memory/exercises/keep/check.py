"""Checks: a disk in memory on which the program is killed at every step, and harness on a real disk."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType

from harness.memory.memory import MOST_FORGOTTEN, MemoryDraft, MemoryOwner, MemoryType
from harness.memory.store import MemoryStore

MORE = 20
"""Texts written beyond the number that harness keeps."""
OLDEST, OLDER, OLD, NEW = "spaces", "eight spaces", "tabs, but only in C", "tabs, also in Python"
BEFORE = {"forgotten/000004-tabs.md": OLDEST, "forgotten/000009-tabs.md": OLDER, "tabs.md": OLD, "tea.md": "green"}


class Killed(BaseException):
    """The program was killed."""


class Disk:
    """Files in memory. After `steps` steps the program is killed; a write is two steps, each other change is one."""

    def __init__(self, files: dict[str, str], steps: int = 1_000_000) -> None:
        self.files = dict(files)
        self._steps = steps

    def names(self) -> list[str]:
        return sorted(self.files)

    def read(self, name: str) -> str:
        return self.files[name]

    def write(self, name: str, text: str) -> None:
        self._step()
        self.files[name] = text[: len(text) // 2]
        self._step()
        self.files[name] = text

    def rename(self, old: str, new: str) -> None:
        self._step()
        self.files[new] = self.files.pop(old)

    def remove(self, name: str) -> None:
        self._step()
        del self.files[name]

    def _step(self) -> None:
        if self._steps == 0:
            raise Killed
        self._steps -= 1


def check_no_text_takes_nothing_away(work: ModuleType) -> None:
    for text in ("", " \n\t"):
        disk = Disk(BEFORE)
        try:
            work.keep(disk, "tabs", text, 2)
            said = "no ValueError"
        except ValueError:
            said = "ValueError"
        assert disk.files == BEFORE, f"keep(disk, 'tabs', {text!r}, 2) -> {_changes(disk)}"
        assert said == "ValueError", f"keep(disk, 'tabs', {text!r}, 2) -> {said}"


def check_the_old_text_is_kept(work: ModuleType) -> None:
    disk = Disk({})
    for text in (OLDER, OLD, NEW):
        work.keep(disk, "tabs", text, 5)
    work.keep(disk, "tea", "green", 5)
    wanted = {"forgotten/000001-tabs.md": OLDER, "forgotten/000002-tabs.md": OLD, "tabs.md": NEW, "tea.md": "green"}
    assert _memories(disk) == wanted, f"tabs written three times, tea once -> {disk.files}"


def check_a_kill_leaves_whole_files(work: ModuleType) -> None:
    for step, disk in _killed(work):
        for file, text in _memories(disk).items():
            assert text in (OLDEST, OLDER, OLD, NEW, "green"), f"killed after step {step}: {file} holds {text!r}"
        now = disk.files.get("tabs.md", "(missing)")
        assert now in (OLD, NEW), f"killed after step {step}: tabs.md {now}"


def check_a_kill_loses_nothing(work: ModuleType) -> None:
    for step, disk in _killed(work):
        there = list(_memories(disk).values())
        assert OLD in there, f"killed after step {step}: {OLD!r} is nowhere, {_changes(disk)}"
        assert OLDER in there, f"killed after step {step}: {OLDER!r} is nowhere, {_changes(disk)}"
        in_place = disk.files.get("tabs.md") == NEW
        assert in_place or OLDEST in there, f"killed after step {step}: too early: {_changes(disk)}"


def check_after_a_kill_it_can_be_done_again(work: ModuleType) -> None:
    for step, killed in _killed(work):
        disk = Disk(killed.files)
        work.keep(disk, "tabs", NEW, 3)
        assert disk.files.get("tabs.md") == NEW, f"killed after step {step}, and once more: {_changes(disk)}"
        kept = [disk.files[file] for file in work.forgotten(disk)]
        assert OLD in kept, f"killed after step {step}, and once more: {OLD!r} is not kept, {_changes(disk)}"
        assert len(kept) <= 3, f"killed after step {step}, and once more: {len(kept)} of 3 are kept, {_changes(disk)}"


def check_it_keeps_what_harness_keeps(work: ModuleType) -> None:
    folder = Path("memory").resolve()
    store = MemoryStore({MemoryOwner.PERSON: folder}, now=lambda: 0.0)
    disk, chance = Disk({}), Random(9)
    for number in range(MOST_FORGOTTEN + MORE):
        name, text = chance.choice(("tabs", "tea", "tests")), f"text {number}"
        work.keep(disk, name, text, MOST_FORGOTTEN)
        store.keep(MemoryDraft(name, "a note", MemoryType.USER, text), MemoryOwner.PERSON)
        got, wanted = _memories(disk), _on_the_disk(folder)
        differ = {
            file: (got.get(file), wanted.get(file)) for file in {*got, *wanted} if got.get(file) != wanted.get(file)
        }
        assert differ == {}, f"after {number + 1} texts (file: yours, harness): {differ}"


def _killed(work: ModuleType) -> Iterator[tuple[int, Disk]]:
    """The disk after each step of writing the new text, finally after the last one."""
    for step in range(1_000):
        disk = Disk(BEFORE, step)
        try:
            work.keep(disk, "tabs", NEW, 2)
        except Killed:
            yield step, disk
        else:
            yield step, disk
            return


def _memories(disk: Disk) -> dict[str, str]:
    """What a reader of memories would find."""
    return {file: text for file, text in disk.files.items() if file.endswith(".md")}


def _changes(disk: Disk) -> str:
    """The differences."""
    gone = [f"{file} is gone" for file in BEFORE if file not in disk.files]
    other = [f"{file}: {text!r}" for file, text in disk.files.items() if BEFORE.get(file) != text]
    return "; ".join((*gone, *other)) or "nothing has changed"


def _on_the_disk(folder: Path) -> dict[str, str]:
    files = (*folder.glob("*.md"), *folder.glob("forgotten/*.md"))
    return {file.relative_to(folder).as_posix(): _body(file.read_text("utf-8")) for file in files}


def _body(text: str) -> str:
    """The text after the head of a file."""
    return text.partition("\n---\n\n")[2].rstrip("\n")
