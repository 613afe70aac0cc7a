"""The state of a turn, and the event at its end."""

from harness.engine.conversation import Conversation, ignore
from harness.engine.turn import Turn
from harness.events import Block, Denial, Origin, TransitionCode, Usage
from harness.policies.recovery import Stop, TurnState

STATE = TurnState("m")


DONE = Stop(STATE, "answered", TransitionCode.COMPLETED)


def text(words: str) -> tuple[Block, ...]:
    return ({"type": "text", "text": words},)


def turn_of(talk: Conversation) -> Turn:
    return Turn(talk.turn, STATE, 100.0, talk.spend, talk.step)


def test_the_answer_is_the_text_since_the_last_tool_results() -> None:
    turn = turn_of(Conversation(ignore))
    turn.begin_paragraph()
    assert turn.content == ()
    turn.add(text("I look."))
    turn.begin_answer()
    assert (turn.answer, turn.content) == ("", ())
    turn.add(text("One."))
    turn.begin_paragraph()
    turn.add(text("Two."))
    assert turn.answer == "One.\n\nTwo."


def test_the_end_of_a_turn_counts_what_happened_since_it_began() -> None:
    talk = Conversation(ignore)
    talk.add_spend(Usage(100, 10), 1.0, wasted=False)
    talk.begin_turn("first")
    talk.begin_step()
    talk.denials.append(Denial("c0", "bash", {}, "no"))
    assert turn_of(talk).ended(DONE, talk, 103.5).denials == (Denial("c0", "bash", {}, "no"),)
    between = Denial("a1c0", "bash", {}, "of a subagent in the background")
    talk.denials.append(between)
    talk.begin_turn("second")
    turn = turn_of(talk)
    for _ in range(2):
        talk.begin_step()
    talk.add_spend(Usage(20, 3), 0.5, wasted=False)
    talk.add_spend(Usage(1, 1), None, wasted=True)
    late = Denial("c1", "bash", {}, "no")
    talk.denials.append(late)
    talk.add("assistant", text("So."), Origin.REPLY)
    turn.add(text("So."))
    ended = turn.ended(DONE, talk, 103.5)
    assert (ended.turn, ended.code, ended.reason, ended.answer) == (2, TransitionCode.COMPLETED, "answered", "So.")
    assert (ended.usage, ended.cost_usd, ended.requests, ended.unpriced) == (Usage(21, 4), 0.5, 2, 1)
    assert (ended.steps, ended.duration_s, ended.denials, ended.sources) == (2, 3.5, (between, late), ())
