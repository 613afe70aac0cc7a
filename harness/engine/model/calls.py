"""One model call: check the history, send, account for the outcome."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

from harness.engine.core import AgentCore
from harness.engine.model.request_gate import admitted
from harness.engine.model.shared_endpoints import ModelEndpoints
from harness.engine.model.streamed_reply import StreamedReply
from harness.events import (
    Block,
    CacheMissed,
    Effort,
    Fault,
    FaultKind,
    FaultOccurred,
    HistoryRepaired,
    Json,
    Message,
    Notice,
    Outcome,
    OutputCapChanged,
    Reply,
    ReplyReceived,
    RequestSent,
)
from harness.model import history
from harness.model.catalogue import MUCH, ModelCard
from harness.model.client import ModelRequest
from harness.model.fault_classifier import classify_reply
from harness.model.prompt import digest_of, with_breakpoints
from harness.model.tokens import Estimator, TokenCounter
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.recovery import Decision, Remedy, Situation, Stop, TurnState
from harness.policies.recovery.cut_replies import cap_for
from harness.policies.recovery.history_cut import drainable, drained
from harness.policies.recovery.prompt_too_long import UNLIKE

_Purpose = Literal["summary", "turn"]
EXACT_FROM = 0.25
"""For prompts below this share of the window, counting bytes, corrected by reported usage, is precise enough."""


@dataclass(frozen=True, slots=True)
class ModelCallResult:
    """An outcome, and how much of its text the user has seen."""

    outcome: Outcome
    shown_characters: int
    situation: Situation
    """As it was when the request went out, but for the moment, which is now. What an error text then taught about the
    model's limits is not in it: by those, less would have been asked for than was refused."""


class ModelCalls:
    """Asks the model on behalf of one conversation. Sends exactly one request for each `ask`."""

    def __init__(
        self,
        core: AgentCore,
        system: tuple[Block, ...],
        tools: tuple[Json, ...],
        *,
        answer_format: Json | None = None,
        monitor: LoopMonitor | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """
        Args:
            system: the system prompt, with its cache breakpoint.
            tools: the tools as the API wants them.
            answer_format: the output format of replies in turns; None: any text.
            monitor: while loop intervention is on, a reply that repeats itself is cut; None: always.
            chance: a random number in [0, 1), for jitter.
        """
        shared = core.shared
        self._core = core
        conversation = self._conversation = core.conversation
        self._catalogue = shared.catalogue
        counter = self._counter = shared.counter
        self._estimator = Estimator(counter)
        for model, measured in conversation.state.measured.items():
            if measured.exact == counter.loaded:  # a ratio holds for one way of counting
                self._estimator.restore(model, measured.ratio, measured.known)
        self._clock = core.clock
        self._chance = chance
        self._loading: asyncio.Future[bool] | None = None
        self._looking_up: asyncio.Task[None] | None = None
        self.asked_cap = 0
        """Output tokens that the last request asked for."""
        self.system = system
        self.tools = tools
        self._reported_effort: tuple[str, Effort] | None = None
        self._thinking: dict[tuple[str, Effort | None], Json | None] = {}
        """The thinking parameter for each model and effort, constant in a conversation for the prompt cache."""
        self.answer_format = answer_format
        self._monitor = monitor
        self.endpoints = ModelEndpoints(conversation, shared.endpoints)
        """How the models are."""
        self._retries = shared.retries
        self._paid_retries = 0
        """Retries of the turn when the last request went out."""

    @property
    def effort(self) -> Effort | None:
        """What the user wants of the model from the next turn on; None: its own."""
        return self._core.choice.effort

    def situation(self, model: str, messages: Sequence[Message] | None = None) -> Situation:
        """The facts the policy is given: sizes, limits, spend, and a number for its jitter."""
        messages = self._conversation.messages if messages is None else messages
        card = self._catalogue.card(model)
        return Situation(
            chance=self._chance(),
            now=self._core.shared.endpoints.time(self._clock),
            window=card.window,
            max_output=card.max_output,
            thinks=card.thinks_at(self.effort),
            takes_effort=card.lowers_effort,
            prompt_tokens=self.estimate(model, messages),
            cost_usd=self._conversation.spend.cost_usd,
            shared_retries=self._retries.left,
            reached=self._core.shared.connection.reached,
        )

    def overflowing(self, situation: Situation, model: str) -> Situation:
        """The same with what only matters when the history is too long, and takes longer to find out."""
        messages = self._conversation.messages
        fixed = self.counted(())
        system = self.count(Message("user", self.system)) if self.system else 0
        ratio = self._estimator.ratio(model)
        return replace(
            situation,
            drainable_tokens=self._drainable(model, messages),
            largest=self._largest(messages),
            system_tokens=round(ratio * system),
            tool_tokens=round(ratio * max(0, fixed - system)),
            answered=any(message.role == "assistant" for message in messages),
        )

    def estimate(self, model: str, messages: Sequence[Message]) -> int:
        """Size in tokens of a request with these messages."""
        return self._estimator.estimate(model, self.counted(messages))

    def counted(self, messages: Sequence[Message]) -> int:
        """Size of a request with these messages, in tokens of our own vocabulary."""
        return self._counter.count_request(self.system, (*self.tools, *self._core.web(turn=True).tools()), messages)

    def count(self, message: Message) -> int:
        """Size of one message, in tokens of our own vocabulary."""
        return self._counter.count_message(message)

    def count_text(self, text: str) -> int:
        """Size of a text, in tokens of our own vocabulary."""
        return self._counter.count_text(text)

    def saved(self, model: str, before: Message, after: Message) -> int:
        """Tokens of `model` that a request becomes smaller by with `after` in the place of `before`."""
        return round(self._estimator.ratio(model) * (self.count(before) - self.count(after)))

    def effort_problem(self, model: str) -> str:
        """What `model` cannot do of the effort that the user wants; empty: nothing, or this was said last."""
        if self.effort is None or self._reported_effort == (model, self.effort):
            return ""
        self._reported_effort = (model, self.effort)
        card = self._catalogue.card(model)
        if card.effort(self.effort) in MUCH and card.thinks_only_with_budget:
            return f"{model} takes the effort {self.effort} and does not think: it would need a token budget for that"
        problem = card.effort_problem(self.effort)
        return problem and f"{problem}; requests to it go out without one"

    def drop_reply_settings(self, state: TurnState) -> bool:
        """Omit thinking and effort from requests to the model; True when they were sent so far."""
        card = self._catalogue.card(state.model)
        said = self.asks_to_think(state) or self._effort_of(card, state) is not None
        self._catalogue.drop_reply_settings(state.model)
        self._thinking |= {(state.model, effort): None for effort in (None, *Effort)}
        return said

    def asks_to_think(self, state: TurnState) -> bool:
        """Whether requests to the model name thinking."""
        return self._thinking_of(self._catalogue.card(state.model), state) is not None

    def _thinking_of(self, card: ModelCard, state: TurnState) -> Json | None:
        if Remedy.OMIT_THINKING in state.tried:
            return None
        return self._thinking.setdefault((card.id, state.effort), card.thinking_parameter(state.effort))

    def _effort_of(self, card: ModelCard, state: TurnState) -> Effort | None:
        lowered = state.low_effort and card.lowers_effort
        return Effort.LOW if lowered else card.effort(state.effort)

    async def ask(self, state: TurnState, *, answer: str, fresh_connection: bool) -> ModelCallResult:
        """Send the history and wait for the outcome. The history is checked first, and repaired if need be.

        `answer` is the answer of the turn so far; the outcome does not repeat it.
        """
        self._omit_foreign_thinking(state.model)
        messages = self._checked(state.model)
        situation = self.situation(state.model, messages)
        self._count_exactly(situation)
        self._look_up((state.model, *state.fallbacks))
        watched = self._monitor is None or self._monitor.policy.enabled
        shown = StreamedReply(self._conversation.emit, watched=watched, kept=answer, broke_off=state.broke_off)
        cap = cap_for(state, self._core.limits, situation)
        outcome = await self.send(state, messages, cap, shown=shown, fresh_connection=fresh_connection)
        if isinstance(outcome, Fault):
            situation = self.overflowing(situation, state.model)
            self.learn_size(state.model, messages, outcome)
        now = self._core.shared.endpoints.time(self._clock)
        return ModelCallResult(outcome, shown.characters, replace(situation, now=now))

    async def send(
        self,
        state: TurnState,
        messages: Sequence[Message],
        cap: int,
        *,
        shown: StreamedReply,
        fresh_connection: bool = False,
        summary: bool = False,
        without_tools: bool = False,
    ) -> Outcome:
        """Send exactly one request and account for it; after an interruption none goes out, and none is counted."""
        signals, shared = self._core.signals, self._core.shared
        if signals.interrupt.is_set():
            return Fault(FaultKind.CANCELLED, "interrupted")
        ask = shared.endpoints.new_ask()
        if unsent := await admitted(self._core, state, ask, self.endpoints.report_limits, summary=summary):
            return unsent
        self.endpoints.keep(state)
        if state.turn_retries <= self._paid_retries:
            self._retries.requested()
        self._paid_retries = state.turn_retries
        purpose: _Purpose = "summary" if summary else "turn"
        request = self._request(state, messages, cap, purpose)
        if without_tools:
            request = replace(request, tools=())
        signals.reconnect.clear()
        signals.other_model.clear()
        self.asked_cap = cap
        loop = asyncio.get_running_loop()
        began = loop.time()
        outcome: Outcome | None = None
        try:
            outcome = await shared.connection.client.send(
                *(request, shown.show, signals.interrupt),
                reconnect=signals.reconnect,
                enough=shown.enough,
                fresh_connection=fresh_connection,
            )
        finally:
            shared.endpoints.leave(state.model, ask, outcome)
        outcome = shown.ended(outcome)
        if isinstance(outcome, Reply):
            outcome = classify_reply(outcome) or outcome
        match outcome:
            case Reply():
                self._account(state, messages, outcome, loop.time() - began, purpose)
            case Fault():
                self._conversation.emit(FaultOccurred(outcome, state.model, state.retries + 1))
                self._learn_limits(state.model, outcome)
        cost = self._catalogue.cost(state.model, outcome.usage)
        self._conversation.add_spend(outcome.usage, cost, wasted=isinstance(outcome, Fault) and not outcome.kept)
        return outcome

    def _request(self, state: TurnState, messages: Sequence[Message], cap: int, purpose: _Purpose) -> ModelRequest:
        """The request, announced."""
        model, tools = state.model, self._sent_tools(state.model)
        card, estimate = self._catalogue.card(model), self._estimator.estimate(model, self.counted(messages))
        digests = digest_of(self.system), digest_of(tools)
        self._conversation.emit(RequestSent(model, cap, estimate, state.retries + 1, purpose, card.window, *digests))
        return ModelRequest(
            model=model,
            max_tokens=cap,
            system=self.system,
            tools=tools,
            messages=with_breakpoints(messages),
            estimated_tokens=estimate,
            answer_format=self.answer_format if self.takes_format(model) and purpose == "turn" else None,
            previous_message=self._conversation.state.message_id,
            thinking=self._thinking_of(card, state),
            effort=self._effort_of(card, state),
        )

    def _account(
        self, state: TurnState, messages: Sequence[Message], reply: Reply, seconds: float, purpose: _Purpose
    ) -> None:
        """Report a reply, and correct the estimates by what it reports."""
        # Counted again, because the vocabulary may have come in between; otherwise it is remembered.
        counted, reply_count = self.counted(messages), self.count(Message("assistant", reply.content))
        self._estimator.observe(state.model, counted, reply.usage, reply_count=reply_count)
        self._conversation.emit(
            ReplyReceived(
                *(reply.model, reply.stop_reason, reply.usage, reply.request_id, seconds),
                counted=counted + reply_count,
                ratio=self._estimator.ratio(state.model),
                exact=self._counter.loaded,
                message_id="" if purpose == "summary" else reply.message_id,
            )
        )
        if (miss := reply.cache_miss) is not None:
            self._conversation.emit(CacheMissed(miss.reason, miss.tokens, purpose))

    def web_tools(self, model: str) -> tuple[Json, ...]:
        """The server's own tools that a request to `model` names."""
        if not self._catalogue.card(model).takes_web:
            return ()
        return self._core.web(turn=True).tools(newest=self._catalogue.knows(model))

    def _sent_tools(self, model: str) -> tuple[Json, ...]:
        return (*self.tools, *self.web_tools(model))

    def takes_format(self, model: str) -> bool:
        """Whether `model` can be asked for a form of its answers other than in words, as far as is known."""
        return self._catalogue.card(model).takes_format and self._catalogue.knows(model)

    def drop_format(self, model: str) -> bool:
        """Ask `model` for no form of its answers from now on; True when it was asked for one so far."""
        asked = self.answer_format is not None and self.takes_format(model)
        self._catalogue.without_format(model)
        return asked

    def drop_web(self, model: str) -> bool:
        """Ask `model` without web search and fetch from now on; True when it was asked with them so far."""
        asked = bool(self._core.web(turn=True).tools())
        return self._catalogue.without_web(model) and asked

    def decided(self, before: TurnState, decision: Decision) -> None:
        """Take a retry that was decided from the shared budget. Right after the decision, so that no other agent is
        promised the same one."""
        if decision.state.turn_retries > before.turn_retries:
            self._retries.retried()
        elif isinstance(decision, Stop) and decision.retries_spent:
            self._retries.report_spent(self._conversation.emit)

    def announce_cap(self, state: TurnState, cap: int, reason: str) -> None:
        """Report that the next request asks for `cap` output tokens, if that is another number than before."""
        raised = state.raises.get(state.model)
        if cap != self.asked_cap:
            held = self._conversation.state.raised_caps.get(state.model)
            session_cap = None if raised == held else raised
            self._conversation.emit(OutputCapChanged(self.asked_cap, cap, reason, state.model, session_cap))

    def with_shared_retries(self, situation: Situation) -> Situation:
        """The situation with the present rest of the shared retry budget."""
        return replace(situation, shared_retries=self._retries.left)

    def count_discarded(self, model: str, reply: Reply) -> None:
        """A whole reply that was paid for does not count after all."""
        self._conversation.add_waste(reply.usage, self._catalogue.cost(model, reply.usage))

    def forget_conversation(self) -> None:
        """Another conversation begins."""
        self._thinking.clear()
        self.forget_sizes()

    def forget_sizes(self) -> None:
        """Drop measured sizes after the history was replaced or the model changed."""
        self._estimator.reset()

    async def aclose(self) -> None:
        """Cancel background requests."""
        if self._looking_up is not None and not self._looking_up.done():
            self._looking_up.cancel()
            await asyncio.wait({self._looking_up})

    def _look_up(self, models: Sequence[str]) -> None:
        """Ask the server for the limits of its models, once and while the first request is under way; a server on
        loopback only about a model that the table does not know."""
        remote = self._core.shared.connection.client.remote
        if self._looking_up is None and (remote or not self._catalogue.knows(models[0])):
            self._looking_up = asyncio.create_task(self._update_catalogue(models))

    async def _update_catalogue(self, models: Sequence[str]) -> None:
        now = self._clock.now()
        before = {model: self._catalogue.warning(model, now) for model in models}
        self._catalogue.update(await self._core.shared.connection.client.models())
        for model in models:
            text = self._catalogue.warning(model, now)
            if text is not None and text != before[model]:
                self._conversation.emit(Notice("warning", text))

    def _count_exactly(self, situation: Situation) -> None:
        """Load the vocabulary, in a thread, once the size of the prompt begins to matter: it takes 80 MB."""
        if self._loading is None and situation.prompt_tokens > situation.window * EXACT_FROM:
            self._loading = asyncio.get_running_loop().run_in_executor(None, self._counter.load)
            roughly = not self._counter.loaded  # another agent of this session may have loaded it already
            self._loading.add_done_callback(lambda _: self._measure_anew(roughly=roughly))

    def _measure_anew(self, *, roughly: bool) -> None:
        """Convert sizes that were measured without the vocabulary."""
        messages = self._conversation.messages
        tools = (*self.tools, *self._core.web(turn=True).tools())
        before = TokenCounter().count_request(self.system, tools, messages) if roughly else 0
        self._estimator = self._estimator.recounted(before, self.counted(messages))

    def _omit_foreign_thinking(self, model: str) -> None:
        """Leave out earlier thinking if it was written for another model, system prompt or set of tools.

        Effort and the kind of thinking do not count: it stays valid when they change, and only the cache is lost. See
        https://platform.claude.com/docs/en/build-with-claude/extended-thinking.
        """
        asked = self._conversation.state.asked
        if asked is None or not asked.system_digest:
            self._conversation.omit_thinking("the request that it belongs to is not known")
            return
        changed = [
            name
            for name, before, now in (
                ("model", asked.model, model),
                ("system prompt", asked.system_digest, digest_of(self.system)),
                ("tools", asked.tools_digest, digest_of(self._sent_tools(model))),
            )
            if before != now
        ]
        if changed:
            self._conversation.omit_thinking(f"changed since the last request: {', '.join(changed)}")

    def _checked(self, model: str) -> tuple[Message, ...]:
        conversation = self._conversation
        repaired = history.repaired(_joined(conversation.messages))
        if repaired.repairs:
            conversation.emit(HistoryRepaired(repaired.repairs))
            conversation.replace(repaired.messages, "repair")
        messages, plain = conversation.messages, conversation.state.plain_until
        sent = _joined((*history.without_thinking(messages[:plain]), *messages[plain:]))
        if self._catalogue.card(model).takes_web:
            return sent
        return history.repaired(history.without_server_tools(sent)).messages

    def _learn_limits(self, model: str, fault: Fault) -> None:
        """Numbers in an error text correct what we believe about the model."""
        if fault.limit is None:
            return
        if fault.kind is FaultKind.PROMPT_TOO_LONG:
            self._catalogue.correct(model, window=fault.limit)
        elif fault.kind is FaultKind.MAX_TOKENS_OVERFLOW and fault.input_tokens is None:
            self._catalogue.correct(model, max_output=fault.limit)
        elif fault.kind is FaultKind.MAX_TOKENS_OVERFLOW:
            self._catalogue.correct(model, window=fault.limit)

    def learn_size(self, model: str, messages: Sequence[Message], fault: Fault) -> None:
        """Count as the server does, from its refusal of these messages.

        One that names no size has a window below our estimate, unless that is so far below the window of the table that
        the refusal says nothing about sizes.
        """
        if fault.kind not in (FaultKind.PROMPT_TOO_LONG, FaultKind.MAX_TOKENS_OVERFLOW) or fault.stop_reason:
            return
        estimate = self.estimate(model, messages)
        if fault.input_tokens is not None:
            if 1 / UNLIKE < fault.input_tokens / max(1, estimate) < UNLIKE:
                self._estimator.refused(model, self.counted(messages), fault.input_tokens)
        elif fault.kind is FaultKind.PROMPT_TOO_LONG and fault.limit is None:
            window = self._catalogue.card(model).window
            if window / UNLIKE < estimate < window:
                self._catalogue.correct(model, window=estimate)

    def _drainable(self, model: str, messages: Sequence[Message]) -> int:
        ids = set(drainable(history.steps(messages)))
        blocks = [block for message in messages for block in message.content if block.get("tool_use_id") in ids]
        return sum(
            self.saved(model, Message("user", (block,)), Message("user", (drained(block, ""),))) for block in blocks
        )

    def _largest(self, messages: Sequence[Message]) -> str:
        sizes = [self.count(message) for message in messages]
        if not sizes:
            return "the history is empty"
        number = max(range(len(sizes)), key=sizes.__getitem__)
        results = any(block.get("type") == "tool_result" for block in messages[number].content)
        kind = "tool results" if results else messages[number].role
        return f"the largest message is number {number + 1} of {len(sizes)} ({kind}, about {sizes[number]:,} tokens)"


def _joined(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Neighbours of the same role as one message, as the API itself would join them."""
    groups = [list(group) for _, group in groupby(messages, key=lambda message: message.role)]
    return tuple(
        group[0] if len(group) == 1 else Message(group[0].role, tuple(b for message in group for b in message.content))
        for group in groups
    )
