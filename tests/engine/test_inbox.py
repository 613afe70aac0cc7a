"""The inbox of the loop: typed lines in order, and each arrival exactly once, despite kills at any moment."""

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.engine.conversation import Conversation
from harness.engine.inbox import Inbox
from harness.events import ArrivalKind, Arrived, Event, Message, MessageAdded, Origin
from harness.model.notices import arrivals_text
from tests.whole import WHOLE

ENDED, SCHEDULED = ArrivalKind.COMMAND_ENDED, ArrivalKind.SCHEDULED


class Life:
    """A session that may die at any moment; only its journal survives."""

    def __init__(self) -> None:
        self.journal: list[Event] = []
        self.begins()

    def begins(self) -> None:
        """The session is opened, the first time or again."""
        self.conversation = Conversation(self.journal.append)
        self.incoming = Inbox(self.conversation.emit)
        self.incoming.recall(tuple(self.journal))

    def arrives(self, times: int) -> None:
        for _ in range(times):
            unique = sum(isinstance(event, Arrived) for event in self.journal)
            self.incoming.arrive(ENDED, "b1", f"result {unique};")

    def delivers(self) -> None:
        """As the loop does it."""
        if arrivals := self.incoming.next(scheduled=False):
            self.conversation.add("user", [{"type": "text", "text": arrivals_text(arrivals)}], Origin.ARRIVAL)
            self.incoming.deliver(arrivals)

    def says(self) -> None:
        self.conversation.add("assistant", [{"type": "text", "text": "I see."}], Origin.REPLY)

    def forgets(self) -> None:
        """A rewind: the messages are gone."""
        self.conversation.replace((), "rewind")

    def dies(self, events: int) -> None:
        """The last events were not written."""
        del self.journal[len(self.journal) - min(events, len(self.journal)) :]
        self.begins()

    def told(self, arrived: Arrived) -> int:
        """How often a message with it was added."""
        return sum(
            arrived.text in str(event.message.content)
            for event in self.journal
            if isinstance(event, MessageAdded) and event.origin is Origin.ARRIVAL
        )


happens = st.one_of(
    st.tuples(st.just("arrives"), st.integers(1, 3)),
    st.tuples(st.sampled_from(["delivers", "delivers", "says", "forgets"])),
    st.tuples(st.just("dies"), st.integers(0, 4)),
)


@settings(max_examples=2_000 if WHOLE else 100)
@given(st.lists(happens, max_size=30))
def test_whatever_happens_or_dies_every_recorded_arrival_is_delivered_exactly_once(
    story: list[tuple[str, *tuple[int, ...]]],
) -> None:
    life = Life()
    for what, *numbers in story:
        getattr(life, what)(*numbers)
        waiting = {arrived.number for arrived in life.incoming.waiting}
        for event in life.journal:
            if isinstance(event, Arrived):
                assert life.told(event) == (event.number not in waiting)
    life.delivers()
    arrivals = [event for event in life.journal if isinstance(event, Arrived)]
    assert [life.told(arrived) for arrived in arrivals] == [1] * len(arrivals)
    assert [arrived.number for arrived in arrivals] == sorted({arrived.number for arrived in arrivals})


IN_WORDS = ["agent_ended", "command_ended command_quiet command_lines", "task_ready mail note"]
"""What is read before what, said once more."""


@given(st.lists(st.sampled_from(ArrivalKind)), st.booleans())
def test_a_message_has_all_results_by_kind_and_of_a_kind_the_oldest_first(
    kinds: list[ArrivalKind], scheduled: bool
) -> None:
    incoming, wanted = Inbox(lambda _: None), list[int]()
    for kind in kinds:
        incoming.arrive(kind, "x", "y")
    for words in IN_WORDS:
        wanted += [number for number, kind in enumerate(kinds, 1) if kind in words.split()]
    prompts = [number for number, kind in enumerate(kinds, 1) if kind is SCHEDULED]
    wanted += prompts[:1] if scheduled else []
    assert [one.number for one in incoming.next(scheduled=scheduled)] == wanted


def test_an_arrival_that_leads_to_another_has_a_number_of_its_own() -> None:
    def hear(event: Event) -> None:
        if isinstance(event, Arrived) and event.source == "b1":
            incoming.arrive(ENDED, "b2", "y")

    incoming = Inbox(hear)
    incoming.arrive(ENDED, "b1", "x")
    assert sorted(arrived.number for arrived in incoming.waiting) == [1, 2]


def test_every_change_is_reported_once_and_what_changes_nothing_is_not() -> None:
    changes = list[int]()
    incoming = Inbox(lambda _: None)
    incoming.notify(lambda: changes.append(len(incoming.waiting)))
    incoming.deliver(incoming.waiting)
    assert changes == []
    incoming.arrive(ENDED, "b1", "x")
    incoming.deliver(incoming.waiting)
    assert changes == [1, 0]


def test_a_scheduled_prompt_waits_for_the_end_of_the_turn_and_each_has_a_turn_of_its_own() -> None:
    journal = list[Event]()
    incoming = Inbox(journal.append)
    for kind, source in ((SCHEDULED, "c1@1"), (ENDED, "b1"), (SCHEDULED, "c2@1")):
        incoming.arrive(kind, source, source)
    assert [one.source for one in incoming.next(scheduled=False)] == ["b1"]
    assert [one.source for one in incoming.next(scheduled=True)] == ["b1", "c1@1"]
    incoming.deliver(incoming.next(scheduled=True))
    assert [one.source for one in incoming.next(scheduled=True)] == ["c2@1"]
    again = Inbox(journal.append)
    again.recall([*journal, MessageAdded(Message("user", ()), Origin.ARRIVAL)])
    assert [one.source for one in again.waiting] == ["c2@1"]  # it may have been in that message, and has an id
