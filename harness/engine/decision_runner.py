"""Carries out single decisions of the recovery policy: waits, switches, repairs, compactions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import MappingProxyType

from harness.base.concurrency import unless
from harness.base.errors import HarnessError
from harness.base.external_text import sendable
from harness.engine.compaction.compactor import Compactor, Trigger
from harness.engine.core import AgentCore
from harness.engine.hooks import HookRunner
from harness.engine.model.calls import ModelCallResult, ModelCalls
from harness.engine.model.chosen_model import ModelSelection
from harness.engine.retry_wait import wait_for_retry
from harness.engine.turn import Turn
from harness.events import (
    Block,
    FaultKind,
    Message,
    ModelSwitched,
    Notice,
    Outcome,
    PartialDiscarded,
    TransitionCode,
    WaitAnswered,
    WaitOffered,
)
from harness.hooks import MergedAnswer
from harness.model import history, notices
from harness.model.invariants import paused
from harness.policies.recovery import (
    Compact,
    Continue,
    Decision,
    Drain,
    Nudge,
    OfferWait,
    Remedy,
    Repair,
    RunTools,
    Situation,
    Stop,
    SwitchModel,
    TurnState,
    before_request,
    nearly_full,
)
from harness.policies.recovery.compaction import CompactionHealth, thresholds
from harness.policies.recovery.cut_replies import cap_for
from harness.policies.recovery.messages import advice


class DecisionRunner:
    """Carries out decisions for one conversation; each leaves an event."""

    def __init__(
        self,
        core: AgentCore,
        calls: ModelCalls,
        models: ModelSelection,
        hooks: HookRunner | None,
        new_compactor: Callable[[], Compactor],
    ) -> None:
        self._core = core
        self._conversation = core.conversation
        self._connection = core.shared.connection
        self._calls = calls
        self._models = models
        self._new_compactor = new_compactor
        self._hooks = hooks
        self._asker = core.asker
        self._limits = core.limits
        self._clock = core.clock
        self._signals = core.signals
        self._decide = core.policies.decide
        self._fallback_models = core.settings.fallback_models
        self._health = CompactionHealth()
        self._asking: Turn | None = None

    def decide(self, state: TurnState, outcome: Outcome, situation: Situation) -> Decision:
        """The decision of the recovery policy about an outcome. Raises TypeError for a policy that returns none."""
        decision = self._decide(state, outcome, self._limits, self._calls.with_shared_retries(situation))
        if not isinstance(decision, Decision):
            raise TypeError(f"Policies(decide=…) must return a decision of harness.policies.recovery, not {decision!r}")
        self._calls.decided(state, decision)
        return decision

    # ── requests of the user ────────────────────────────────────────────────────────────────────

    @contextmanager
    def asking(self, turn: Turn) -> Iterator[None]:
        """The model is asked for this turn as long as the block lasts."""
        self._asking = turn
        try:
            yield
        finally:
            self._asking = None

    def retry_now(self) -> None:
        """End the wait for a retry; drop a silent connection and try again."""
        self._signals.retry_now.set()
        self._signals.reconnect.set()

    @property
    def other_model(self) -> str | None:
        """The fallback that `ask_other_model` would switch to; None while no model is asked, or when none is left."""
        return self._asking.state.fallbacks[0] if self._asking and self._asking.state.fallbacks else None

    def ask_other_model(self) -> None:
        """Stop waiting for this model and use the next fallback for the rest of the turn.

        Raises HarnessError when there is none.
        """
        if not any(model != self._models.current for model in self._fallback_models):
            raise HarnessError("There is no other model to ask; name one in fallback_models (--fallback-model).")
        if self.other_model is None:
            waits = "every fallback was asked already" if self._asking else "no model is being waited for"
            raise HarnessError(f"There is no other model to turn to now: {waits}.")
        self._signals.other_model.set()
        self._signals.reconnect.set()

    # ── compaction ──────────────────────────────────────────────────────────────────────────────

    @property
    def compaction_off(self) -> bool:
        """Three compactions in a row have failed; only the user can start another one."""
        return self._health.off

    async def make_room(self, turn: Turn, step: int) -> Stop | None:
        """Shorten a history that is about to overflow, by the mildest means that is enough; Stop if the request must
        not be sent."""
        situation = self._about_to_ask(turn)
        decision = before_request(turn.state, self._health, step, self._limits, situation)
        if isinstance(decision, Drain) and not self._signals.interrupt.is_set():
            self._new_compactor().drain(turn.state.model, decision.tokens, "auto")
            nothing_left = replace(self._about_to_ask(turn), drainable_tokens=0)
            decision = before_request(turn.state, self._health, step, self._limits, nothing_left)
        match decision:
            case Compact() if not self._signals.interrupt.is_set():
                await self.compact(turn, decision, step)
            case Stop():
                return decision
        return None

    def _about_to_ask(self, turn: Turn) -> Situation:
        model = turn.state.model
        situation = self._calls.situation(model)
        return self._calls.overflowing(situation, model) if nearly_full(situation, self._limits) else situation

    async def compact(self, turn: Turn, decision: Compact, step: int) -> Stop | None:
        """Compact the history, by summary or by cut, unless a hook blocks it.

        Stop if a refused history became no shorter: the same bytes would be refused again.
        """
        trigger: Trigger = "auto" if decision.code is None else "reactive"
        hooked = await self._before_compaction(trigger, turn.state.model)
        before = self._conversation.messages
        if hooked is not None and hooked.blocks:
            return self._no_shorter(turn, decision, before)
        if decision.code is None:
            self._health = self._health.compacting(step)
        shortened = await self._new_compactor().compact(
            turn.state,
            self._health,
            trigger=trigger,
            refused=decision.prompt_tokens,
            limit=decision.limit,
            focus=_focus("", hooked),
            only_cut=decision.only_cut,
        )
        await self._report_compaction(trigger, before, turn.state.model)
        turn.state = shortened.state
        if shortened.health.off and not self._health.off:
            text = "automatic compaction is off after three failures in a row"
            hint = "; /compact tries again" if self._limits.interactive else ""
            self._conversation.emit(Notice("warning", text + hint))
        self._health = shortened.health
        return self._no_shorter(turn, decision, before)

    def _no_shorter(self, turn: Turn, decision: Compact, before: tuple[Message, ...]) -> Stop | None:
        interrupted = self._signals.interrupt.is_set()
        if decision.code is None or interrupted or self._conversation.messages != before:
            return None
        remedy = advice(FaultKind.PROMPT_TOO_LONG, attended=turn.state.attended)
        reason = f"{decision.reason}; the conversation could not be made shorter; {remedy}"
        return Stop(turn.state, reason, TransitionCode.PROMPT_TOO_LONG)

    async def compact_by_hand(self, model: str, focus: str) -> None:
        """Compact the history for the user; success turns automatic compaction on again."""
        if not self._conversation.messages:
            self._conversation.emit(Notice("info", "there is nothing to compact yet"))
            return
        hooked = await self._before_compaction("manual", model)
        if hooked is not None and hooked.blocks:
            return
        before = self._conversation.messages
        shortened = await self._new_compactor().compact(
            self.fresh_state(model),
            self._health,
            trigger="manual",
            focus=_focus(focus, hooked),
        )
        self._health = shortened.health
        await self._report_compaction("manual", before, model)

    async def _before_compaction(self, trigger: Trigger, model: str) -> MergedAnswer | None:
        """What the hooks decide about a compaction; None: there are none."""
        if self._hooks is None:
            return None
        return await self._hooks.before_compaction(trigger, lambda: self._size(model))

    async def _report_compaction(self, trigger: Trigger, before: tuple[Message, ...], model: str) -> None:
        if self._hooks is not None and self._conversation.messages != before:
            await self._hooks.after_compaction(trigger, lambda: self._size(model))

    def _size(self, model: str) -> int:
        return self._calls.situation(model).prompt_tokens

    def fresh_state(self, model: str, fallbacks: tuple[str, ...] = ()) -> TurnState:
        """The state of a new turn on `model`, with the present endpoints and raised caps."""
        now = self._core.shared.endpoints.time(self._clock)
        endpoints = self._calls.endpoints.begin().turned_to(model, now, self._limits.endpoint)
        raises = MappingProxyType(dict(self._conversation.state.raised_caps))
        attended = self._limits.interactive
        return TurnState(model, fallbacks, endpoints, raises=raises, effort=self._calls.effort, attended=attended)

    # ── waits and switches ──────────────────────────────────────────────────────────────────────

    async def wait(self, turn: Turn) -> None:
        """Wait for the retry that was decided, if any; the user may choose another model instead."""
        wait, turn.wait = turn.wait, None
        if wait is not None and turn.fault is not None:
            why = await wait_for_retry(self._core, wait, turn.fault, scope="model")
            if why == "switched" and turn.state.fallbacks:
                self._switch_by_hand(turn, "chosen instead of waiting")

    async def offer(self, decision: OfferWait, turn: Turn) -> Stop | None:
        """Let the user choose about a long wait; Stop if they decline."""
        seconds = decision.wait.seconds
        offered = WaitOffered(seconds, self._clock.now() + seconds, decision.can_switch, decision.reason)
        self._conversation.emit(offered)
        choice = await unless(self._signals.interrupt, self._asker.wait(offered))
        self._conversation.emit(WaitAnswered(choice or "stop"))
        match choice:
            case None:
                return Stop(turn.state, "interrupted", TransitionCode.ABORTED_STREAMING)
            case "wait":
                turn.wait = decision.wait
            case "switch" if turn.state.fallbacks:
                self._switch_by_hand(turn, "chosen instead of a long wait")
            case _:
                return decision.otherwise
        return None

    def _switch_by_hand(self, turn: Turn, why: str) -> None:
        from_model = turn.state.model
        turn.state = turn.state.on_next_model(self._core.shared.endpoints.time(self._clock), self._limits)
        self.switch(from_model, SwitchModel(turn.state, why, turn.state.model))

    def switch(self, from_model: str, decision: SwitchModel) -> None:
        """Ask another model for the rest of the turn, and say so."""
        self._conversation.emit(ModelSwitched(from_model, decision.to_model, decision.reason))
        self._models.use(decision.to_model)

    # ── repairs ─────────────────────────────────────────────────────────────────────────────────

    async def repair(self, decision: Repair, turn: Turn) -> bool:
        """Change the request as decided; False when there is nothing to change."""
        conversation = self._conversation
        messages = conversation.messages
        match decision.remedy:
            case Remedy.RELOAD_KEY:
                return await self._connection.reload()
            case Remedy.DROP_CACHE_MARKS:
                if self._connection.client.drop_cache_marks():
                    text = f"{self._connection.address} takes no cache marks; nothing is cached there from now on"
                    conversation.emit(Notice("warning", text))
            case Remedy.DROP_SERVER_TOOLS:
                if not self._calls.drop_web(turn.state.model):
                    return False
                text = f"{turn.state.model} does not support web search or fetch; these tools are omitted from now on"
                conversation.emit(Notice("warning", text))
            case Remedy.DROP_FORMAT if self._calls.drop_format(turn.state.model):
                text = f"{turn.state.model} does not take this output format; it is asked for in words"
                conversation.emit(Notice("warning", text))
            case Remedy.DROP_FORMAT | Remedy.DROP_REPLY_SETTINGS:  # "output_config" alone may mean the effort
                if not self._calls.drop_reply_settings(turn.state):
                    return False
                text = "refuses the parameters for thinking and effort; requests omit them from now on"
                conversation.emit(Notice("warning", f"{turn.state.model} {text}"))
            case Remedy.BRIDGE_RESULTS:
                if self._connection.client.bridge_results():
                    text = "takes no text behind tool results; a short answer is sent between them"
                    conversation.emit(Notice("info", f"{self._connection.address} {text}"))
            case Remedy.DROP_DIAGNOSTICS:
                if self._connection.client.drop_diagnostics():
                    text = f"{self._connection.address} takes no `diagnostics`; cache misses stay unexplained"
                    conversation.emit(Notice("info", text))
            case Remedy.LOWER_CAP:
                self.announce_cap(turn, decision.reason)
            case Remedy.REPAIR:
                conversation.replace(history.without_thinking(history.repaired(messages).messages), "repair")
            case Remedy.STRIP_THINKING if history.without_thinking(messages) != messages:
                conversation.omit_thinking(decision.reason, always=True)
            case Remedy.STRIP_THINKING | Remedy.OMIT_THINKING:
                asked = replace(turn.state, tried=turn.state.tried - {Remedy.OMIT_THINKING})
                if not self._calls.asks_to_think(asked):
                    return False
                turn.state = turn.state.trying(Remedy.OMIT_THINKING)
                text = f"{turn.state.model} is not asked to think in this turn: the server refused the history with it"
                conversation.emit(Notice("warning", text))
            case Remedy.STRIP_MEDIA:
                without = history.without_media(messages)
                if without == messages:
                    return False
                conversation.replace(history.without_thinking(without), "media")
            case _:
                raise ValueError(f"{decision.remedy.name} is not a repair of a request")
        return True

    def discard_partial(self, answered: ModelCallResult, decision: Decision) -> None:
        """Report how much of the text on the screen does not count."""
        keep = decision.keep if isinstance(decision, Stop | RunTools | Continue) else ()
        lost = answered.shown_characters - len(Message("assistant", keep).text)
        if lost > 0:
            self._conversation.emit(PartialDiscarded(lost, decision.reason))

    def announce_cap(self, turn: Turn, reason: str) -> None:
        """Report that the next request asks for another number of output tokens."""
        cap = cap_for(turn.state, self._limits, self._calls.situation(turn.state.model))
        self._calls.announce_cap(turn.state, cap, reason)

    def drain(self, turn: Turn, decision: Drain) -> None:
        """Shorten old tool results, by so much that nothing of the kind is due in the next steps."""
        situation = self._calls.situation(turn.state.model)
        levels = thresholds(situation.window, situation.max_output)
        surplus = situation.prompt_tokens - self._limits.compact_at.applied(levels, situation.window).drained
        self._new_compactor().drain(turn.state.model, max(decision.tokens, surplus), "reactive")

    def nudge(self, decision: Continue, turn: Turn) -> tuple[Block, ...]:
        """The message that makes the model continue."""
        match decision.nudge:
            case Nudge.CUT_AT_CAP:
                text = notices.CONTINUE_AFTER_CUT
            case Nudge.BROKEN_STREAM:
                text = notices.CONTINUE_AFTER_BREAK
            case Nudge.EMPTY_REPLY:
                text = notices.CONTINUE_AFTER_EMPTY
            case Nudge.NO_CALL:
                text = notices.CONTINUE_AFTER_NO_CALL
            case Nudge.REPEATED:
                text = notices.CONTINUE_WITHOUT_REPEATING
            case Nudge.OBJECTION:
                text = sendable(notices.hook_objection(decision.objection))
            case Nudge.STEERED:  # the text itself makes it continue
                return ()
            case Nudge.PAUSED if paused(Message("assistant", decision.keep)):
                return ()
            case Nudge.PAUSED:  # in words, which may not stand last
                text = notices.CONTINUE
            case Nudge.TOKEN_BUDGET:
                text = notices.token_budget_nudge(turn.state.output_tokens, self._limits.token_budget or 0)
        return ({"type": "text", "text": text},)


def _focus(focus: str, hooked: MergedAnswer | None) -> str:
    """The focus of a summary: that of the user, and additions of hooks."""
    notes = hooked.contexts if hooked is not None else ()
    return "\n".join(filter(None, (focus, *(note.text for note in notes))))
