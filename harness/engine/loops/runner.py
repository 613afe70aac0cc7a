"""Carries out loop interventions: retry, nudge, alternatives, rollback, breaker, question, stop.

The policy receives the events that the journal keeps. After each step `intervene` takes the rungs that are due, one at
a time, and each leaves an event.
"""

from collections.abc import Callable, Iterable

from harness.base.concurrency import race, unless
from harness.base.errors import HarnessError
from harness.base.external_text import counted, sendable
from harness.engine.build.from_settings import numbers_in
from harness.engine.core import AgentCore
from harness.engine.loops.event_fold import AGAIN, LoopFold
from harness.engine.permissions.asker import ask_permission
from harness.engine.rewind.rollback import RollbackPoint, Rollbacks
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.results import programs_of
from harness.events import (
    Alternative,
    BreakerCommand,
    Event,
    Intervened,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopPolicySet,
    Notice,
    Origin,
    PlanItem,
    Projection,
    Rung,
    StuckReported,
    ToolCall,
    ToolOutcome,
    part_key,
)
from harness.permissions import PermissionRequest
from harness.policies.breakers.messages import best_of, in_words
from harness.policies.loops import messages
from harness.policies.loops.digests import action_of
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.messages import status_lines
from harness.policies.loops.monitor import LoopAction, LoopMonitor, LoopOverview
from harness.policies.loops.observations import ObservedCall
from harness.policies.loops.polls import WaitMeasure
from harness.tools.tool import Effect, ToolResult


class LoopRunner:
    """Loop detection and interventions of one conversation."""

    def __init__(
        self,
        core: AgentCore,
        fold: LoopFold,
        rollbacks: Rollbacks,
        tools: ToolCalls,
        dispatcher: ToolDispatcher,
        *,
        chance: Callable[[], float],
    ) -> None:
        """`chance` gives a random number in [0, 1), for the length of a pause."""
        self._fold = fold
        self._monitor = fold.monitor
        self._rollbacks = rollbacks
        self._tools = tools
        self._conversation = core.conversation
        self._dispatcher = dispatcher
        self._asker = core.asker
        self._clock = core.clock
        self._signals = core.signals
        self._chance = chance
        self._again = 0
        self.announced = False
        """The policy was emitted."""

    # ── what a session does ─────────────────────────────────────────────────────────────────────

    @property
    def status(self) -> LoopOverview:
        """Repetition so far, and the rungs of loops under way."""
        return self._monitor.status()

    def recall(self, records: Iterable[tuple[Event, float]]) -> None:
        """Fold what an earlier run of this session kept: events and their moments in Unix time."""
        own = self._monitor.policy
        for event, at in records:
            for _ in self._fold.see(event, at):
                continue  # what it finds stands in the journal already
        self._monitor.on_event(own.announced())  # numbers that were set by hand ended with their program

    @property
    def lines(self) -> tuple[str, ...]:
        """Repetition so far, loops with their rungs, and the numbers, as lines of a terminal."""
        return tuple(status_lines(self.status))

    def announce(self) -> None:
        """Emit the policy that holds from here on."""
        self._conversation.emit(self._monitor.policy.announced())

    def set(self, text: str) -> None:
        """Switch interventions "on" or "off", or set numbers such as "copies=5 nudges=2".

        Raises HarnessError for one that makes no sense.
        """
        try:
            changed = {"enabled": text == "on"} if text in ("on", "off") else numbers_in(text)
            policy = self._monitor.policy.with_changes(**changed)
        except ValueError as error:
            raise HarnessError(f"That cannot be set: {error}.") from error
        self._conversation.emit(policy.announced())

    # ── after a tool round ──────────────────────────────────────────────────────────────────────

    async def intervene(self) -> str:
        """Take the rungs that are due. Returns why the turn ends, in one line; empty: it continues."""
        while not self._signals.interrupt.is_set() and (loop := self._monitor.due) is not None:
            place = self._rollbacks.place(loop)
            action = self._monitor.advise(self._abilities(loop, place), self._chance())
            if action is None:
                return ""
            match action.rung:
                case Rung.RETRY:
                    await self._retry(action)
                case Rung.NUDGE:
                    self._notify(action, "", messages.nudge(loop, self._fold.behaviour.came_back))
                case Rung.EXPLORE:
                    self._explore(action)
                case Rung.SUBSTITUTE:
                    self._substitute(action)
                case Rung.ROLLBACK if place is not None:
                    await self._roll_back(action, place)
                case Rung.ROLLBACK:
                    self._not_taken(action, "there is nothing to go back to")
                case Rung.BREAKER:
                    self._open_breaker(action)
                case Rung.HUMAN:
                    await self._ask(action, place)
                case Rung.STOP:
                    return self._stop(action)
        return ""

    async def wait(self) -> str:
        """Advise about polling, pause, or end it. Returns why the turn ends; empty: it continues."""
        interrupt = self._signals.interrupt
        if interrupt.is_set() or not self._monitor.active:
            return ""
        due = self._fold.waits.due(self._monitor.policy)
        if due is None:
            return ""
        call, same = due.summary, due.same
        match due.measure:
            case WaitMeasure.ADVISE:
                self._conversation.emit(Notice("info", messages.waits(call, same, "the model is advised how")))
                self._say(messages.how_to_wait(call, same))
            case WaitMeasure.PAUSE:
                pause = f"pausing for {due.seconds:.0f} s before it may ask again"
                self._conversation.emit(Notice("info", messages.waits(call, same, pause)))
                await race(self._slept(due.seconds), interrupt.wait(), self._signals.steered.wait())
            case WaitMeasure.END:
                return messages.waited_out(call, same, due.seconds)
        return ""

    # ── the rungs ───────────────────────────────────────────────────────────────────────────────

    async def _retry(self, action: LoopAction) -> None:
        """Make the failing call once more, after a pause and through every check that a call has to pass."""
        failed = self._fold.failed
        if failed is None:
            self._not_taken(action, "the call is no longer known")
            return
        self._again += 1
        step, turn = self._conversation.step, self._conversation.turn
        call = ToolCall(f"{AGAIN}{turn}-{step}-{self._again}", failed.tool, self._fold.behaviour.inputs[failed.action])
        self._intervened(action, f"{failed.summary}, after {action.delay_s:.1f} s", tool=failed.tool)
        if await unless(self._signals.interrupt, self._slept(action.delay_s)) is not None:
            result = await self._tools.once_more(call, self._signals.interrupt)
            self._say(messages.made_again(failed.summary, ok=result.outcome is ToolOutcome.OK), result.content)

    async def _slept(self, seconds: float) -> bool:
        await self._clock.sleep(seconds)
        return True

    def _explore(self, action: LoopAction) -> None:
        """Send the model to another part of its plan."""
        item = self._open_items()[0].text
        self._notify(action, item, messages.other_ways(action.loop, [item]))

    def _substitute(self, action: LoopAction) -> None:
        """Keep the call in the loop from being made, and offer another tool in its place."""
        found = self._substitution(action.loop)
        if found is None or (call := self._fold.last_call(found[0])) is None:
            self._not_taken(action, f"no call of {', '.join(action.loop.tools)} is left to be replaced")
            return
        tool, route = found
        text = messages.other_tool(action.loop, call.summary, in_words(route))
        self._notify(action, f"{route.tool}, which loses: {route.degradation}", text, tool=tool, call=call)

    async def _roll_back(self, action: LoopAction, place: RollbackPoint) -> None:
        """Take the conversation back to the end of the loop's first copy; the files too, if a user agrees."""
        back = await self._rollbacks.take_back(place, files=await self._consent(place))
        files = f", with {_files(len(back.files_restored))}" if back.files_restored else ""
        text = messages.put_back(action.loop, self._fold.behaviour.came_back)
        self._notify(action, f"the end of step {back.step}{files}", text)

    async def _consent(self, place: RollbackPoint) -> bool:
        if not self._asker.present:
            return False
        changed = await unless(self._signals.interrupt, self._rollbacks.changed_files(place))
        if not changed:
            return False
        summary = f"take back {_files(len(changed))} to the end of step {place.step}"
        request = PermissionRequest(
            *(f"rollback-{place.step}", "rollback", Effect.WRITE, summary),
            detail="\n".join(changed),
            input={},
        )
        why = "the agent repeats itself"
        answer = await ask_permission(self._asker, self._conversation, self._signals.interrupt, request, why)
        return answer is not None and answer.choice != "no"

    def _open_breaker(self, action: LoopAction) -> None:
        tool, key = action.loop.tools[-1], self._key_of(action.loop)
        self._intervened(action, key, tool=tool)
        self._dispatcher.command(BreakerCommand.TRIP, key)
        self._say(messages.tool_off(key))

    async def _ask(self, action: LoopAction, place: RollbackPoint | None) -> None:
        """Ask the user. The policy follows the answer."""
        choices = tuple(choice for choice in LoopChoice if choice is not LoopChoice.ROLL_BACK or place is not None)
        self._intervened(action)
        asked = LoopAsked(action.loop, choices)
        self._conversation.emit(asked)
        if (choice := await unless(self._signals.interrupt, self._asker.loop(asked))) is not None:
            self._conversation.emit(LoopAnswered(action.loop.signature, choice))

    def _stop(self, action: LoopAction) -> str:
        """End the turn with a report."""
        loop, step = action.loop, self._conversation.step
        self._intervened(action)
        tried = self._fold.tried(loop.signature)
        steps = loop.period * loop.copies
        self._conversation.emit(
            StuckReported(loop, step, tried, steps, messages.next_steps(loop, tried, attended=self._asker.present))
        )
        return f"stopped in a loop: {messages.described(loop)}"

    # ── what can be done about a loop ───────────────────────────────────────────────────────────

    def _abilities(self, loop: Loop, place: RollbackPoint | None) -> Abilities:
        failed = self._fold.failed
        closed = len(loop.tools) == 1 and self._dispatcher.closed(self._key_of(loop))
        substitution = self._substitution(loop)
        return Abilities(
            retry=failed is not None and failed.idempotent and self._dispatcher.registry.viable(failed.tool),
            explore=tuple(item.text for item in self._open_items()),
            substitute=substitution[1].tool if substitution else "",
            rollback=place is not None and loop.projection is not Projection.TEXT,
            breaker=loop.failing and closed,
            human=self._asker.present,
        )

    def _key_of(self, loop: Loop) -> str:
        """The breaker that would keep the failing call from being made: that of its program, where it has one."""
        tool = loop.tools[-1]
        call = self._fold.last_call(tool)
        input = self._fold.behaviour.inputs.get(call.action, {}) if call else {}
        parts = programs_of(self._fold.behaviour.tool(tool), input)
        return part_key(tool, parts[0]) if parts else tool

    def _open_items(self) -> list[PlanItem]:
        """Parts of the plan that have not been begun and whose tools work."""
        viable = self._dispatcher.registry.viable
        return [item for item in self._fold.pending if all(map(viable, item.tools))]

    def _substitution(self, loop: Loop) -> tuple[str, Alternative] | None:
        """A tool of the loop and the way through another one that can take its place; None where there is none."""
        for tool in loop.tools:
            for route in self._dispatcher.routes(tool):
                if route.tool and route.tool not in loop.tools:
                    return tool, route
        return None

    # ── what is said, and what is seen ──────────────────────────────────────────────────────────

    def _notify(
        self, action: LoopAction, what: str, text: str, *, tool: str = "", call: ObservedCall | None = None
    ) -> None:
        self._intervened(action, what, tool=tool, call=call)
        self._say(text)

    def _say(self, *texts: str) -> None:
        self._conversation.add("user", [{"type": "text", "text": sendable(text)} for text in texts], Origin.NUDGE)

    def _intervened(
        self, action: LoopAction, what: str = "", *, tool: str = "", call: ObservedCall | None = None
    ) -> None:
        self._leave(action, messages.taken(action.rung, what), tool=tool, digest=call.action if call else "")

    def _not_taken(self, action: LoopAction, why: str) -> None:
        self._leave(action, messages.not_taken(action.rung, why), applied=False)

    def _leave(
        self, action: LoopAction, detail: str, *, tool: str = "", digest: str = "", applied: bool = True
    ) -> None:
        loop, step = action.loop, self._conversation.step
        place = (loop.signature, loop.projection, action.rung, action.number, action.quota, step)
        self._conversation.emit(Intervened(*place, detail, tool, digest, applied))

    def on_event(self, event: Event) -> None:
        if isinstance(event, LoopPolicySet):
            self.announced = True
        for found in list(self._fold.see(event, self._clock.now())):
            self._conversation.emit(found)


def _files(count: int) -> str:
    return counted(count, "file")


def veto(monitor: LoopMonitor, dispatcher: ToolDispatcher, call: ToolCall) -> ToolResult | None:
    """The result of a call that a substitution replaces; None: the call may run."""
    if not monitor.kept_from(action_of(call.name, call.input)):
        return None
    routes = dispatcher.routes(call.name)
    tool = next((route.tool for route in routes if route.tool), "another way")
    answer = messages.not_made(call.name, tool)
    return ToolResult(answer, ToolOutcome.SKIPPED, f"it repeats itself → {best_of(routes) or tool}")
