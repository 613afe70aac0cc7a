"""What each rung of the ladder does to an agent that walks over a graph."""

from dataclasses import dataclass
from typing import assert_never

from chapters.s22_loops.graph_agents.calling import Chance, Desk, Made, Tell
from chapters.s22_loops.graph_agents.exploration import Path, choose
from chapters.s22_loops.graph_agents.protocols import Advisable, Agent, Person, Restorable, Resumable, Steerable
from chapters.s22_loops.graph_agents.tracks import Checkpoint, Tracks
from harness.events import (
    Alternative,
    Event,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    RolledBack,
    Rung,
    WalkEnd,
)
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.messages import nudge
from harness.policies.loops.monitor import LoopAction


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a rung."""

    detail: str
    """In one line for a person."""
    tool: str = ""
    action: str = ""
    """Digest of the call that is kept from being made."""
    applied: bool = True
    made: Made | None = None
    """The call that was made again."""
    restored: Checkpoint | None = None
    """What the agent went back to."""
    told: tuple[Event, ...] = ()
    """What happened besides."""
    end: WalkEnd | None = None


class Interventions:
    """Says which rungs apply to an agent, and carries them out."""

    def __init__(
        self,
        agent: Agent,
        desk: Desk,
        board: BreakerRegistry,
        tracks: Tracks,
        chance: Chance,
        person: Person | None,
        tell: Tell,
    ) -> None:
        self._agent = agent
        self._steerable = agent if isinstance(agent, Steerable) else None
        self._advisable = agent if isinstance(agent, Advisable) else None
        self._restorable = agent if isinstance(agent, Restorable) else None
        self._resumable = agent if isinstance(agent, Resumable) else None
        self._desk = desk
        self._board = board
        self._tracks = tracks
        self._chance = chance
        self._person = person
        self._tell = tell
        self._heading: Path | None = None
        """The way out that is to be taken as soon as the agent stands where it begins."""
        self._ended_by_person = False

    def abilities(self, loop: Loop) -> Abilities:
        """Which rungs apply to a loop now."""
        failed = self._tracks.failed_in(loop)
        way, route = self._way_out(loop, 0.0), self._route_round(failed)
        return Abilities(
            retry=failed is not None and self._may_retry(failed),
            explore=() if way is None else (way.target,),
            substitute="" if route is None else route.tool,
            rollback=self._restorable is not None and self._tracks.before(loop) is not None,
            breaker=failed is not None and self._board.viable(failed.call.tool),
            human=self._person is not None,
        )

    async def carry_out(self, action: LoopAction) -> Done:
        """Do it. What cannot be done after all is said to be so, and the next rung follows."""
        loop, failed = action.loop, self._tracks.failed_in(action.loop)
        self._heading = None
        match action.rung:
            case Rung.RETRY:
                return await self._retry(failed, action.delay_s)
            case Rung.NUDGE:
                return await self._nudge(loop)
            case Rung.EXPLORE:
                return await self._explore(loop)
            case Rung.SUBSTITUTE:
                return self._substitute(failed)
            case Rung.ROLLBACK:
                return await self._roll_back(loop)
            case Rung.BREAKER:
                return self._open_breaker(failed)
            case Rung.HUMAN:
                return await self._ask(loop)
            case Rung.STOP:
                end = WalkEnd.HUMAN if self._ended_by_person else WalkEnd.STOP
                return Done("no call is made any more", end=end)
        assert_never(action.rung)

    async def take_way_out(self) -> bool:
        """Move the agent if it stands where the way out begins; then this was its step."""
        path = self._heading
        if path is None or self._steerable is None or path.source != self._agent.where().node:
            return False
        self._heading = None
        await self._steerable.move(path)
        return True

    # ── the rungs ───────────────────────────────────────────────────────────────────────────────

    def _may_retry(self, failed: Made) -> bool:
        return self._resumable is not None and failed.call.idempotent and self._board.viable(failed.call.tool)

    async def _retry(self, failed: Made | None, delay_s: float) -> Done:
        if failed is None or self._resumable is None:
            return Done("there is no call to make again", applied=False)
        made = await self._desk.again(failed, delay_s)
        tool = failed.call.tool
        if made is None:
            return Done(f"the breaker of {tool} is open", tool=tool, applied=False)
        if made.answer.ok:
            await self._resumable.resume(made.asked.tool, made.asked.arguments, made.answer)
        outcome = "succeeded" if made.answer.ok else "failed again"
        return Done(f"{tool} again after {delay_s:.2f} s: {outcome}", tool=tool, made=made)

    async def _nudge(self, loop: Loop) -> Done:
        if self._advisable is None:
            return Done("this agent cannot be told anything", applied=False)
        await self._advisable.advise(nudge(loop))
        return Done("told that it repeats itself")

    def _way_out(self, loop: Loop, chance: float) -> Path | None:
        if self._steerable is None:
            return None
        tracks = self._tracks
        ways = tracks.ways(loop, self._agent.where().node)
        return choose(ways, cycle=tracks.cycle(loop), used=tracks.used, passed=tracks.passed, chance=chance)

    async def _explore(self, loop: Loop) -> Done:
        path = self._heading = self._way_out(loop, self._chance())
        if path is None:
            return Done("no way leads out", applied=False)
        if await self.take_way_out():
            return Done(f"moved from {path.source} to {path.target}")
        return Done(f"from {path.source} it will be moved to {path.target}")

    def _route_round(self, failed: Made | None) -> Alternative | None:
        return None if failed is None else self._desk.route_round(failed.asked)

    def _substitute(self, failed: Made | None) -> Done:
        route = self._route_round(failed)
        if failed is None or route is None:
            return Done("no other tool can do it", applied=False)
        asked = failed.asked
        self._desk.substitute(asked, route)
        detail = f"{route.tool} in place of {asked.tool}; loses {route.degradation}"
        return Done(detail, tool=asked.tool, action=asked.action)

    async def _roll_back(self, loop: Loop) -> Done:
        checkpoint = self._tracks.before(loop)
        if checkpoint is None or self._restorable is None:
            return Done("there is no checkpoint", applied=False)
        stays = await self._restorable.restore(checkpoint.agent)
        not_undone = (*self._tracks.effects_since(checkpoint.step), *stays)
        event = RolledBack(turn=1, step=checkpoint.step, not_undone=not_undone)
        detail = f"back to where step {checkpoint.step} began, at {self._agent.where().node}"
        return Done(detail, restored=checkpoint, told=(event,))

    def _open_breaker(self, failed: Made | None) -> Done:
        if failed is None:
            return Done("no tool fails", applied=False)
        self._desk.open_breaker(failed.call.tool)
        return Done(f"the breaker of {failed.call.tool} is opened", tool=failed.call.tool)

    async def _ask(self, loop: Loop) -> Done:
        choices = tuple(one for one in LoopChoice if one is not LoopChoice.ROLL_BACK or self._restorable is not None)
        asked = LoopAsked(loop, choices)
        self._tell(asked)
        choice = None if self._person is None else await self._person.decide(asked)
        if choice is None:
            return Done("nobody is there to be asked", applied=False)
        self._ended_by_person = choice is LoopChoice.STOP
        return Done(f"a person says: {choice.value.replace('_', ' ')}", told=(LoopAnswered(loop.signature, choice),))


def next_steps(loop: Loop) -> tuple[str, ...]:
    """What a person can do about an agent that was stopped."""
    tools = f"see whether {', '.join(loop.tools)} can work at all" if loop.failing and loop.tools else ""
    return tuple(filter(None, (tools, "give the agent another task, or another way to do it")))
