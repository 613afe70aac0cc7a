"""Between a conversation and its journal: every event is written, then observed."""

import time
from collections.abc import Callable

from harness.base.errors import JournalError
from harness.events import Event, Notice
from harness.journal import Journal


class Recorder:
    """Writes events to the journal; a disk that is full is reported once, and the conversation goes on."""

    def __init__(self, kept: Journal, observer: Callable[[Event, float], None]) -> None:
        self.journal = kept
        self._observer = observer
        self.tell: Callable[[Event], None] = _unheard
        """Shows an event without recording it."""

    def __call__(self, event: Event) -> None:
        was_behind = self.journal.behind
        record = None
        try:
            record = self.journal.append(event)
        except JournalError as error:
            self._say(Notice("error", str(error)))
        self._observer(event, record.at if record else time.time())
        if was_behind and not self.journal.behind:
            self._say(Notice("info", "The journal is written again; nothing was lost."))

    def _say(self, notice: Notice) -> None:
        self._observer(notice, time.time())
        self.tell(notice)


def _unheard(event: Event) -> None:
    """Nobody listens yet."""


def unobserved(event: Event, at: float) -> None:
    """Nobody watches."""
