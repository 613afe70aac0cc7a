"""Plays replies to a learner's decisions, and to the policy of harness beside them."""

from dataclasses import dataclass, field
from random import Random
from types import ModuleType
from typing import Any

from harness.events import CutCall, Reply, ToolCall, TransitionCode
from harness.policies.recovery import (
    Continue,
    Decision,
    RecoveryLimits,
    Resend,
    RunTools,
    Situation,
    Stop,
    TurnState,
    decide,
)
from harness.policies.recovery.cut_replies import cap_for

LARGE, SMALL = 64_000, 4_096
"""The output limits of two models."""
HISTORIES, LONGEST = 500, 12


@dataclass
class Play:
    """A learner's turn and its calls."""

    work: ModuleType
    most: int = LARGE
    turn: Any = None
    story: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.turn = self.work.Turn()

    @property
    def cap(self) -> int:
        """The cap of the next request."""
        cap: int = self.work.cap_of(self.turn, self.most)
        return cap

    def reply(self, *, cut: bool, calls: int = 0, cut_call: bool = False) -> str:
        """Feed a reply; returns the name of the step that follows."""
        words = ["cut" if cut else "whole", *["call"] * calls, *["half a call"] * cut_call]
        cap = self.cap
        self.turn, step = self.work.decide(self.turn, self.work.Reply(cut, calls, cut_call), self.most)
        name: str = step.name
        self.story.append(f"max_tokens {cap:,}, reply: {', '.join(words)} -> {name}")
        return name

    def expected(self, wanted: str) -> str:
        """The expected result, with the story before it."""
        return "\n".join([*self.story, f"wanted {wanted}"])


def check_a_whole_reply_is_taken(work: ModuleType) -> None:
    play = Play(work)
    assert play.reply(cut=False) == "DONE", play.expected("DONE")
    assert play.reply(cut=False, calls=2) == "ANSWER_CALLS", play.expected("ANSWER_CALLS")


def check_the_first_cut_raises_the_cap_once(work: ModuleType) -> None:
    play = Play(work)
    assert play.cap == work.DEFAULT_CAP, play.expected(f"cap_of {work.DEFAULT_CAP:,} at first, not {play.cap:,}")
    assert play.reply(cut=True) == "AGAIN", play.expected("AGAIN")
    assert play.cap == work.RAISED_CAP, play.expected(f"cap_of {work.RAISED_CAP:,} now, not {play.cap:,}")
    assert play.reply(cut=True) == "GO_ON", play.expected("GO_ON: the cap is raised once")
    assert play.reply(cut=False, calls=1) == "ANSWER_CALLS", play.expected("ANSWER_CALLS")
    assert play.cap == work.RAISED_CAP, play.expected(
        f"cap_of {work.RAISED_CAP:,} after a whole reply, not {play.cap:,}"
    )
    assert play.reply(cut=True) == "GO_ON", play.expected("GO_ON: the cap was raised already")


def check_the_same_cap_is_never_asked_twice(work: ModuleType) -> None:
    play = Play(work, SMALL)
    assert play.cap == SMALL, play.expected(f"cap_of {SMALL:,}: the model can answer no more, not {play.cap:,}")
    assert play.reply(cut=True) == "GO_ON", play.expected(f"GO_ON: a larger cap than {SMALL:,} does not exist")


def check_continuations_have_an_end(work: ModuleType) -> None:
    play = Play(work)
    play.reply(cut=True)
    for _ in range(work.CONTINUATIONS):
        assert play.reply(cut=True) == "GO_ON", play.expected("GO_ON")
    assert play.reply(cut=True) == "GIVE_UP", play.expected("GIVE_UP")
    play = Play(work)
    for _ in range(3):
        play.reply(cut=True)
    play.reply(cut=False, calls=1)
    assert play.reply(cut=True) == "GO_ON", play.expected("GO_ON: a whole reply resets the count")


def check_half_a_call_is_answered_and_not_run(work: ModuleType) -> None:
    play = Play(work)
    assert play.reply(cut=True, cut_call=True) == "AGAIN", play.expected("AGAIN")
    assert play.reply(cut=True, calls=1, cut_call=True) == "ANSWER_CALLS", play.expected("ANSWER_CALLS")
    assert play.turn.continuations == 1, play.expected(f"continuations 1, not {play.turn.continuations}")


def check_it_does_what_the_real_one_does(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, stories), key=len, default=None)
    assert shortest is None, "\n".join(shortest or ())


def _difference(work: ModuleType, chance: Random) -> list[str] | None:
    """The story up to the first reply after which the two differ; None: they never do."""
    play = Play(work, chance.choice([LARGE, SMALL, 8_000, 32_000]))
    situation = Situation(chance=0.0, now=0.0, window=1_000_000, max_output=play.most, prompt_tokens=0)
    limits, state = RecoveryLimits(), TurnState("practice-1")
    for _ in range(chance.randint(1, LONGEST)):
        cut = chance.random() < 0.7
        calls, cut_call = chance.choice([0, 0, 1]), cut and chance.random() < 0.3
        step = play.reply(cut=cut, calls=calls, cut_call=cut_call)
        decision = decide(state, _reply(cut, calls, cut_call), limits, situation)
        state = decision.state
        if step != _name(decision):
            return [*play.story, f"wanted {_name(decision)}"]
        if _name(decision) in ("DONE", "GIVE_UP"):
            return None
        if play.cap != (wanted := cap_for(state, limits, situation)):
            return [*play.story, f"cap_of -> {play.cap:,}; wanted {wanted:,}"]
    return None


def _reply(cut: bool, calls: int, cut_call: bool) -> Reply:
    whole = tuple(ToolCall(f"call_{number}", "bash", {"command": "ls"}) for number in range(calls))
    halves = (CutCall("call_cut", "bash", "it was cut"),) if cut_call else ()
    content = ({"type": "text", "text": "Some words."},)
    return Reply("practice-1", "max_tokens" if cut else "end_turn", content, whole, halves)


def _name(decision: Decision) -> str:
    match decision:
        case Resend():
            return "AGAIN"
        case Continue():
            return "GO_ON"
        case RunTools():
            return "ANSWER_CALLS"
        case Stop(code=TransitionCode.COMPLETED):
            return "DONE"
        case _:
            return "GIVE_UP"
