"""Where a turn begins and where it ends: what is told, what goes into the history, what is reckoned up."""

import asyncio

from harness import skills
from harness.base.clock import Clock
from harness.base.shielded import uninterrupted
from harness.base.surrogates import sendable
from harness.engine.build import Parts
from harness.engine.conversation import Conversation
from harness.engine.model.prompt_facts import Facts
from harness.engine.turn import Turn
from harness.events import Block, ModelSwitched, Notice, Origin, Transition, TransitionCode, TurnStarted
from harness.memory import RECALL
from harness.model import hook_texts
from harness.model import prompt as prompts
from harness.policies.recovery import Stop, before_turn
from harness.settings import Settings
from harness.skills import SKILL


class TurnBounds:
    """Begins and ends the turns of one agent."""

    def __init__(
        self, parts: Parts, conversation: Conversation, settings: Settings, clock: Clock, *, hired: bool
    ) -> None:
        """`hired`: the agent works for another one, and what is shared is told to the person in that one's turns."""
        self._parts = parts
        self._conversation = conversation
        self._fallbacks = settings.fallback_models
        self._clock = clock
        self._hired = hired
        self._facts = Facts(settings.workspace)
        self.attached: dict[str, str] = {}
        """Texts that go into the history with the next prompt; one takes the place of another with its name."""
        if parts.toolbox.get(SKILL) and (changes := self._skill_news()):
            self.attached["skills"] = changes

    def begin(self, text: str | None, model: str) -> Turn:
        """A new turn, which asks `model` first. The wishes of the person from before it count no longer."""
        parts, say = self._parts, self._conversation
        parts.signals.reset()
        for policy in (parts.dispatching, parts.escaping):
            if not policy.announced:
                policy.announce()
        parts.remembering.tell()
        self._tell_news()
        parts.labels.begin_turn(self._clock.now())
        say.turn += 1
        say.emit(TurnStarted(say.turn, sendable(text or "")))
        if parts.executor.asked_last != model:
            say.emit(ModelSwitched(parts.executor.asked_last, model, "a new turn begins"))
            parts.executor.use_model(model)
        if problem := parts.calls.effort_problem(model):
            say.emit(Notice("warning", problem))
        fallbacks = tuple(other for other in self._fallbacks if other != model)
        state = parts.executor.fresh_state(model, fallbacks)
        return Turn(say.turn, state, self._clock.now(), say.spend, say.step)

    async def hear(self, turn: Turn, text: str | None) -> Stop | None:
        """Take the prompt into the history, with what the model is to know beside it; a Stop if a hook refuses it."""
        say, signals = self._conversation, self._parts.signals
        heard = await self._parts.hooking.hear(text)
        if stop := before_turn(turn.state, interrupted=signals.interrupt.is_set(), refused=heard.refused):
            say.begin_step()
            return stop
        if text is not None:
            facts = self._facts.new(say.messages)
            memories = await self._memory_news()
            beside = _texts(facts, memories, *self.attached.values(), heard.context)
            self.attached.clear()
            files = await self._parts.attachments.of(heard.prompt, signals.interrupt)
            say.add("user", (*beside, *files, *_texts(sendable(heard.prompt))), Origin.PROMPT)
        self.deliver()
        return None

    def deliver(self) -> None:
        """Hand over what has arrived from the background."""
        if self._parts.crew is not None:
            self._parts.crew.deliver()

    async def end(self, turn: Turn, stop: Stop) -> None:
        """Say to the model what it has to know of an end that was not its own, and to everybody that this is it."""
        say = self._conversation
        if note := self._note(stop.code):
            say.add("user", ({"type": "text", "text": note},), Origin.REPAIR)
        if stop.code is TransitionCode.FAILURE_BUDGET_PAUSED:
            self._parts.dispatching.pause()
        say.emit(Transition(say.step, stop.code, stop.reason))
        await self._parts.remembering.keep()
        self._tell_news()
        say.emit(turn.ended(stop, say, self._clock.now()))

    def _note(self, code: TransitionCode) -> str:
        match code:
            case TransitionCode.ABORTED_STREAMING | TransitionCode.ABORTED_TOOLS:
                return prompts.INTERRUPTION_NOTE
            case TransitionCode.FAILURE_BUDGET_PAUSED:
                return prompts.PAUSE_NOTE
            case TransitionCode.LOOP_STOPPED:
                return prompts.LOOP_NOTE
            case TransitionCode.WAIT_LIMIT:
                return prompts.WAIT_NOTE
            case _:
                return hook_texts.STOPPED_NOTE if self._parts.hooking.stopped else ""

    async def _memory_news(self) -> str:
        """What was remembered and forgotten since the system prompt was made, where the history does not say it."""
        if self._parts.toolbox.get(RECALL) is None:
            return ""
        return await uninterrupted(asyncio.to_thread(self._parts.shared.memory.news, self._said()))

    def _skill_news(self) -> str:
        """What a resumed session has to say of the skills, which its system prompt lists as they were."""
        return skills.news(self._parts.lists.skills, self._parts.shared.skills.skills, self._said())

    def _said(self) -> list[str]:
        blocks = (block for message in self._conversation.messages for block in message.content)
        return [str(block["text"]) for block in blocks if block.get("type") == "text"]

    def _tell_news(self) -> None:
        if self._hired:
            return
        for text in self._parts.shared.news():
            self._conversation.emit(Notice("warning", text))


def _texts(*texts: str) -> tuple[Block, ...]:
    return tuple({"type": "text", "text": text} for text in texts if text)
