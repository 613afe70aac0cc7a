"""What comes in for the loop while it does something else, in one queue (lessons s13; later cron and mail).

What comes of commands and agents in the background is a fact: it is kept, and reaches the model exactly once.

    arrive ──▶ Arrived in the journal, waits ──▶ a message in the history ──▶ Delivered in the journal

The message comes before the mark. Where a crash lies between the two, the message itself says that they were handed
over: it held everything that waited.
"""

from collections.abc import Callable, Iterable

from harness.events import ArrivalKind, Arrived, Delivered, Event, MessageAdded, Origin


def _nothing() -> None:
    """Nobody wants to know."""


class Incoming:
    """The queue of one session."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        """
        Args:
            emit: records what arrives and what was handed over.
        """
        self._emit = emit
        self._waiting: dict[int, Arrived] = {}
        self._last = 0
        self.on_change: Callable[[], None] = _nothing
        """Called after every change; set by the front end that delivers what waits."""

    def arrive(self, kind: ArrivalKind, source: str, text: str) -> None:
        """Something has come of the command or agent `source`; `text` is what the model will read."""
        self._last += 1
        arrived = Arrived(self._last, kind, source, text)
        self._emit(arrived)
        self._waiting[arrived.number] = arrived
        self.on_change()

    @property
    def waiting(self) -> tuple[Arrived, ...]:
        """What the model has not been told yet, oldest first."""
        return tuple(self._waiting.values())

    def deliver(self) -> tuple[Arrived, ...]:
        """Everything that waits stands in the history now. Returns what it was.

        The caller adds one message that holds all of `waiting` (origin ARRIVAL), and calls this before anything else
        can happen.
        """
        delivered = self.waiting
        if delivered:
            self._waiting.clear()
            self._emit(Delivered(tuple(arrived.number for arrived in delivered)))
            self.on_change()
        return delivered

    def recall(self, events: Iterable[Event]) -> None:
        """Go on where a journal ends: what had arrived and was not handed over waits again.

        What was handed over stays so, also where its message has been taken out of the history since.
        """
        for event in events:
            match event:
                case Arrived(number):
                    self._waiting[number] = event
                    self._last = max(self._last, number)
                case Delivered(numbers):
                    for number in numbers:
                        self._waiting.pop(number, None)
                    self._last = max(self._last, *numbers)
                case MessageAdded(origin=Origin.ARRIVAL):
                    self._waiting.clear()
        self.on_change()
