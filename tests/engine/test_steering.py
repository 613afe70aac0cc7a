"""The inbox of a running turn: each text is delivered or returned, once and in order, despite kills at any moment."""

from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.engine.conversation import Conversation
from harness.engine.core import Signals
from harness.engine.steering import SteeringInbox
from harness.events import Event, Message, MessageAdded, Origin, SteeringDelivered, SteeringQueued, SteeringReturned
from tests.whole import WHOLE


@dataclass
class Oracle:
    """What a user believes: one list."""

    waiting: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)


class Life:
    """A session that may die at any moment; only its journal survives."""

    def __init__(self) -> None:
        self.journal: list[Event] = []
        self.said = 0
        self.begins()

    def begins(self) -> None:
        """The session is opened, the first time or again."""
        self.conversation = Conversation(self.journal.append)
        self.signals = Signals()
        self.inbox = SteeringInbox(self.conversation.emit, self.signals)
        self.inbox.recall(tuple(self.journal))

    def types(self) -> None:
        self.said += 1
        with self.inbox.accepting():
            self.inbox.add(f"text {self.said}")

    def delivers(self) -> None:
        """As the loop does it."""
        for queued in self.inbox.waiting:
            content = [{"type": "text", "text": queued.text}]
            self.inbox.deliver(queued, partial(self.conversation.add, "user", content, Origin.STEERING))

    def takes_last(self) -> None:
        self.inbox.take_back([one.number for one in self.inbox.waiting[-1:]])

    def takes_all(self) -> None:
        self.inbox.take_back()

    def dies(self, events: int) -> None:
        """The last events were not written."""
        del self.journal[len(self.journal) - min(events, len(self.journal)) :]
        self.begins()

    @property
    def believed(self) -> Oracle:
        """The journal, read as a user would: a message is read, a mark alone says nothing."""
        oracle, texts = Oracle(), dict[int, str]()
        for event in self.journal:
            match event:
                case SteeringQueued(number, text):
                    texts[number] = text
                    oracle.waiting.append(text)
                case MessageAdded(message=message, origin=Origin.STEERING):
                    oracle.read.append(message.text)
                    oracle.waiting.remove(message.text)
                case SteeringReturned(numbers):
                    for number in numbers:
                        oracle.returned.append(texts[number])
                        oracle.waiting.remove(texts[number])
        return oracle


happens = st.one_of(
    st.tuples(st.sampled_from(["types", "types", "delivers", "takes_last", "takes_all"])),
    st.tuples(st.just("dies"), st.integers(0, 4)),
)


@settings(max_examples=2_000 if WHOLE else 100)
@given(st.lists(happens, max_size=30))
def test_whatever_happens_or_dies_every_text_is_read_or_returned_once_and_in_order(
    story: list[tuple[str, *tuple[int, ...]]],
) -> None:
    life = Life()
    for what, *numbers in story:
        getattr(life, what)(*numbers)
        believed = life.believed
        assert [one.text for one in life.inbox.waiting] == believed.waiting
        assert life.signals.steered.is_set() <= bool(believed.waiting)
    life.delivers()
    believed = life.believed
    assert believed.waiting == []
    assert len({*believed.read, *believed.returned}) == len(believed.read) + len(believed.returned)
    assert believed.read == sorted(believed.read, key=lambda text: int(text.split()[1]))


def test_a_text_is_refused_without_a_turn_and_when_it_is_empty() -> None:
    inbox = SteeringInbox(lambda event: None, Signals())
    with pytest.raises(HarnessError, match="No turn runs"):
        inbox.add("hello")
    with inbox.accepting(), pytest.raises(HarnessError, match="no text"):
        inbox.add(" \n")


def test_what_no_longer_waits_cannot_be_taken_back() -> None:
    events = list[Event]()
    inbox = SteeringInbox(events.append, Signals())
    with inbox.accepting():
        number = inbox.add("hello")
    inbox.deliver(inbox.waiting[0], lambda: None)
    assert inbox.take_back([number]) == ()
    assert events == [SteeringQueued(1, "hello"), SteeringDelivered(1)]
    again = SteeringInbox(events.append, Signals())
    again.recall([events[0], MessageAdded(Message("user", ()), Origin.STEERING)])  # killed before the mark
    assert again.waiting == ()


def test_who_sees_an_event_can_add_and_take_back_without_a_text_counted_twice() -> None:
    events, taken = list[Event](), list[str]()

    def hear(event: Event) -> None:
        events.append(event)
        if len(events) == 1:
            inbox.add("second")
        if isinstance(event, MessageAdded | SteeringReturned):
            taken.extend(one.text for one in inbox.take_back())

    inbox = SteeringInbox(hear, Signals())
    with inbox.accepting():
        inbox.add("first")
    first, second = inbox.waiting
    assert (first.text, second.text) == ("first", "second")
    inbox.deliver(first, lambda: hear(MessageAdded(Message("user", ()), Origin.STEERING)))
    assert (taken, inbox.waiting) == (["second"], ())
