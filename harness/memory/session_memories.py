"""The memories of a session: what its system prompt says of them, and what has changed since."""

from collections.abc import Sequence

from harness.events import KnownMemory
from harness.memory.prompt_texts import OPENING, index_text, known, news, nothing_new
from harness.memory.store import Found, MemoryStore


class MemoryBook:
    """The store, and the memories as they were when the session began.

    The system prompt names the latter and keeps its bytes. What any session or person has changed meanwhile
    is said beside the next prompt, and once more when a compaction has taken those words away.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.store = store
        self._read = store.find() if store.folders else Found((), ())
        self.at_first = tuple(map(known, self._read.memories))
        """The memories that the system prompt lists."""

    @property
    def on(self) -> bool:
        """There is a place for memories."""
        return bool(self.store.folders)

    def index(self, *, keeps: bool) -> str:
        """The section of the system prompt, which stays the same; "" where memories are switched off."""
        return index_text(self._read.memories, keeps=keeps) if self.on else ""

    def resume(self, at_first: Sequence[KnownMemory]) -> None:
        """Go on in a session whose system prompt lists other memories: `news` compares with those from now on."""
        self.at_first = tuple(at_first)

    def news(self, said: Sequence[str]) -> str:
        """What is to be told now; "" where the model knows. `said` are the texts of its history, the oldest first."""
        if not self.on:
            return ""
        last = next((text for text in reversed(said) if text.startswith(OPENING)), "")
        text = news(self.at_first, self.store.find().memories)
        if text == last or (not text and last in ("", nothing_new())):
            return ""
        return text or nothing_new()
