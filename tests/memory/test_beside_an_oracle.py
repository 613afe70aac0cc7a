"""The store beside a dictionary: whatever is kept, forgotten, undone, edited or damaged, both hold the same."""

import tempfile
from collections import defaultdict
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from harness.memory import MemoryOwner, StoreError
from harness.memory.memory import MOST_FORGOTTEN
from tests.memory.shelves import draft, folders, store

NAMES = st.sampled_from(["a", "b", "Two Words", "two-words", "説明"])
PLACES = st.sampled_from(list(MemoryOwner))
TEXTS = st.sampled_from(
    ["One.", "Two.\n---\nThree: x", "タブ", "- list\n\n```\ncode\n```", "é\u2028ü\x85x", "\x1b[31m"]
)
DAMAGE = st.sampled_from([b"", b"\0", b"\xff\xfe", b"---\nname: [", b"x" * 5_000])

PLAIN = {"a": "a", "b": "b", "Two Words": "two-words", "two-words": "two-words", "説明": "説明"}

Key = tuple[MemoryOwner, str]


class Shelf(RuleBasedStateMachine):
    """The content of each file by place and name, and its earlier versions, newest last."""

    @initialize()
    def begin(self) -> None:
        """An empty folder."""
        self.folder = tempfile.TemporaryDirectory()
        self.store = store(Path(self.folder.name))
        self.files: dict[Key, str | bytes] = {}
        self.before: dict[Key, list[str | bytes]] = defaultdict(list)

    def teardown(self) -> None:
        """Nothing is left behind."""
        if hasattr(self, "folder"):
            self.folder.cleanup()

    def taken_away(self, key: Key) -> None:
        """Move the current content to the earlier versions."""
        if key in self.files:
            self.before[key].append(self.files.pop(key))

    @rule(name=NAMES, place=PLACES, text=TEXTS)
    def keep(self, name: str, place: MemoryOwner, text: str) -> None:
        """Remember, or write over."""
        self.store.keep(draft(name, text), place)
        key = place, PLAIN[name]
        self.taken_away(key)
        self.files[key] = "\n".join(text.splitlines()).strip()

    @rule(name=NAMES, place=PLACES)
    def forget(self, name: str, place: MemoryOwner) -> None:
        """Forget, if it is there."""
        key = place, PLAIN[name]
        try:
            self.store.forget(name, place)
        except StoreError:
            assert key not in self.files
        else:
            self.taken_away(key)

    @rule(name=NAMES, place=PLACES)
    def undo(self, name: str, place: MemoryOwner) -> None:
        """Bring back, if something was there."""
        key = place, PLAIN[name]
        try:
            self.store.undo(name, place)
        except StoreError:
            assert not self.before[key]
        else:
            back = self.before[key].pop()
            self.taken_away(key)
            self.files[key] = back

    @rule(name=NAMES, place=PLACES, data=DAMAGE)
    def damage(self, name: str, place: MemoryOwner, data: bytes) -> None:
        """Somebody spoils the file."""
        key = place, PLAIN[name]
        if key in self.files:
            (folders(Path(self.folder.name))[place] / f"{PLAIN[name]}.md").write_bytes(data)
            self.files[key] = data

    @rule(name=NAMES, place=PLACES, text=TEXTS)
    def edit(self, name: str, place: MemoryOwner, text: str) -> None:
        """Somebody writes a file of their own, without front matter."""
        folder = folders(Path(self.folder.name))[place]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{PLAIN[name]}.md").write_bytes(text.encode())
        self.files[place, PLAIN[name]] = "\n".join(text.splitlines()).strip()

    @invariant()
    def both_hold_the_same(self) -> None:
        """Each readable text is listed, each other one is reported, and nothing is lost."""
        if not hasattr(self, "files"):
            return
        found = self.store.find()
        # Half of a front matter is still a text.
        whole = {key: value for key, value in self.files.items() if isinstance(value, str)}
        half = {key: "name: [" for key, value in self.files.items() if value == b"---\nname: ["}
        assert {(one.place, one.name): one.text for one in found.memories} == whole | half
        spoilt = {key for key in self.files if key not in whole and key not in half}
        told = {file.file for file in found.problems if "is left out" in file.text}
        assert len(told) == len(spoilt)
        assert set(self.store.forgotten()) == {name for (_, name), texts in self.before.items() if texts}
        for place in MemoryOwner:
            assert sum(len(texts) for (at, _), texts in self.before.items() if at is place) <= MOST_FORGOTTEN


TestShelf = Shelf.TestCase
TestShelf.settings = settings(max_examples=12, stateful_step_count=15, deadline=None)
