"""Texts that the user gives to a running turn. Each is recorded, and the model reads it exactly once.

    add ──▶ SteeringQueued, waits ──▶ a message in the history ──▶ SteeringDelivered
                              └─────▶ SteeringReturned

The message is the delivery, and they are delivered in their order. So a message that a crash separated from its mark
delivered the oldest text that waited. A text that no request holds when a session ends waits again when it is resumed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager

from harness.base.errors import HarnessError
from harness.engine.core import Signals
from harness.events import Event, MessageAdded, Origin, SteeringDelivered, SteeringQueued, SteeringReturned


class SteeringInbox:
    """The waiting texts of one session."""

    def __init__(self, emit: Callable[[Event], None], signals: Signals) -> None:
        """
        Args:
            emit: records what becomes of each text.
            signals: `steered` is set while a text waits.
        """
        self._emit = emit
        self._signals = signals
        self._waiting: dict[int, SteeringQueued] = {}
        self.last = 0
        """Number of the newest text; 0: there was none."""
        self.before_turn = 0
        """Number of the newest text from before the turn."""
        self.open = False
        """A turn runs that a text can join."""

    @contextmanager
    def accepting(self) -> Iterator[None]:
        """A turn runs during the block."""
        self.open, self.before_turn = True, self.last
        try:
            yield
        finally:
            self.open = False

    @property
    def waiting(self) -> tuple[SteeringQueued, ...]:
        """Texts that no request holds yet, oldest first."""
        return tuple(self._waiting[number] for number in sorted(self._waiting))

    @property
    def unread(self) -> tuple[int, ...]:
        """Numbers of the waiting texts that were given to the last turn."""
        return tuple(number for number in self._waiting if number > self.before_turn)

    def add(self, text: str) -> int:
        """Give a text to the running turn; returns its number. Raises HarnessError for no turn or an empty text."""
        if not text.strip():
            raise HarnessError("There is no text to give to the turn.")
        if not self.open:
            raise HarnessError("No turn runs that this text could join; send it as a prompt.")
        self.last += 1  # before anybody who sees the event can add another
        queued = SteeringQueued(self.last, text)
        self._emit(queued)
        self._waiting[queued.number] = queued
        self._signals.steered.set()
        return queued.number

    def take_back(self, numbers: Collection[int] | None = None) -> tuple[SteeringQueued, ...]:
        """Take waiting texts back; None: all. Returns those that were still waiting, oldest first."""
        taken = tuple(one for one in self.waiting if numbers is None or one.number in numbers)
        if taken:
            self._remove(one.number for one in taken)
            self._emit(SteeringReturned(tuple(one.number for one in taken)))
        return taken

    def deliver(self, queued: SteeringQueued, add_message: Callable[[], None]) -> None:
        """Deliver a waiting text; `add_message` adds its message to the history."""
        self._remove([queued.number])  # nobody who sees the message can take the text back
        add_message()
        self._emit(SteeringDelivered(queued.number))

    def _remove(self, numbers: Iterable[int]) -> None:
        for number in numbers:
            self._waiting.pop(number, None)
        if not self._waiting:
            self._signals.steered.clear()

    def recall(self, events: Iterable[Event]) -> None:
        """Continue from a journal: texts that no request held wait again."""
        for event in events:
            match event:
                case SteeringQueued(number):
                    self._waiting[number] = event
                    self.last = self.before_turn = number
                case MessageAdded(origin=Origin.STEERING) if self._waiting:
                    self._waiting.pop(min(self._waiting))
                case SteeringDelivered(number):
                    self._waiting.pop(number, None)
                case SteeringReturned(numbers):
                    for number in numbers:
                        self._waiting.pop(number, None)
