"""One walk: the agent chooses, tools open paths, and `harness.Watch` notices loops and says what to do about them.

The clock is virtual, and all chance comes from the seed, so the same seed gives the same walk in every process.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from random import Random

from examples.graph_agents.agent import Memory, NaiveAgent
from examples.graph_agents.worlds import Path, World
from harness import Advice, CallRefused, Watch
from harness.events import DispatchLimits, Event, LoopChoice, Rung

BREAKERS = DispatchLimits(threshold=5, budget=1_000_000)
"""A breaker opens after five failures in a row; the ladder alone decides when the walk ends."""


class End(Enum):
    """How a walk ended."""

    GOAL = "✓ the goal is reached"
    USER = "■ the user ended it"
    STOP = "■ stopped: no intervention ended the loop"
    LIMIT = "■ the steps are used up"


class ServiceUnavailable(Exception):  # noqa: N818 (the name of the status)
    """What a tool raises when the service behind it fails."""

    status = 503


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a walk."""

    number: int
    place: str
    target: str
    """Where it went; empty: it stayed."""
    tool: str = ""
    outcome: str = ""
    advice: Advice | None = None


class Walk:
    """The walk of the naive agent over a world."""

    def __init__(
        self,
        world: World,
        seed: int,
        *,
        user: LoopChoice | None = None,
        on_event: Callable[[Event], None] | None = None,
    ) -> None:
        """`user`: the answer to every question about a loop; None: no user is there."""
        self.agent = NaiveAgent(world)
        self.steps: list[Step] = []
        self.end: End | None = None
        self.seconds = 0.0
        """The virtual clock."""
        self._world = world
        self._user = user
        self._dice = {tool: Random(f"{tool} {seed}") for tool in world.rates}
        self._watch = Watch(
            world.rates,
            alternatives=world.alternatives,
            breakers=BREAKERS,
            on_event=on_event,
            clock=lambda: self.seconds,
            chance=Random(f"chance {seed}").random,
        )
        self._memories: dict[int, Memory] = {}
        """The agent at the beginning of each step."""
        self._used: dict[tuple[str, str], int] = {}
        """The step of the last use of each path, by its ends."""
        self._exit: Path | None = None
        """The path out of a loop, to take as soon as the agent is where it begins."""
        self._instead: dict[str, str] = {}
        """Replacements that were advised."""

    def run(self, most_steps: int = 100) -> End:
        self._watch.visit(self.agent.place)
        while self.end is None:
            if self.agent.place == self._world.goal:
                self.end = End.GOAL
            elif len(self.steps) == most_steps:
                self.end = End.LIMIT
            else:
                self._step(len(self.steps) + 1)
        return self.end

    def _step(self, number: int) -> None:
        place, self._memories[number] = self.agent.place, self.agent.memory
        tool, outcome = "", ""
        if self._exit is not None and self._exit.source == place:
            path, self._exit = self._exit, None
            self.agent.moved(path)
        else:
            path = self.agent.choose()
            tool = self._instead.get(path.requires, path.requires)
            opened, outcome = self._call(tool, path.target) if tool else (True, "")
            if opened:
                self.agent.go(path)
            else:
                self.agent.failed()
        target = "" if self.agent.place == place else self.agent.place
        if target:
            self._used[place, target] = number
            self._watch.visit(target)
        exits = self._exits(number)
        advice = self._watch.step(explore=[path.target for path in exits], rollback=True, human=self._user is not None)
        self.steps.append(Step(number, place, target, tool, outcome, advice))
        if advice is not None:
            self._follow(advice, exits)

    def _call(self, tool: str, place: str) -> tuple[bool, str]:
        """Call a tool: whether it opened the path, and what it returned."""
        dice = self._dice[tool]
        try:
            with self._watch.call(tool, {"place": place}, repeatable=True) as call:
                self.seconds += round(dice.uniform(0.1, 0.9), 1)
                if dice.random() < self._world.rates[tool]:
                    raise ServiceUnavailable("service unavailable")
                call.result = f"{place} is ready"
        except CallRefused:
            return False, "○ not called"
        except ServiceUnavailable as error:
            return False, f"✗ {error}"
        return True, f"✓ {call.result}"

    def _exits(self, number: int) -> list[Path]:
        """Free paths out of the last places, the least recently used first."""
        lately = {edge for edge, used in self._used.items() if number - used <= 2 * len(self._world.paths)}
        places = dict.fromkeys((self.agent.place, *(place for edge in sorted(lately) for place in edge)))
        free = [path for place in places for path in self._world.paths[place] if not path.requires]
        out = [path for path in free if (path.source, path.target) not in lately]
        return sorted(out, key=lambda path: self._used.get((path.source, path.target), 0))

    def _follow(self, advice: Advice, exits: list[Path]) -> None:
        """Carry out the advice. The texts are for a model; this agent ignores them."""
        match advice.rung:
            case Rung.RETRY:
                self.seconds += advice.delay_s  # the agent repeats the call anyway
            case Rung.EXPLORE:
                self._exit = exits[0]
            case Rung.SUBSTITUTE:
                failing = advice.loop.tools[-1]
                self._instead[failing] = advice.tool
            case Rung.ROLLBACK:
                self.agent.memory = self._memories[advice.since]
                self._watch.rolled_back(advice.since)
            case Rung.HUMAN if self._user is not None:
                self._watch.answer(advice, self._user)
                if self._user is LoopChoice.STOP:
                    self.end = End.USER
            case Rung.STOP:
                self.end = End.STOP
