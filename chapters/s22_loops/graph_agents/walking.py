"""The loop that watches any agent over any graph: observe, advise, carry out, go on or end.

    step of the agent ──▶ calls and visits ──▶ orchestrator ──▶ nothing: the next step
                                                    │
                                                    └──▶ the rung that is due ──▶ carried out ──▶ the next step, or STOP

What is decided stands in `policies.loops`; here it is done, and every doing leaves events. The loop ends a walk, not
the agent: after the end no call is made, whatever the agent asks for.
"""

from collections.abc import Iterable, Sequence

from chapters.s22_loops.graph_agents.calling import Chance, Desk, Made, Tell
from chapters.s22_loops.graph_agents.interventions import Done, Interventions, next_steps
from chapters.s22_loops.graph_agents.protocols import Agent, Person, Restorable, Steerable, Tool
from chapters.s22_loops.graph_agents.tracks import Checkpoint, Tracks
from harness.base.clock import Clock
from harness.events import (
    Attempt,
    DispatchLimits,
    Event,
    Intervened,
    Loop,
    NodeVisited,
    Rung,
    StuckReported,
    WalkEnd,
    WalkEnded,
)
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.digests import canonical, digest
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.monitor import LoopAction, LoopMonitor
from harness.policies.loops.observations import Visit

MOST_STEPS = 100
LIMITS = DispatchLimits(threshold=5, budget=1_000_000)
"""A breaker opens after five failures in a row, as in the seed; how many a walk may have is for the ladder to say."""


async def walk(
    agent: Agent,
    tools: Iterable[Tool],
    *,
    clock: Clock,
    chance: Chance,
    policy: LoopLimits | None = None,
    capabilities: CapabilityMap | None = None,
    person: Person | None = None,
    most_steps: int = MOST_STEPS,
    tell: Tell | None = None,
) -> tuple[Event, ...]:
    """Let an agent walk until it is at its goal, a person or the ladder ends it, or the steps are used up.

    Args:
        agent: an agent with the methods of `protocols`; optional ones allow more interventions.
        tools: those it may call.
        clock: of the calls and of the pauses between them.
        chance: decides what is left to it; with a seeded generator the walk is always the same.
        policy: thresholds and quotas; as shipped unless given.
        capabilities: which tool can take the place of which; none can unless given.
        person: who is asked about a loop; nobody unless given.
        most_steps: 0 or more.
        tell: is given each event as it happens.

    Returns: all events; the last one is a `WalkEnded`. Raises what the agent raises.
    """
    walking = Walking(agent, tuple(tools), clock, chance, LoopMonitor(policy or LoopLimits()), capabilities, person)
    walking.listener = tell
    await walking.run(most_steps)
    return tuple(walking.events)


class Walking:
    """One walk."""

    def __init__(
        self,
        agent: Agent,
        tools: Sequence[Tool],
        clock: Clock,
        chance: Chance,
        orchestrator: LoopMonitor,
        capabilities: CapabilityMap | None,
        person: Person | None,
    ) -> None:
        self.events: list[Event] = []
        self.listener: Tell | None = None
        self._agent = agent
        self._steerable = agent if isinstance(agent, Steerable) else None
        self._restorable = agent if isinstance(agent, Restorable) else None
        self._clock = clock
        self._chance = chance
        self._orchestrator = orchestrator
        board = BreakerRegistry((tool.name for tool in tools), capabilities, LIMITS)
        self._desk = Desk(tools, board, clock, self._tell)
        self._tracks = Tracks()
        self._interventions = Interventions(agent, self._desk, board, self._tracks, chance, person, self._tell)
        self._tried: list[Intervened] = []
        self._step = 0
        self._end: WalkEnd | None = None

    async def run(self, most_steps: int) -> None:
        """See `walk`."""
        try:
            end = await self._to_the_end(most_steps)
        finally:
            self._desk.close()
        self._tell(
            WalkEnded(
                end=end,
                node=self._agent.where().node,
                steps=self._step,
                calls=self._desk.calls,
                failed=self._desk.failed,
                interventions=len(self._tried),
                waited_s=self._desk.waited_s,
            )
        )

    async def _to_the_end(self, most_steps: int) -> WalkEnd:
        self._tell(NodeVisited(self._agent.where().node, self._step))
        self._visit(anew=True)
        while self._end is None:
            if self._agent.where().at_goal:
                return WalkEnd.GOAL
            if self._step >= most_steps:
                return WalkEnd.LIMIT
            self._step += 1
            await self._one_step()
        return self._end

    async def _one_step(self) -> None:
        self._desk.begin(self._step)
        if self._restorable is not None:
            self._tracks.keep(Checkpoint(self._step, self._restorable.checkpoint(), self._orchestrator.snapshot()))
        before = self._agent.where().node
        if not await self._interventions.take_way_out():
            await self._agent.step(self._desk)
        self._observe(before, self._desk.made())
        await self._climb()

    # ── what is seen ────────────────────────────────────────────────────────────────────────────

    def _observe(self, before: str, made: Sequence[Made]) -> None:
        """Take in the calls of a step, and the place that was come to."""
        refused = [loop for loop in self._tracks.loops if self._desk.refused.intersection(loop.tools)]
        here = self._agent.where().node
        moved = here != before
        idle = not moved and not made and not refused  # whoever does nothing again and again goes in circles too
        if moved:
            self._tracks.moved(self._step, before, here)
        if moved or idle:
            self._tell(NodeVisited(here, self._step, before if moved else ""))
        self._called(before, made)
        if moved or idle:
            self._visit(anew=moved)
        for loop in refused:
            self._note(self._orchestrator.ignored(loop.signature, self._step))

    def _called(self, place: str, made: Sequence[Made]) -> None:
        self._tracks.called(self._step, place, made)
        if made:
            self._note(self._orchestrator.step([one.call for one in made]))

    def _visit(self, *, anew: bool) -> None:
        where, now = self._agent.where(), self._clock.now()
        self._tracks.visited(self._step, anew=anew)
        self._look_round()
        state = "" if where.state is None else digest(where.node, canonical(where.state))
        at = now - self._desk.waited_s
        visit = Visit(self._tracks.visits, self._step, at, now, where.node, state, where.path)
        self._note(self._orchestrator.visit(visit))

    def _look_round(self) -> None:
        if self._steerable is not None:
            self._tracks.leads(self._agent.where().node, self._steerable.paths())

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            self._tracks.see(event)
            self._tell(event)

    def _tell(self, event: Event) -> None:
        self.events.append(event)
        if self.listener is not None:
            self.listener(event)

    # ── what is done ────────────────────────────────────────────────────────────────────────────

    async def _climb(self) -> None:
        """Take the rungs that are due, one after the other."""
        while self._end is None and not self._agent.where().at_goal and (loop := self._orchestrator.due) is not None:
            action = self._orchestrator.advise(self._interventions.abilities(loop), self._chance())
            if action is None:
                return
            before = self._agent.where().node
            done = await self._interventions.carry_out(action)
            self._intervened(action, done)
            self._follow(before, action.loop, done)

    def _intervened(self, action: LoopAction, done: Done) -> None:
        loop = action.loop
        event = Intervened(
            signature=loop.signature,
            projection=loop.projection,
            rung=action.rung,
            number=action.number,
            quota=action.quota,
            step=self._step,
            detail=done.detail,
            tool=done.tool,
            action=done.action,
            applied=done.applied,
        )
        self._tried.append(event)
        for one in (event, *done.told):
            self._tell(one)
            self._orchestrator.on_event(one)

    def _follow(self, before: str, loop: Loop, done: Done) -> None:
        """Take in what a rung brought about."""
        if done.made is not None:
            self._called(before, [done.made])
        if done.restored is not None:
            self._orchestrator.rolled_back(done.restored.detectors)
            self._tracks.went_back(done.restored)
            self._look_round()
            self._tell(NodeVisited(self._agent.where().node, self._step))
        elif (here := self._agent.where().node) != before:
            self._tracks.moved(self._step, before, here)
            self._tell(NodeVisited(here, self._step, before))
            self._visit(anew=True)
        if done.end is not None:
            self._end = done.end
            self._desk.close()
            self._tell(self._report(loop))

    def _report(self, loop: Loop) -> StuckReported:
        tried = tuple(Attempt(one.rung, one.step, one.detail) for one in self._tried if one.rung is not Rung.STOP)
        length = self._step - self._tracks.began(loop) + 1
        return StuckReported(loop, self._step, tried, length, next_steps(loop))
