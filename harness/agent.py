"""The loop. Read this first.

A turn goes round like this, and `Agent._turn` reads like it:

    prompt ─▶ history.check ─▶ model.client.send ─▶ Reply | Fault
                     ▲                                 │
                     │                     recovery.decide(outcome) ──▶ retry / raise cap / continue /
                     │                                 │                compact / switch model / mend / stop
                     │                            tool calls
                     │                                 ▼
                     │                    breakers.decide(call) ──▶ CALL / PROBE / SKIP+routes / PAUSE
                     │                                 ▼
                     │                    permissions ─▶ tools.run ─▶ outcome ─▶ breakers.record
                     └── escape.advise ◀── results ◀───┘

Policies decide, the executor does, and every arrow leaves an event behind. A round is a step and ends
with exactly one transition; a retry of the same request is no step.

The command line, the screen and `from harness import Agent` are all this class.
"""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from harness.base.clock import Clock, SystemClock
from harness.base.errors import HarnessError
from harness.engine.build import wired
from harness.engine.config import secrets_of, settings_here, web_access
from harness.engine.conversation import Conversation, ignore
from harness.engine.model.context_usage import ContextUse, context_use
from harness.engine.model.cost_budget import require_prices
from harness.engine.model.prompt_parts import PromptPart, parts_of
from harness.engine.permissions.asker import Asker, Nobody
from harness.engine.policy_set import Policies
from harness.engine.shared import Shared
from harness.engine.signals import unless
from harness.engine.subagents.factory import Hiring
from harness.engine.subagents.team import Crew
from harness.engine.tools.dispatch import Dispatching
from harness.engine.turn import Turn
from harness.engine.turn_lifecycle import TurnBounds
from harness.events import (
    OWN_EFFORT,
    Block,
    CutCall,
    Effort,
    Event,
    Fault,
    FaultKind,
    FaultOrdered,
    Json,
    Origin,
    Outcome,
    Reply,
    SettingChanged,
    Transition,
    TransitionCode,
)
from harness.hooks import Hook, own_hooks
from harness.memory import MemoryBook
from harness.permissions import Mode
from harness.policies.recovery import (
    Compact,
    Continue,
    Decision,
    Drain,
    Mend,
    Nudge,
    OfferWait,
    Resend,
    RunTools,
    Situation,
    Stop,
    SwitchModel,
    TurnState,
    after_tools,
    counted,
    over_budget,
)
from harness.practice.tool_fault_orders import ToolOrders
from harness.processes import Processes
from harness.settings import Settings
from harness.skills import SkillBook
from harness.tools.tool import Tool
from harness.tools.toolbox import own_tools

if TYPE_CHECKING:
    from harness.practice.fault_commands import Broken


class Agent:
    """An agent in a folder: takes prompts, yields events.

        async with Agent(tools=[weather]) as agent:
            async for event in agent.run("Is it raining in Oslo?"):
                print(event)

    Without a key in the settings or the environment the built-in practice model answers. `open_session` gives the same
    agent a journal, so that the conversation can be resumed.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        tools: Iterable[Tool] = (),
        standard: Collection[str] | None = None,
        asker: Asker | None = None,
        conversation: Conversation | None = None,
        outputs: Path | None = None,
        reread: Callable[[], Settings] | None = None,
        clock: Clock | None = None,
        log: logging.Logger | None = None,
        agents: Path | None = None,
        hooks: Iterable[Hook] = (),
        policies: Policies | None = None,
        employer: "Agent | None" = None,
        role: str = "",
        **overrides: object,
    ) -> None:
        """
        Args:
            settings: all settings; None reads them from flags given as `overrides`, the environment, .env and files.
            tools: tools of your own, added to the standard ones; subagents may use them too.
            standard: names of the standard tools to keep; None: all of them, `()`: none.
            asker: who answers questions; None: nobody, so that what would ask is refused.
            conversation: a conversation to go on with; None: an empty one that nobody records.
            outputs: folder for results too long for the history; None: one in the state folder.
            reread: reads the settings again when a key was refused; None: not for `settings` that were given.
            clock: time for waits.
            log: gets what only a developer wants to know.
            agents: folder for the journals of the agents that work for this one; None: nobody keeps them.
            hooks: what is asked at fixed points, behind the commands of the settings; `hook` makes one of a function.
            policies: what it decides by; None: as the settings say.
            employer: the agent that this one works for, whose hooks and policies it uses; None: a user.
            role: what the file of its kind of agent says, added to the system prompt.
            overrides: settings by name, for example `model="claude-opus-5-5"` or `permission_mode="yolo"`.

        Raises SettingsError when a setting cannot be used; TypeError and ValueError, one sentence, for tools, hooks and
        policies that cannot.
        """
        if settings is not None and overrides:
            raise TypeError(f"Agent takes settings= or single settings such as {next(iter(overrides))}=, not both.")
        self.own_tools = own_tools(tools)
        """The tools of the program that made this agent."""
        self.settings = settings or settings_here(overrides)
        self.conversation = conversation or Conversation(ignore)
        self.conversation.masking.learn(secrets_of(self.settings, os.environ))
        self.model = self.settings.model
        self.agents_folder = agents
        self._employer = employer
        self._clock: Clock = clock or (employer._clock if employer else SystemClock())
        self._log: logging.Logger = log or (employer._log if employer else logging.getLogger("harness"))
        self._asking: Turn | None = None
        self._hooks: tuple[Hook, ...] = employer._hooks if employer else (*self.settings.hooks, *own_hooks(hooks))
        self._policies: Policies = employer._policies if employer else policies or Policies()
        if settings is None:
            reread = reread or (lambda: settings_here(overrides))
        parts = wired(
            self.settings,
            self.conversation,
            asker or Nobody(),
            self._clock,
            self._log,
            tools=self.own_tools,
            standard=standard,
            policies=self._policies,
            outputs=outputs,
            reread=partial(self._reread, reread) if reread else None,
            hooks=self._hooks,
            shared=employer._shared if employer else None,
            crew=partial(self._crew, standard),
            capabilities=employer.dispatching.board.capabilities if employer else None,
            role=role,
        )
        self._limits, self._signals, self.outputs = parts.limits, parts.signals, parts.outputs
        self._shared: Shared = parts.shared
        self.crew: Crew | None = parts.crew
        self._connection, self._calls = parts.shared.connection, parts.calls
        self._executor, self._tools, self._own_commands = parts.executor, parts.tools, parts.own_commands
        self.granting, self.permissions = parts.shared.granting, parts.shared.granting.permissions
        self.toolbox, self.sections, self.lists = parts.toolbox, parts.sections, parts.lists
        self.dispatching: Dispatching = parts.dispatching
        if self.crew is not None:
            self.crew.agents.only = lambda: self._tools.only
        self._turns, self.rewinding, self.hooking = parts.turns, parts.rewinding, parts.hooking
        self.escaping, self._rollbacks, self._plan_reminder = parts.escaping, parts.rollbacks, parts.plan_reminder
        self._bounds = TurnBounds(parts, self.conversation, self.settings, self._clock, hired=employer is not None)
        self.attached = self._bounds.attached
        """Texts that go into the history with the next prompt; one takes the place of another with its name."""

    def _reread(self, reread: Callable[[], Settings]) -> Settings:
        settings = reread()
        self.conversation.masking.learn(secrets_of(settings, os.environ))
        return settings

    def _crew(self, standard: Collection[str] | None, shared: Shared, outputs: Path) -> Crew:
        return Crew(
            self.conversation,
            self.settings,
            shared,
            self._clock,
            self._log,
            outputs=outputs,
            hire=Hiring(self, type(self)).hired,
            model=lambda: self.model,
            kept=self.agents_folder is not None,
            own=self.own_tools,
            standard=standard,
            admission=self._policies.admission,
        )

    # ── what a front end calls ──────────────────────────────────────────────────────────────────

    def run(self, prompt: str, *, model: str = "", only: Collection[str] | None = None) -> AsyncGenerator[Event, None]:
        """Take a prompt and yield every event until the turn has ended; the last one is `TurnEnded`.

        `model` answers in this turn, and `only` these tools are called in it, also by subagents that it starts.
        Closing the iterator early ends the turn and whatever it was running. A turn that is asked for while another
        runs waits for its end.
        """
        text = self.conversation.masking.text(prompt)
        return self._turns.events(partial(self._run_wanted, text, model, None if only is None else frozenset(only)))

    def retry(self) -> AsyncGenerator[Event, None]:
        """Go on from the history as it stands, for example after a turn that failed."""
        return self._turns.events(partial(self._run_wanted, None))

    def deliver(self) -> AsyncGenerator[Event, None]:
        """Let the model go on with what has arrived from the background; a turn without a prompt.

        Nothing comes of it when the model has been told meanwhile.
        """
        return self._turns.events(self._run_arrivals)

    def shell(self, command: str) -> AsyncGenerator[Event, None]:
        """Run a command of the person, not of the model, which learns of it with the next request."""
        return self._turns.events(partial(self._own_commands.run, command))

    def compact(self, focus: str = "") -> AsyncGenerator[Event, None]:
        """Shorten the history now; `focus` says what the summary should pay attention to (recovery E4)."""
        return self._turns.events(partial(self._compact, focus))

    def answer_with(self, answer_format: Json | None) -> bool:
        """Ask for answers in this `output_config.format`; None: any text. False: the model takes none, so that it has
        to be asked for in the prompt."""
        self._calls.answer_format = answer_format
        return answer_format is not None and self._calls.takes_format(self.model)

    def clear(self) -> None:
        """Forget the conversation. The journal keeps it."""
        self.conversation.replace((), "clear")
        self.attached.clear()
        self._calls.forget_conversation()

    def set_model(self, model: str) -> None:
        """Ask another model from the next turn on. Raises SettingsError for one without a price under a cost budget."""
        if self._limits.max_cost_usd is not None:
            require_prices((model,), self._shared.catalogue.price, "max_budget_usd")
        self.conversation.emit(SettingChanged("model", model))
        self._executor.use_model(model)
        self.model = model

    @property
    def effort(self) -> Effort | None:
        """What the model is wanted to put into its replies from the next turn on; None: what is its own."""
        return self._calls.effort

    @property
    def efforts(self) -> tuple[Effort, ...] | None:
        """The levels that the model takes, the least first; None: not known."""
        return self._shared.catalogue.card(self.model).efforts

    def effort_of(self, model: str) -> Effort | None:
        """What another model is wanted to put into its replies when it works for this agent; None: what is its own."""
        return self._shared.catalogue.card(model).effort(self.effort)

    def set_effort(self, effort: Effort | None) -> None:
        """Ask for another effort from the next turn on; None: the model's own. It never changes within a turn: the
        prompt cache and the thinking of the conversation are bound to it.

        Raises HarnessError for one that the model does not take.
        """
        if effort is not None and (problem := self._shared.catalogue.card(self.model).effort_problem(effort)):
            raise HarnessError(f"{problem}.")
        self.conversation.emit(SettingChanged("effort", effort or OWN_EFFORT))
        self._calls.effort = effort

    def set_permission_mode(self, mode: Mode) -> None:
        """Decide tool calls by another mode from the next one on, also those of a turn that runs."""
        self.permissions.mode = mode
        self.conversation.emit(SettingChanged("permission_mode", mode))

    def interrupt(self) -> None:
        """End the turn as soon as possible; what has arrived is kept."""
        self._signals.interrupt.set()

    def retry_now(self) -> None:
        """Do not wait for a retry any longer; drop a silent connection and try again at once."""
        self._signals.retry_now.set()
        self._signals.reconnect.set()

    @property
    def other_model(self) -> str | None:
        """The fallback that `ask_other_model` would turn to; None while no model is asked, or when none is left."""
        return self._asking.state.fallbacks[0] if self._asking and self._asking.state.fallbacks else None

    def ask_other_model(self) -> None:
        """Do not wait for this model any longer: drop a silent connection, and go on with the next fallback for the
        rest of the turn. Raises HarnessError when there is none to turn to."""
        if not any(model != self.model for model in self.settings.fallback_models):
            raise HarnessError("There is no other model to ask; name one in fallback_models (--fallback-model).")
        if self.other_model is None:
            waits = "every fallback was asked already" if self._asking else "no model is being waited for"
            raise HarnessError(f"There is no other model to turn to now: {waits}.")
        self._signals.other_model.set()
        self._signals.reconnect.set()

    def break_model(self, text: str) -> str:
        """Let something go wrong with the practice model, in the words of `/fault`; returns what was ordered.

        "529 3" lets three requests fail, "off" ends it, and no words list what there is (harness/practice/SCRIPTS.md).
        Raises HarnessError, with what to do, for words that are not understood and when a real model answers.
        """
        from harness.practice.fault_commands import break_model

        return self._broken("model", break_model(text, self._connection.orders))

    def break_tool(self, text: str) -> str:
        """Let something go wrong with the next calls of a tool, also of the agents that work for this one, in the words
        of `/toolfault`; returns what was ordered. Raises HarnessError for words that are not understood."""
        from harness.practice.fault_commands import break_tool

        return self._broken("tool", break_tool(text, self.tool_orders, self.toolbox.names))

    @property
    def tool_orders(self) -> ToolOrders:
        """What is ordered to go wrong with the tools."""
        return self._shared.tool_orders

    def _broken(self, target: Literal["model", "tool"], broken: "Broken") -> str:
        if broken.ordered:
            self.conversation.emit(FaultOrdered(target, broken.ordered))
        return broken.said

    @property
    def address(self) -> str:
        """Where the model answers, without credentials."""
        return self._connection.address

    @property
    def processes(self) -> Processes:
        """The owner of every process that was started for this agent."""
        return self._shared.processes

    def context(self) -> tuple[int, int]:
        """Estimated tokens of the next request, and the model's window."""
        situation = self._calls.situation(self.model)
        return situation.prompt_tokens, situation.window

    def context_use(self) -> ContextUse:
        """Where the tokens of the next request are, and what is done when there are too many."""
        gave_up = self._executor.summaries_off
        return context_use(self._calls, self.conversation, self.model, self._limits, gave_up=gave_up)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of all tools that the model may call, those of the server among them."""
        return (*self.toolbox.names, *web_access(self.settings).names)

    @property
    def skills(self) -> SkillBook:
        """The skills that the model can be told of."""
        return self._shared.skills

    @property
    def memory(self) -> MemoryBook:
        """What is remembered from session to session."""
        return self._shared.memory

    def prompt_parts(self) -> tuple[PromptPart, ...]:
        """What stands before the conversation in every request, with the tokens of each part."""
        return parts_of(self.sections, self._shared.instructions, self.toolbox.specs(), self._shared.counter.count_text)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def check(self) -> None:
        """Make sure that address, key and script can be used. Raises SettingsError, one sentence; opens nothing."""
        self._connection.check()

    async def open(self) -> None:
        """Begin to get ready: start the practice server if it is to answer, import the SDK in the background."""
        await self._connection.open()

    async def aclose(self) -> None:
        """Close all connections, and end everything that works for this agent or was left running by it."""
        await self.hooking.aclose()
        async with AsyncExitStack() as closing:  # all of it, also when one fails or is interrupted
            if self.crew is not None:
                closing.push_async_callback(self._shared.aclose)
                closing.push_async_callback(self.crew.aclose)
            closing.push_async_callback(self._calls.aclose)

    # ── the turn ────────────────────────────────────────────────────────────────────────────────

    async def _run_wanted(self, prompt: str | None, model: str = "", only: frozenset[str] | None = None) -> None:
        """A turn that the user, or the parent of a subagent, wants."""
        if self._employer is None:
            self._shared.retries.begin_turn()
            with self._tools.narrowed_to(only):
                await self._run(prompt, model)
            return
        with self._shared.retries.subagent_at_work():
            await self._run(prompt)

    async def _run_arrivals(self) -> None:
        if self.crew is not None and self.crew.incoming.waiting:
            await self._run(None)

    async def _run(self, text: str | None, model: str = "") -> None:
        """One turn from the prompt to `TurnEnded`, whatever happens in between."""
        await self.open()
        turn = self._bounds.begin(text, model or self.model)
        try:
            stop = await self._bounds.hear(turn, text) or await self._turn(turn)
        except Exception as error:  # noqa: BLE001 (the border: a turn ends with a sentence)
            self._log.exception("the turn failed")
            reason = f"something in the program failed ({type(error).__name__}: {error}); see the log with --debug"
            stop = Stop(turn.state, reason, TransitionCode.MODEL_ERROR)
        await self._bounds.end(turn, stop)

    async def _turn(self, turn: Turn) -> Stop:
        """Go round until something ends the turn."""
        say = self.conversation
        while True:
            step = say.begin_step()
            decision = await self._executor.make_room(turn, step) or await self._ask_model(turn)
            match decision:
                case Stop():
                    say.add("assistant", decision.keep, Origin.REPLY)
                    turn.say(decision.keep)
                    decision = await self.hooking.may_end(turn, decision)
                    if isinstance(decision, Stop):
                        return decision
                    say.add("user", self._executor.nudge(decision, turn), Origin.HOOK)
                case RunTools():
                    say.add("assistant", (*decision.keep, *map(_asked, decision.cut_calls)), Origin.REPLY)
                    names = [call.name for call in decision.calls]
                    await unless(self._signals.interrupt, self._rollbacks.keep(names))
                    results = await self._tools.answer(decision.calls, decision.cut_calls, self._signals.interrupt)
                    reminder = () if results.interrupted else self._plan_reminder.after_round()
                    say.add("user", (*results.blocks, *reminder), Origin.TOOL_RESULTS)
                    turn.begin_answer()
                    turn.state = replace(turn.state, steps=turn.state.steps + 1, compacted=False)
                    if stop := await self._after_tools(turn):
                        return stop
                case Continue():
                    say.add("assistant", decision.keep, Origin.REPLY)
                    turn.say(decision.keep)
                    if stop := await self._go_on(turn, decision):
                        return stop
                case Resend():
                    self._executor.announce_cap(turn, decision.reason)
                case Drain():
                    self._executor.drain(turn, decision)
                case Compact():
                    await self._executor.compact(turn, decision, step)
            if decision.code is not None:
                say.emit(Transition(step, decision.code, decision.reason, *counted(decision, self._limits)))

    async def _after_tools(self, turn: Turn) -> Stop | None:
        """What ends the turn after a tool round: a user, a hook, breakers, a loop nothing frees, a wait, a limit."""
        paused = self.dispatching.paused
        stuck = "" if paused else await self.escaping.look()
        waited = "" if paused or stuck else await self.escaping.wait()
        interrupted = self._signals.interrupt.is_set()
        hooked = self.hooking.stopped
        ends = {"hooked": hooked, "paused": paused, "stuck": stuck, "waited": waited}
        stop = after_tools(turn.state, self._limits, interrupted=interrupted, **ends)
        if stop is None:
            self._bounds.deliver()
        return stop

    async def _go_on(self, turn: Turn, decision: Continue) -> Stop | None:
        """Ask the model for the rest of its answer; a Stop if it only repeats itself and nothing helps against that."""
        say = self.conversation
        before = len(say.messages)
        if decision.nudge is Nudge.REPEATED and (stuck := await self.escaping.look()):
            interrupted = self._signals.interrupt.is_set()
            return after_tools(turn.state, self._limits, interrupted=interrupted, stuck=stuck)
        if len(say.messages) == before:  # nothing else was said that the model has to answer
            say.add("user", self._executor.nudge(decision, turn), Origin.CONTINUATION)
        turn.wait = decision.wait
        return None

    async def _ask_model(self, turn: Turn) -> Decision:
        """Ask the model until the policy says something other than "the same once more"."""
        self._asking = turn
        try:
            return await self._ask_until_decided(turn)
        finally:
            self._asking = None

    async def _ask_until_decided(self, turn: Turn) -> Decision:
        while True:
            if spent := self._spent(turn):
                return spent
            await self._executor.pause(turn)
            if self._signals.interrupt.is_set():
                return Stop(turn.state, "interrupted", TransitionCode.ABORTED_STREAMING)
            answered = await self._calls.ask(
                turn.state,
                self._limits,
                self._signals,
                answer=turn.answer,
                fresh_connection=turn.fresh_connection,
            )
            outcome = answered.outcome
            asked = await self._calls.endpoints.latest(turn.state, overloaded=_overloaded(outcome))
            decision = self._decide(asked, outcome, answered.situation)
            turn.state = decision.state
            self._calls.endpoints.keep(turn.state)
            turn.fresh_connection = False
            turn.fault = outcome if isinstance(outcome, Fault) else None
            self._executor.take_back(answered, decision)
            match decision, outcome:
                case Resend(code=None), Fault():
                    turn.fresh_connection = decision.fresh_connection
                    turn.wait = decision.wait
                case OfferWait(), Fault():
                    if (ended := await self._executor.offer(decision, turn)) is not None:
                        return ended
                case SwitchModel(), _:
                    self._executor.switch(asked.model, decision)
                    if decision.code is not None:
                        return decision
                case Mend(), _:
                    if not await self._executor.mend(decision, turn):
                        return decision.otherwise
                case Resend(), Reply():
                    self._calls.throw_away(asked.model, outcome)
                    return decision
                case _:
                    return decision

    def _decide(self, state: TurnState, outcome: Outcome, situation: Situation) -> Decision:
        situation = self._calls.with_shared_retries(situation)
        decision = self._policies.decide(state, outcome, self._limits, situation)
        if not isinstance(decision, Decision):
            raise TypeError(f"Policies(decide=…) must return a decision of harness.policies.recovery, not {decision!r}")
        self._calls.decided(state, decision)
        return decision

    def _spent(self, turn: Turn) -> Stop | None:
        """What ends the turn because the money is spent: that of this agent, or of the one it works for."""
        own = over_budget(turn.state, self._limits, self.conversation.spend.cost_usd)
        return own or (self._employer._spent(turn) if self._employer else None)

    async def _compact(self, focus: str) -> None:
        await self.open()
        self._signals.reset()
        await self._executor.compact_by_hand(self.model, focus)


def _overloaded(outcome: Outcome) -> bool:
    return isinstance(outcome, Fault) and outcome.kind is FaultKind.OVERLOADED


def _asked(cut: CutCall) -> Block:
    """A cut call as the history keeps it: asked for, with nothing in it, and answered by an error."""
    return {"type": "tool_use", "id": cut.id, "name": cut.name, "input": {}}
