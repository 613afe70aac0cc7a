"""Carries out single decisions of the recovery policy: waits, switches, mends, makes room."""

from dataclasses import replace
from types import MappingProxyType

from harness.base.clock import Clock
from harness.base.surrogates import sendable
from harness.engine.compaction.compactor import Shortening, Trigger
from harness.engine.connection import Connection
from harness.engine.conversation import Conversation
from harness.engine.hooks.hooks import Hooking
from harness.engine.model.calls import Answered, ModelCalls
from harness.engine.permissions.asker import Asker
from harness.engine.signals import Signals, pause, unless
from harness.engine.turn import Turn
from harness.events import (
    Block,
    Message,
    ModelSwitched,
    Notice,
    PartialDiscarded,
    TransitionCode,
    WaitAnswered,
    WaitOffered,
)
from harness.hooks import Combined
from harness.model import history, hook_texts, prompt
from harness.model.invariants import paused
from harness.policies.recovery import (
    Compact,
    Continue,
    Decision,
    Drain,
    Mend,
    Mending,
    Nudge,
    OfferWait,
    RecoveryLimits,
    RunTools,
    Situation,
    Stop,
    SwitchModel,
    TurnState,
    before_request,
    nearly_full,
)
from harness.policies.recovery.compaction import CompactionHealth, thresholds
from harness.policies.recovery.output_cap import cap_for


class Executor:
    """Does what was decided, for one conversation, and leaves an event for each thing done."""

    def __init__(
        self,
        conversation: Conversation,
        connection: Connection,
        calls: ModelCalls,
        shortening: Shortening,
        hooking: Hooking,
        asker: Asker,
        limits: RecoveryLimits,
        clock: Clock,
        signals: Signals,
        *,
        model: str,
    ) -> None:
        """`model` is the one that was asked last; its thinking stands in the history."""
        self._conversation = conversation
        self._connection = connection
        self._calls = calls
        self._shortening = shortening
        self._hooking = hooking
        self._asker = asker
        self._limits = limits
        self._clock = clock
        self._signals = signals
        self._health = CompactionHealth()
        self.asked_last = model

    @property
    def summaries_off(self) -> bool:
        """Three compactions in a row have failed, and none is begun any more unless a person asks for it."""
        return self._health.off

    async def make_room(self, turn: Turn, step: int) -> Stop | None:
        """Shorten the history before the request if it is about to overflow, by the mildest means that is enough; a
        Stop if the request must not go out at all."""
        situation = self._about_to_ask(turn)
        decision = before_request(turn.state, self._health, step, self._limits, situation)
        if isinstance(decision, Drain) and not self._signals.interrupt.is_set():
            self._shortening.drain(turn.state.model, decision.tokens, "auto")
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

    async def compact(self, turn: Turn, decision: Compact, step: int) -> None:
        """Shorten the history, by summary or by cut, unless a hook objects."""
        trigger: Trigger = "auto" if decision.code is None else "reactive"
        hooked = await self._hooking.before_compaction(trigger, lambda: self._size(turn.state.model))
        if hooked.blocks:
            return
        if decision.code is None:
            self._health = self._health.compacting(step)
        before = self._conversation.messages
        shortened = await self._shortening.compact(
            turn.state,
            self._health,
            self._limits,
            self._signals,
            trigger=trigger,
            refused=decision.prompt_tokens,
            limit=decision.limit,
            focus=_focus("", hooked),
        )
        await self._tell_of_compaction(trigger, before, turn.state.model)
        turn.state = shortened.state
        if shortened.health.off and not self._health.off:
            text = "automatic compaction is off after three failures in a row"
            hint = "; /compact tries again" if self._limits.interactive else ""
            self._conversation.emit(Notice("warning", text + hint))
        self._health = shortened.health

    async def compact_by_hand(self, model: str, focus: str) -> None:
        """Shorten the history because the person wants it; success switches automatic compaction on again."""
        if not self._conversation.messages:
            self._conversation.emit(Notice("info", "there is nothing to compact yet"))
            return
        hooked = await self._hooking.before_compaction("manual", lambda: self._size(model))
        if hooked.blocks:
            return
        before = self._conversation.messages
        shortened = await self._shortening.compact(
            self.fresh_state(model),
            self._health,
            self._limits,
            self._signals,
            trigger="manual",
            focus=_focus(focus, hooked),
        )
        self._health = shortened.health
        await self._tell_of_compaction("manual", before, model)

    async def _tell_of_compaction(self, trigger: Trigger, before: tuple[Message, ...], model: str) -> None:
        if self._conversation.messages != before:
            await self._hooking.after_compaction(trigger, lambda: self._size(model))

    def _size(self, model: str) -> int:
        return self._calls.situation(model).prompt_tokens

    def fresh_state(self, model: str, fallbacks: tuple[str, ...] = ()) -> TurnState:
        """The state in which something begins on `model`; what is known of the models goes on."""
        endpoints = self._calls.endpoints.begin().turned_to(model, self._clock.now(), self._limits.endpoint)
        raises = MappingProxyType(dict(self._conversation.raised_caps))
        attended = self._limits.interactive
        return TurnState(model, fallbacks, endpoints, raises=raises, effort=self._calls.effort, attended=attended)

    async def pause(self, turn: Turn) -> None:
        """Wait for the retry that was decided, if one was; the person may want another model instead."""
        wait, turn.wait = turn.wait, None
        if wait is not None and turn.fault is not None:
            why = await pause(
                wait,
                turn.fault,
                turn.state,
                self._limits,
                scope="model",
                conversation=self._conversation,
                clock=self._clock,
                signals=self._signals,
            )
            if why == "switched" and turn.state.fallbacks:
                self._switch_by_hand(turn, "chosen instead of waiting")

    async def offer(self, decision: OfferWait, turn: Turn) -> Stop | None:
        """Let the person choose about a long wait; a Stop if they do not want to go on."""
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
        turn.state = turn.state.on_next_model(self._clock.now(), self._limits)
        self.switch(from_model, SwitchModel(turn.state, why, turn.state.model))

    def switch(self, from_model: str, decision: SwitchModel) -> None:
        """Ask another model for the rest of the turn, and say so."""
        self._conversation.emit(ModelSwitched(from_model, decision.to_model, decision.reason))
        self.use_model(decision.to_model)

    def use_model(self, model: str) -> None:
        """The next request goes to `model`."""
        if model != self.asked_last:
            self.asked_last = model
            self._calls.forget_sizes()

    async def mend(self, decision: Mend, turn: Turn) -> bool:
        """Change the request as decided; False when there is nothing to change."""
        conversation = self._conversation
        messages = conversation.messages
        match decision.mending:
            case Mending.RELOAD_KEY:
                return await self._connection.reload()
            case Mending.DROP_CACHE_MARKS:
                if self._connection.client.drop_cache_marks():
                    text = f"{self._connection.address} takes no cache marks; nothing is cached there from now on"
                    conversation.emit(Notice("warning", text))
            case Mending.DROP_SERVER_TOOLS:
                if not self._calls.drop_web(turn.state.model):
                    return False
                text = f"{turn.state.model} takes no web search or fetch; they are left out from now on"
                conversation.emit(Notice("warning", text))
            case Mending.DROP_FORMAT if self._calls.drop_format(turn.state.model):
                text = f"{turn.state.model} does not take this output format; it is asked for in words"
                conversation.emit(Notice("warning", text))
            case Mending.DROP_FORMAT | Mending.DROP_REPLY_SETTINGS:  # "output_config" alone may mean the effort
                if not self._calls.drop_reply_settings(turn.state):
                    return False
                text = "refuses what was said of thinking and effort; nothing is said of them from now on"
                conversation.emit(Notice("warning", f"{turn.state.model} {text}"))
            case Mending.DROP_DIAGNOSTICS:
                if self._connection.client.drop_diagnostics():
                    text = f"{self._connection.address} takes no `diagnostics`; cache misses stay unexplained"
                    conversation.emit(Notice("info", text))
            case Mending.LOWER_CAP:
                self.announce_cap(turn, decision.reason)
            case Mending.REPAIR:
                conversation.replace(history.without_thinking(history.repaired(messages).messages), "repair")
            case Mending.STRIP_THINKING:
                if history.without_thinking(messages) == messages:
                    return False
                conversation.omit_thinking(decision.reason, always=True)
            case Mending.STRIP_MEDIA:
                without = history.without_media(messages)
                if without == messages:
                    return False
                conversation.replace(history.without_thinking(without), "media")
        return True

    def take_back(self, answered: Answered, decision: Decision) -> None:
        """Say which part of the text on the screen does not count."""
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
        self._shortening.drain(turn.state.model, max(decision.tokens, surplus), "reactive")

    def nudge(self, decision: Continue, turn: Turn) -> tuple[Block, ...]:
        """What the model is told so that it goes on."""
        match decision.nudge:
            case Nudge.CUT_AT_CAP:
                text = prompt.CONTINUE_AFTER_CUT
            case Nudge.BROKEN_STREAM:
                text = prompt.CONTINUE_AFTER_BREAK
            case Nudge.EMPTY_REPLY:
                text = prompt.CONTINUE_AFTER_EMPTY
            case Nudge.REPEATED:
                text = prompt.CONTINUE_WITHOUT_REPEATING
            case Nudge.OBJECTION:
                text = sendable(hook_texts.objection(decision.objection))
            case Nudge.PAUSED if paused(Message("assistant", decision.keep)):
                return ()
            case Nudge.PAUSED:  # in words, which may not stand last
                text = prompt.CONTINUE
            case Nudge.TOKEN_BUDGET:
                text = prompt.token_budget_nudge(turn.state.output_tokens, self._limits.token_budget or 0)
        return ({"type": "text", "text": text},)


def _focus(focus: str, hooked: Combined) -> str:
    """What the summary should pay attention to: what the person wants, and what hooks add."""
    return "\n".join(filter(None, (focus, *(said.text for said in hooked.contexts))))
