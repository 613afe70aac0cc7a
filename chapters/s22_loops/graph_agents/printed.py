"""A walk as lines for a person: which place, which tool, what came of it; the loops, and what was done about them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from chapters.s22_loops.graph_agents.worlds import World
from harness.base.external_text import visible
from harness.events import (
    BreakerChanged,
    BreakerState,
    Dispatched,
    Event,
    Intervened,
    LoopFound,
    LoopLeft,
    NodeVisited,
    RolledBack,
    Rung,
    StepStarted,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    WalkEnd,
    WalkEnded,
)
from harness.policies.breakers.dispatcher import RUNS

WIDTH = 79
MARGIN = " " * 6
ENDS = {
    WalkEnd.GOAL: "✓ the goal is reached",
    WalkEnd.HUMAN: "■ a person ended it",
    WalkEnd.STOP: "■ stopped: nothing freed it",
    WalkEnd.LIMIT: "■ the steps are used up",
}


def header(world: World, seed: int) -> Iterator[str]:
    """What is walked over, in two lines."""
    ways = sum(len(paths) for paths in world.paths.values())
    shape = "A → B → C → A, and out of it C → D → E" if world.name == "ring" else f"{ways} ways"
    yield f"{world.name}: {shape}; from {world.start} to {world.goal}; seed {seed}"
    yield f"tools, and how often they fail: {', '.join(f'{name} {rate:.0%}' for name, rate in world.rates.items())}"


def lines(events: Iterable[Event]) -> Iterator[str]:
    """The walk, a line for each call or move, and for each thing that was noticed or done about a loop."""
    walk = _Walk()
    yield f"{'step':>4}  {'at':<5} {'calls':<8}  outcome"
    for event in events:
        for line in walk.see(event):
            yield line if len(line) <= WIDTH else f"{line[: WIDTH - 1]}…"


@dataclass(slots=True)
class _Walk:
    """Folds events into lines. The row of a step is written when it is known to be whole."""

    step: int = 0
    node: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    """Tool and outcome of the calls that are not written yet."""
    breakers: dict[str, list[BreakerState]] = field(default_factory=dict)
    """The states that breakers went through since the last row, by tool."""
    under_way: set[str] = field(default_factory=set)
    """Signatures of loops."""
    stays: bool = False
    """It did nothing."""
    target: str = ""
    """Where this step led to."""
    row_open: bool = False
    """The row of this step is not written yet."""

    def see(self, event: Event) -> Iterator[str]:
        match event:
            case StepStarted(step=step):
                yield from self._row()
                self.step, self.row_open = step, True
            case NodeVisited(node=node, came_from=came_from):
                if self.row_open and came_from:
                    self.target = node
                elif self.row_open:
                    self.stays = True
                else:
                    self.node = node
            case Dispatched(dispatch=dispatch, tool=tool, detail=detail) if dispatch not in RUNS:
                self.calls.append((tool, f"○ not called: breaker {detail}"))
            case ToolEnded(tool=tool, outcome=outcome, summary=summary):
                self.calls.append((tool, f"{'✓' if outcome is ToolOutcome.OK else '✗'} {visible(summary)}"))
            case BreakerChanged(key=key, before=before, after=after) if before is not after:
                self.breakers.setdefault(key, [before]).append(after)
            case _:
                yield from self._said(event)

    def _said(self, event: Event) -> Iterator[str]:
        match event:
            case LoopFound(loop=loop, relapse=relapse):
                yield from self._row()
                known = "goes on" if loop.signature in self.under_way else "again" if relapse else "found"
                self.under_way.add(loop.signature)
                weak = ", weak" if loop.weak else ""
                how = ", failing" if loop.failing else ""
                what = f"{loop.copies} × {visible(loop.summary)}{how}"
                yield f"{MARGIN}⟲ loop {known} ({loop.projection.value}{weak}): {what}"
            case Intervened(rung=rung, number=number, quota=quota, detail=detail, applied=applied):
                if rung is Rung.RETRY:
                    self.calls.clear()  # the call of the retry; the line says what came of it
                yield from self._row()
                mark = "▸" if applied else "▹"
                yield f"{MARGIN}{mark} {rung.value:<10} {number}/{quota}  {visible(detail)}"
            case LoopLeft(signature=signature, freed_by=freed_by):
                self.under_way.discard(signature)
                yield from self._row()
                yield f"{MARGIN}✓ loop left{f', after {freed_by.value}' if freed_by else ' by itself'}"
            case RolledBack(not_undone=not_undone):
                for effect in not_undone:
                    yield f"{MARGIN}  not undone: {visible(effect)}"
            case StuckReported(steps_in_loop=length, next_steps=next_steps):
                yield f"{MARGIN}■ {length} steps in the loop; what a person can do:"
                for one in next_steps:
                    yield f"{MARGIN}  {visible(one)}"
            case WalkEnded():
                yield from self._row()
                yield ""
                yield from _end(event)

    def _row(self) -> Iterator[str]:
        """What the step has done so far."""
        calls = self.calls or ([("", "nothing")] if self.stays else [("", "")] if self.target else [])
        for number, (tool, outcome) in enumerate(calls, start=1):
            first = self.row_open and number == 1
            led = f"→ {self.target}" if self.target and number == len(calls) else ""
            text = "  ".join(filter(None, (outcome, led)))
            step, node = (self.step, visible(self.node)) if first else ("", "")
            yield f"{step:>4}  {node:<5} {visible(tool):<8}  {text}".rstrip()
        for tool, states in self.breakers.items():
            through = " → ".join(state.value.replace("-", " ") for state in states)
            yield f"{MARGIN}  breaker of {visible(tool)}: {through}"
        self.node = self.target or self.node
        self.calls.clear()
        self.breakers.clear()
        self.target, self.stays, self.row_open = "", False, False


def _end(end: WalkEnded) -> Iterator[str]:
    counts = f"{end.steps} steps, {end.calls} calls ({end.failed} failed), {end.interventions} interventions"
    yield f"{ENDS[end.end]}, at {visible(end.node)}"
    yield f"  {counts}, {end.waited_s:.1f} s waited"
