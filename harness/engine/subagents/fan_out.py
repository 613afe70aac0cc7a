"""Asks the user before a session starts many subagents; `policies.admission.fan_out` decides when.

The subagents of one reply start side by side, and are admitted one by one. The first one opens the question for all
of them, and the others wait for the same answer.
"""

import asyncio
from collections.abc import Iterable

from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.engine.core import AgentCore
from harness.engine.permissions.asker import UserAnswer
from harness.events import (
    AgentEnded,
    Event,
    FanOut,
    MessageAdded,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    TurnStarted,
    Usage,
)
from harness.policies.admission.fan_out import FanOutConsent, FanOutDecision, Mode
from harness.tools.agent import AGENT, TEAM_START

ASSUMED = Usage(input=20_000, cache_read=80_000, output=4_000)
"""What a subagent is taken to use before one of the session has ended: some ten steps, of whose prompts the cache
holds four fifths. 280 subagents for $51 were reported (anthropics/claude-code#49275): $0.18 each."""
REMEDY = 'fan_out = "allow" in the settings (HARNESS_FAN_OUT=allow) starts them without a question'
INSTEAD = "Do the work yourself, or with fewer subagents."


class FanOutRefused(HarnessError):  # noqa: N818 (an answer of the user)
    """These subagents are not to be started; the text is what the model reads."""

    def __init__(self, sentence: str, summary: str) -> None:
        super().__init__(sentence)
        self.summary = summary


class FanOutQuestions:
    """Lets the subagents of a conversation start, or not."""

    def __init__(
        self,
        core: AgentCore,
    ) -> None:
        settings = core.settings
        self._core = core
        self._conversation = core.conversation
        self._asker = core.asker
        self._mode: Mode = settings.fan_out
        self._most = settings.max_subagents
        self._agreement = FanOutConsent(settings.fan_out_subagents)
        self._wanted = 0
        """Subagents that the last reply asks for, while none of them has come here."""
        self._left = 0
        """Subagents that the last answer holds for, and that have not come here yet."""
        self._answer: asyncio.Future[FanOutRefused | None] | None = None
        """Whether these may start."""
        self._ended = 0
        self._tokens = 0
        self._cost_usd: float | None = 0.0
        self._asked: dict[str, QuestionAsked] = {}
        """Questions about subagents without an answer yet, by their call."""

    async def admit(self, call_id: str, started: int) -> None:
        """Return when a subagent may be started, `started` being those before it. Raises FanOutRefused."""
        if self._answer is None or self._left == 0:
            self._left, self._wanted = max(1, self._wanted), 0
            self._answer = self._opened(call_id, started, self._left)
        self._left -= 1
        if (refused := await self._answer) is not None:
            raise refused

    def recall(self, events: Iterable[Event]) -> None:
        """Go on with what an earlier run of this session was allowed and has used."""
        for event in events:
            self.on_event(event)

    # ── one question for the subagents of a reply ───────────────────────────────────────────────

    def _opened(self, call_id: str, started: int, wanted: int) -> "asyncio.Future[FanOutRefused | None]":
        wanted = max(1, min(wanted, self._most - started))  # what is beyond that is refused anyway
        refused: FanOutRefused | None = None
        match self._agreement.ruling(self._mode, started, wanted):
            case FanOutDecision.ASK:
                return asyncio.create_task(self._answered(call_id, self._estimate(started, wanted)))
            case FanOutDecision.REFUSED:
                refused = _refused(wanted, f'fan_out is "refuse"; {REMEDY}')
            case FanOutDecision.REFUSED_BEFORE:
                refused = _refused(wanted, "the user has declined as many in this turn already")
            case FanOutDecision.START:
                pass
        known = asyncio.get_running_loop().create_future()
        known.set_result(refused)
        return known

    async def _answered(self, call_id: str, fan_out: FanOut) -> FanOutRefused | None:
        yes, no = QuestionOption(f"start {_agents(fan_out.wanted)}"), QuestionOption("do not start them")
        asked = QuestionAsked(call_id, question_of(fan_out), (yes, no), fan_out=fan_out)
        self._conversation.emit(asked)
        given = await self._asker.question(asked)
        answer = given or UserAnswer("declined")
        self._conversation.emit(QuestionAnswered(call_id, answer.how, answer.text, "user" if given else "setting"))
        if given is None:
            return _refused(fan_out.wanted, f"no user is present to agree; {REMEDY}")
        if answer.text == yes.label:
            return None
        words = f', and says: "{answer.text}"' if answer.how == "text" else ""
        return _refused(fan_out.wanted, f"the user declined{words}")

    def _estimate(self, started: int, wanted: int) -> FanOut:
        """What `wanted` subagents would use: the average of those that have ended, or else `ASSUMED`."""
        if self._ended:
            tokens, cost = self._tokens / self._ended, self._cost_usd
            each = None if cost is None else cost / self._ended
        else:
            tokens = ASSUMED.prompt + ASSUMED.output
            each = self._core.shared.catalogue.cost(self._core.choice.model, ASSUMED)
        return FanOut(
            wanted=wanted,
            started=started,
            allowed=self._agreement.after_yes(started, wanted, self._most).agreed,
            most=self._most,
            tokens=round(tokens * wanted),
            cost_usd=None if each is None else each * wanted,
            measured=self._ended,
        )

    # ── what is seen ────────────────────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        match event:
            case MessageAdded(origin=Origin.REPLY, message=message):
                self._wanted, self._answer = sum(map(_starts_one, message.content)), None
            case TurnStarted(prompt=prompt) if prompt and self._agreement.refused is not None:
                self._agreement = self._agreement.at_a_prompt()
            case MessageAdded(origin=Origin.STEERING) if self._agreement.refused is not None:
                self._agreement = self._agreement.at_a_prompt()
            case QuestionAsked(call_id=call_id, fan_out=FanOut()):
                self._asked[call_id] = event
            case QuestionAnswered(call_id=call_id, answer=answer) if asked := self._asked.pop(call_id, None):
                if event.by == "user":
                    self._take(asked, yes=answer == asked.options[0].label)
            case AgentEnded(requests=requests, usage=usage) if requests:
                self._ended += 1
                self._tokens += usage.prompt + usage.output
                if event.unpriced:
                    self._cost_usd = None
                elif self._cost_usd is not None:
                    self._cost_usd += event.cost_usd

    def _take(self, asked: QuestionAsked, *, yes: bool) -> None:
        if (fan_out := asked.fan_out) is None:
            return
        if yes:
            self._agreement = self._agreement.after_yes(fan_out.started, fan_out.wanted, fan_out.most)
        else:
            self._agreement = self._agreement.after_no(fan_out.started, fan_out.wanted)


def question_of(fan_out: FanOut) -> str:
    """The question, with its estimate."""
    cost = "cost unknown" if fan_out.cost_usd is None else f"about {_dollars(fan_out.cost_usd)}"
    basis = (
        f"at {fan_out.tokens // fan_out.wanted:,} tokens each, the average of the {_agents(fan_out.measured)} so far"
        if fan_out.measured
        else f"assuming {ASSUMED.prompt + ASSUMED.output:,} tokens each"
    )
    before = f", after {fan_out.started} in this session" if fan_out.started else ""
    return (
        f"The model wants to start {_agents(fan_out.wanted)}{before}.\nEstimate: about {fan_out.tokens:,} tokens, "
        f"{cost}, {basis}.\nA yes holds for up to {fan_out.allowed} in this session; max_subagents is {fan_out.most}."
    )


def _refused(wanted: int, why: str) -> FanOutRefused:
    which = f"like all {wanted} of this reply" if wanted > 1 else "the one of this reply"
    return FanOutRefused(f"Not started, {which}: {why}. {INSTEAD}", f"not started: {why}")


def _dollars(cost: float) -> str:
    return f"${cost:,.2f}" if cost >= 0.1 or not cost else f"${cost:.4f}"


def _agents(count: int) -> str:
    return counted(count, "subagent")


def _starts_one(block: object) -> bool:
    """Whether a block of a reply calls for a new subagent."""
    match block:
        case {"type": "tool_use", "name": str(name), "input": dict(given)}:
            return name == TEAM_START or (name == AGENT and given.get("agent") is None)
        case _:
            return False
