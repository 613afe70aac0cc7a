"""Asks the model for a summary of the conversation."""

from dataclasses import dataclass

from harness.engine.core import AgentCore
from harness.engine.model.calls import ModelCalls
from harness.engine.model.streamed_reply import StreamedReply
from harness.engine.retry_wait import wait_for_retry
from harness.events import Event, Fault, FaultKind, Message, Outcome, Reply, SilenceEnded, SilenceHint, TransitionCode
from harness.model import history, notices
from harness.policies.recovery import Decision, Resend, Stop, TurnState, decide_summary
from harness.policies.recovery.compaction import SUMMARY_TRIES, summary_budget
from harness.policies.recovery.cut_replies import full_window, summary_cap, summary_limits
from harness.policies.recovery.history_cut import CutHistory, shrink

LESS = 0.8
"""Share of a refused request that the next one has at most."""
TOO_LONG = (FaultKind.PROMPT_TOO_LONG, FaultKind.REQUEST_TOO_LARGE, FaultKind.MAX_TOKENS_OVERFLOW)


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """A summary, or the reason why there is none."""

    state: TurnState
    how: str
    """In one line."""
    text: str | None = None
    too_long: bool = False
    """Even the request for it did not fit."""


class Summarizer:
    """Asks for summaries of one conversation."""

    def __init__(self, core: AgentCore, calls: ModelCalls) -> None:
        self._core = core
        self._calls = calls
        self._conversation = core.conversation

    async def ask(self, state: TurnState, window: int, refused: int | None, focus: str) -> SummaryResult:
        """A summary of the history as it is, or why there is none; faults are waited out as in a turn.

        Args:
            window: what the model takes, in its tokens.
            refused: size of the refused prompt where the server named it, in its own count.
            focus: what the summary should pay attention to.
        """
        limits, signals = self._core.limits, self._core.signals
        rounds = history.steps(
            history.without_thinking(history.without_server_tools(history.without_media(self._conversation.messages)))
        )
        estimated = self._calls.estimate(state.model, self._conversation.messages)
        attempt, without_tools = 1, False
        most: int | None = None
        why = ""
        last: tuple[Message, ...] = ()
        while True:
            budget = self._in_own_tokens(state.model, summary_budget(window, refused, estimated, attempt))
            shrunk = shrink(rounds, budget if most is None else min(budget, most), self._calls.count)
            request = _asking(shrunk, notices.summary_request(focus))
            if without_tools:
                request = history.calls_in_words(request)
            if most is not None and request == last:  # refused, and no shorter
                return SummaryResult(state, f"no summary ({why})", too_long=True)
            situation = self._calls.situation(state.model, request)
            cap = summary_cap(state, limits, situation)
            outcome, decision = await self._attempt(state, request, cap, without_tools=without_tools)
            state = decision.state
            match decision, outcome:
                case Resend(), Reply():
                    self._calls.count_discarded(state.model, outcome)
                    self._calls.announce_cap(state, summary_cap(state, limits, situation), decision.reason)
                case Resend(wait=wait), Fault() if wait is not None:
                    await wait_for_retry(self._core, wait, outcome, scope="compaction")
                    if signals.interrupt.is_set():
                        return SummaryResult(state, "interrupted")
                case Stop(code=TransitionCode.COMPLETED, keep=keep), _:
                    return SummaryResult(state, decision.reason, Message("assistant", keep).text)
                case _, Reply(stop_reason="max_tokens") if attempt < SUMMARY_TRIES and full_window(
                    state, summary_limits(limits), situation
                ):
                    attempt += 1
                case _, Reply() if (
                    not without_tools and outcome.stop_reason != "max_tokens" and _asks_for_tools(outcome)
                ):
                    self._calls.count_discarded(state.model, outcome)
                    without_tools = True
                case _, Fault() if attempt < SUMMARY_TRIES and outcome.kind in TOO_LONG:
                    attempt, why, last = attempt + 1, decision.reason, request
                    most = int(LESS * sum(self._calls.count(message) for group in shrunk.rounds for message in group))
                    refused = outcome.input_tokens or refused
                    estimated = self._calls.estimate(state.model, request)
                case _:
                    too_long = isinstance(outcome, Fault) and outcome.kind in TOO_LONG
                    return SummaryResult(state, f"no summary ({decision.reason})", too_long=too_long)

    async def _attempt(
        self, state: TurnState, request: tuple[Message, ...], cap: int, *, without_tools: bool
    ) -> tuple[Outcome, Decision]:
        """One request, and the decision about its outcome."""
        unseen = StreamedReply(self._show_silence, watched=False)
        outcome = await self._calls.send(state, request, cap, shown=unseen, summary=True, without_tools=without_tools)
        decision = decide_summary(state, outcome, self._core.limits, self._calls.situation(state.model, request))
        if isinstance(outcome, Fault):
            self._calls.learn_size(state.model, request, outcome)
        self._calls.decided(state, decision)
        self._calls.endpoints.keep(decision.state)
        return outcome, decision

    def _show_silence(self, event: Event) -> None:
        """Report that the server is silent. The summary itself is not shown while it is written."""
        if isinstance(event, SilenceHint | SilenceEnded):
            self._conversation.emit(event)

    def _in_own_tokens(self, model: str, budget: int) -> int:
        """A budget in the model's tokens, less what system prompt and tools take, in tokens of our vocabulary.

        Converted at the rate of the whole conversation, whose size the API has just reported; the rate of other
        texts says little about one that is mostly the output of a tool.
        """
        messages = self._conversation.messages
        overhead = self._calls.estimate(model, ())
        size = self._calls.estimate(model, messages) - overhead
        raw = sum(self._calls.count(message) for message in messages)
        return max(1, int((budget - overhead) * raw / max(1, size)))


def _said(text: str) -> Message:
    return Message("user", ({"type": "text", "text": text},))


def _asking(shrunk: CutHistory, instruction: str) -> tuple[Message, ...]:
    """The conversation with the request for a summary at its end, in a form that can be sent."""
    lead = [_said(notices.dropped_steps(shrunk.dropped))] if shrunk.dropped else []
    messages = [message for group in shrunk.rounds for message in group]
    return history.repaired([*lead, *messages, _said(instruction)]).messages


def _asks_for_tools(reply: Reply) -> bool:
    return bool(reply.calls or reply.cut_calls) or reply.stop_reason == "tool_use"
