"""The loop. Read this first.

A turn takes as many steps as the model asks for tools, and `Agent` reads from top to bottom as a turn runs:

    run ─▶ turn ─▶ step ─▶ check history ─▶ ask the model ─▶ Reply | Fault
                    ▲                                           │
                    │                         recovery.decide(outcome) ──▶ retry / raise cap / continue /
                    │                                           │          compact / switch model / repair / stop
                    │                                       tool calls
                    │                                           ▼
                    │                         breakers.decide(call) ──▶ CALL / PROBE / SKIP + alternatives / PAUSE
                    │                                           ▼
                    │                         permissions ─▶ run ─▶ ToolEnded, recorded
                    └── loops.intervene ◀─── results ◀──────────┘

Policies decide and the engine carries out. Every arrow is an event, and every step ends with exactly one transition;
a retry of the same request is not a step. `harness/engine/build/agent.py` makes the parts, and lists who receives
the events.
"""

from collections.abc import AsyncGenerator, Collection
from dataclasses import replace
from functools import partial
from typing import Self

from harness.base.arguments import check_types
from harness.base.concurrency import unless
from harness.engine import turn_lifecycle
from harness.engine.build.agent import build_parts
from harness.engine.build.from_settings import chosen
from harness.engine.build.options import AgentOptions
from harness.engine.conversation import Conversation
from harness.engine.parts import AgentParts, Parent
from harness.engine.turn import Turn
from harness.events import Event, Fault, Origin, Reply, Transition, TransitionCode
from harness.policies.recovery import (
    Compact,
    Continue,
    Decision,
    Drain,
    Nudge,
    OfferWait,
    Repair,
    Resend,
    RunTools,
    Stop,
    SwitchModel,
    after_tools,
    counted,
)
from harness.settings import Settings
from harness.tools.toolbox import Toolbox


class Agent:
    """Takes prompts and yields events.

        async with Agent(tools=[weather]) as agent:
            async for event in agent.run("Is it raining in Oslo?"):
                print(event)

    Without a key in the settings or the environment the built-in practice model answers. `open_session` adds a journal,
    so that the conversation can be resumed.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        options: AgentOptions | None = None,
        parent: Parent | None = None,
        **by_name: object,
    ) -> None:
        """
        Args:
            settings: all settings; None: read from `by_name`, the environment, `.env` and files.
            options: everything else, in one value.
            parent: starts this agent as its subagent.
            by_name: options, such as `tools=[weather]`; without `settings` also settings, such as `model="claude-…"`.

        Raises SettingsError when a setting cannot be used; TypeError and ValueError for options that cannot.
        """
        self.parts: AgentParts = build_parts(self, *chosen(settings, options, by_name), parent)
        """The collaborators of this agent."""
        self.core = self.parts.core
        """What they work with: settings, conversation, limits, signals."""

    def run(self, prompt: str, *, model: str = "", only: Collection[str] | None = None) -> AsyncGenerator[Event, None]:
        """Take a prompt and yield every event of the turn; the last one is `TurnEnded`.

        A turn that is requested while another one runs waits for its end. Closing the iterator ends the turn.

        Args:
            model: answers this turn; empty: the selected model.
            only: the only tools that may be called in this turn, also by subagents that it starts; None: all.
        """
        check_types({"prompt": (prompt, str, "a text"), "model": (model, str, "the name of a model")})
        text = self.conversation.masking.text(prompt)
        return self.core.turns.events(partial(self._requested, text, model, self.parts.restriction_to(only)))

    def retry(self) -> AsyncGenerator[Event, None]:
        """Continue from the history as it is, for example after a turn that failed."""
        return self.core.turns.events(partial(self._requested, None))

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Give the model results from the background, in a turn without a prompt.

        No-op if the results were already delivered.
        """
        return self.core.turns.events(self._arrivals)

    async def _requested(self, prompt: str | None, model: str = "", only: frozenset[str] | None = None) -> None:
        """A turn that the user, or the parent of a subagent, asked for."""
        if self.core.is_subagent:
            with self.core.shared.retries.subagent_at_work():
                await self._turn(prompt, arrivals=prompt is None)
            return
        self.core.shared.retries.begin_turn()
        with self.core.restriction.to(only):
            await self._turn(prompt, model)

    async def _arrivals(self) -> None:
        if self.parts.arrived:
            await (self._requested(None) if self.core.is_subagent else self._turn(None, arrivals=True))

    # ── turn and step ────────────────────────────────────────────────────────────────────────────────────

    async def _turn(self, prompt: str | None, model: str = "", *, arrivals: bool = False) -> None:
        """One turn from the prompt to `TurnEnded`, whatever happens in between."""
        core, parts = self.core, self.parts
        with parts.steerable():
            await self.open()
            turn = turn_lifecycle.begin(parts, prompt, model or core.choice.model)
            try:
                stop = await turn_lifecycle.submit(parts, turn, prompt, arrivals=arrivals)
                while stop is None:
                    stop = await self._step(turn)
            except Exception as error:
                core.log.exception("the turn failed")
                reason = f"something in the program failed ({type(error).__name__}: {error}); see the log with --debug"
                stop = Stop(turn.state, reason, TransitionCode.MODEL_ERROR)
            await turn_lifecycle.end(parts, turn, stop)

    async def _step(self, turn: Turn) -> Stop | None:
        """Ask the model once and do what its reply calls for. Returns what ends the turn, if anything does."""
        core, parts, conversation = self.core, self.parts, self.conversation
        step = conversation.begin_step()
        decision = await parts.decisions.make_room(turn, step) or await self._ask_model(turn)
        match decision:
            case Stop():
                conversation.add("assistant", decision.keep, Origin.REPLY)
                turn.add(decision.keep)
                decision = await turn_lifecycle.may_end(parts, turn, decision)
                if isinstance(decision, Stop):
                    return decision
                conversation.add("user", parts.decisions.nudge(decision, turn), Origin.HOOK)
            case RunTools():
                if stop := await self._run_tools(turn, decision):
                    return stop
            case Continue():
                conversation.add("assistant", decision.keep, Origin.REPLY)
                turn.add(decision.keep)
                if stop := await self._continue(turn, decision):
                    return stop
            case Resend():
                parts.decisions.announce_cap(turn, decision.reason)
            case Drain():
                parts.decisions.drain(turn, decision)
            case Compact():
                if stop := await parts.decisions.compact(turn, decision, step):
                    return stop
        if decision.code is not None:
            counts = counted(decision, core.limits)
            conversation.emit(Transition(step, decision.code, decision.reason, *counts))
        return None

    # ── ask the model ───────────────────────────────────────────────────────────────────────────

    async def _ask_model(self, turn: Turn) -> Decision:
        """Ask the model until the policy decides on something else than another attempt."""
        core, parts = self.core, self.parts
        with parts.decisions.asking(turn):
            while True:
                if stop := core.over_budget(turn.state) or await turn_lifecycle.before_request(parts, turn):
                    return stop
                if (decision := await self._attempt(turn)) is not None:
                    return decision

    async def _attempt(self, turn: Turn) -> Decision | None:
        """One request, and the decision about its outcome; None: another attempt follows."""
        parts = self.parts
        answered = await parts.calls.ask(turn.state, answer=turn.answer, fresh_connection=turn.fresh_connection)
        outcome = answered.outcome
        state = await parts.calls.endpoints.latest(turn.state, outcome)
        decision = parts.decisions.decide(state, outcome, answered.situation)
        turn.state = decision.state
        parts.calls.endpoints.keep(turn.state)
        turn.fresh_connection = False
        turn.fault = outcome if isinstance(outcome, Fault) else None
        parts.decisions.discard_partial(answered, decision)
        match decision, outcome:
            case Resend(code=None), Fault():
                turn.fresh_connection, turn.wait = decision.fresh_connection, decision.wait
                return None
            case OfferWait(), Fault():
                return await parts.decisions.offer(decision, turn)
            case SwitchModel(), _:
                parts.decisions.switch(state.model, decision)
                return decision if decision.code is not None else None
            case Repair(), _:
                return None if await parts.decisions.repair(decision, turn) else decision.otherwise
            case Resend(), Reply():
                parts.calls.count_discarded(state.model, outcome)
        return decision

    # ── run tools ───────────────────────────────────────────────────────────────────────────────

    async def _run_tools(self, turn: Turn, decision: RunTools) -> Stop | None:
        """Answer every call of the reply. Returns what ends the turn, if anything does."""
        core, parts, conversation = self.core, self.parts, self.conversation
        interrupt = core.signals.interrupt
        conversation.add("assistant", decision.blocks, Origin.REPLY)
        await unless(interrupt, parts.rollbacks.keep([call.name for call in decision.calls]))
        results = await parts.tools.answer(decision.calls, decision.cut_calls, interrupt)
        reminder = () if results.interrupted else parts.after_step()
        instructions = await unless(interrupt, parts.folder_instructions.after_step(decision.calls, results.blocks))
        conversation.add("user", (*results.blocks, *(instructions or ()), *reminder), Origin.TOOL_RESULTS)
        turn.begin_answer()
        turn.state = replace(turn.state, steps=turn.state.steps + 1, compacted=False)
        if not (planned := parts.plan_mode.end()):
            await turn_lifecycle.join_steering(parts, turn)
        paused = parts.breakers.paused
        stuck = "" if paused else await parts.loops.intervene()
        waited = "" if paused or stuck else await parts.loops.wait()
        ends = {"hooked": parts.stopped_by_hook, "paused": paused, "stuck": stuck, "waited": waited}
        stop = after_tools(turn.state, core.limits, interrupt.is_set(), planned=planned, **ends)
        if stop is None:
            await parts.deliver()
        return stop

    async def _continue(self, turn: Turn, decision: Continue) -> Stop | None:
        """Ask for the rest of an answer; Stop if the model only repeats itself and no intervention is left."""
        core, parts, before = self.core, self.parts, len(self.conversation.messages)
        if decision.nudge is Nudge.REPEATED and (stuck := await parts.loops.intervene()):
            return after_tools(turn.state, core.limits, core.signals.interrupt.is_set(), stuck=stuck)
        if len(self.conversation.messages) == before:  # the intervention left no message for the model to answer
            self.conversation.add("user", parts.decisions.nudge(decision, turn), Origin.CONTINUATION)
        turn.wait = decision.wait
        return None

    # ── open and close ──────────────────────────────────────────────────────────────────────────

    @property
    def conversation(self) -> Conversation:
        """History, counters and spend."""
        return self.core.conversation

    @property
    def toolbox(self) -> Toolbox:
        """The tools that the model may call."""
        return self.parts.toolbox

    def interrupt(self) -> None:
        """End the turn as soon as possible; received content is kept."""
        self.core.signals.interrupt.set()

    async def open(self) -> None:
        """Start the practice server if it is to answer, and import the SDK in the background. `run` calls it, too."""
        await self.core.shared.open()

    async def aclose(self) -> None:
        """Close all connections, and end every subagent, command and process."""
        await self.parts.aclose()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
