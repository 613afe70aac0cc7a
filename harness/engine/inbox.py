"""Results from the background, in one queue. Each is recorded and reaches the model exactly once.

A message delivers all that waits, in the order of `ORDER`; of a kind, the oldest comes first. What the user types comes
before it (`engine.steering`), and a scheduled prompt after it, in a turn of its own.

    arrive ──▶ Arrived in the journal, waits ──▶ a message in the history ──▶ Delivered in the journal

The message comes before the mark. After a crash between the two, the message itself shows that they were delivered: it
held every result that waited.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

from harness.events import ArrivalKind, Arrived, Delivered, Event, MessageAdded, Origin

ORDER = (
    (ArrivalKind.AGENT_ENDED,),
    (ArrivalKind.COMMAND_ENDED, ArrivalKind.COMMAND_QUIET, ArrivalKind.COMMAND_LINES),
    (ArrivalKind.TASK_READY, ArrivalKind.MAIL, ArrivalKind.NOTE),
    (ArrivalKind.SCHEDULED,),
)
"""What the model reads first: results that it has asked for, then what others have to say, then the clock."""


def _nothing() -> None:
    """Nobody wants to know."""


class Inbox:
    """The queue of one session."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        """
        Args:
            emit: records arrivals and deliveries.
        """
        self._emit = emit
        self._waiting: dict[int, Arrived] = {}
        self._last = 0
        self._on_change: Callable[[], None] = _nothing

    def notify(self, on_change: Callable[[], None] | None) -> None:
        """Call `on_change` after every change from now on; None: nothing. For the front end that delivers."""
        self._on_change = on_change or _nothing

    def changed(self) -> None:
        """Something has changed in the background; front ends look again."""
        self._on_change()

    def arrive(self, kind: ArrivalKind, source: str, text: str) -> None:
        """Add a result of the command or subagent `source`; the model will read `text`."""
        self._last += 1
        arrived = Arrived(self._last, kind, source, text)
        self._emit(arrived)
        self._waiting[arrived.number] = arrived
        self.changed()

    @property
    def waiting(self) -> tuple[Arrived, ...]:
        """Results that the model has not read yet, oldest first."""
        return tuple(self._waiting.values())

    @property
    def waking(self) -> tuple[Arrived, ...]:
        """Those that are a reason for a turn: all but notes."""
        return tuple(one for one in self._waiting.values() if one.kind is not ArrivalKind.NOTE)

    def next(self, *, scheduled: bool) -> tuple[Arrived, ...]:
        """What one message delivers: all results, and the oldest scheduled prompt only between two turns."""
        *results, prompts = ([one for one in self.waiting if one.kind in kinds] for kinds in ORDER)
        return (*chain.from_iterable(results), *prompts[: int(scheduled)])

    def deliver(self, delivered: Sequence[Arrived]) -> None:
        """Mark these as delivered.

        The caller adds one message that holds all of them (origin ARRIVAL), and calls this before anything else can
        happen.
        """
        if delivered:
            for arrived in delivered:
                self._waiting.pop(arrived.number, None)
            self._emit(Delivered(tuple(arrived.number for arrived in delivered)))
            self.changed()

    def recall(self, events: Iterable[Event]) -> None:
        """Continue from a journal: results that were not delivered wait again.

        Delivered ones stay so, even if their message has left the history since.
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
                case MessageAdded(origin=Origin.ARRIVAL):  # scheduled prompts have ids and may come again
                    prompts = ((n, one) for n, one in self._waiting.items() if one.kind is ArrivalKind.SCHEDULED)
                    self._waiting = dict(prompts)
        self.changed()
