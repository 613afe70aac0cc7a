"""What is remembered of a walk: where it led, which loops are under way, and the checkpoints to go back to."""

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from chapters.s22_loops.graph_agents.calling import Made
from chapters.s22_loops.graph_agents.exploration import Edge, Path
from harness.events import Event, Loop, LoopFound, LoopLeft, Projection
from harness.policies.loops.detector_set import DetectorsSnapshot

CHECKPOINTS = 100
"""How many are kept; of older ones only the very first."""
PLACES = (Projection.NODE, Projection.STATE)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How agent and detectors stood at the beginning of a step."""

    step: int
    agent: object
    detectors: DetectorsSnapshot


@dataclass(frozen=True, slots=True)
class Circle:
    """A loop, and where it runs."""

    loop: Loop
    """As it was when it was found."""
    began: int
    """Step."""
    edges: frozenset[Edge]
    """Of one round."""


class Tracks:
    """The tracks of one walk. Steps count from 1; what was there before the first one has step 0."""

    def __init__(self) -> None:
        self.used: dict[Edge, int] = {}
        """The step at which each edge was used last."""
        self.passed: set[tuple[str, str]] = set()
        """The place and the tool of each call that succeeded since the agent came there."""
        self._ways: dict[str, Sequence[Path]] = {}
        """The ways that lead on from each place that was seen."""
        self._call_steps: list[int] = []
        """Of each batch of calls that was observed, its step."""
        self._visit_steps: list[int] = []
        self._last: list[Made] = []
        """Of each tool the last call."""
        self._effects: list[tuple[int, str]] = []
        """Step and summary of each call that changed something."""
        self._loops: dict[str, Circle] = {}
        """Those under way, by signature."""
        self._checkpoints: deque[Checkpoint] = deque(maxlen=CHECKPOINTS)
        self._first: Checkpoint | None = None

    # ── what happens ────────────────────────────────────────────────────────────────────────────

    def moved(self, step: int, source: str, target: str) -> None:
        """The agent went from one place to another."""
        self.used[source, target] = step

    def visited(self, step: int, *, anew: bool) -> None:
        """A visit is observed: the agent came to a place, or it stayed where it was and did nothing."""
        self._visit_steps.append(step)
        if anew:
            self.passed.clear()

    def leads(self, place: str, paths: Sequence[Path]) -> None:
        """These ways lead on from a place."""
        self._ways[place] = paths

    def called(self, step: int, place: str, made: Sequence[Made]) -> None:
        """These calls were made side by side at a place."""
        if made:
            self._call_steps.append(step)
        for one in made:
            self._last = [*(other for other in self._last if other.call.tool != one.call.tool), one]
            if one.answer.ok:
                self.passed.add((place, one.asked.tool))
            if one.answer.ok and one.call.mutates:
                self._effects.append((step, one.call.summary))

    def keep(self, checkpoint: Checkpoint) -> None:
        """One more to go back to."""
        self._first = self._first or checkpoint
        self._checkpoints.append(checkpoint)

    def see(self, event: Event) -> None:
        """Note which loops are under way."""
        match event:
            case LoopFound(loop=loop) if loop.signature not in self._loops:
                self._loops[loop.signature] = self._circle(loop)
            case LoopLeft(signature=signature):
                self._loops.pop(signature, None)

    def went_back(self, checkpoint: Checkpoint) -> None:
        """All is as it was at a checkpoint: what was observed since then is no part of any loop."""
        for steps in (self._call_steps, self._visit_steps):
            del steps[bisect_left(steps, checkpoint.step) :]
        while self._checkpoints and self._checkpoints[-1].step > checkpoint.step:
            self._checkpoints.pop()
        self._last.clear()
        self.passed.clear()

    # ── what is asked ───────────────────────────────────────────────────────────────────────────

    @property
    def visits(self) -> int:
        """How many were noted."""
        return len(self._visit_steps)

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Those under way."""
        return tuple(circle.loop for circle in self._loops.values())

    def failed_in(self, loop: Loop) -> Made | None:
        """The last call of a tool of the loop, if it failed."""
        last = next((one for one in reversed(self._last) if one.call.tool in loop.tools), None)
        return last if last is not None and not last.answer.ok else None

    def began(self, loop: Loop) -> int:
        """The step in which a loop began that is under way."""
        return self._loops[loop.signature].began

    def cycle(self, loop: Loop) -> frozenset[Edge]:
        """The edges of one round of a loop that is under way."""
        return self._loops[loop.signature].edges

    def ways(self, loop: Loop, here: str) -> list[Path]:
        """The ways that lead on from here and from all places of the loop, each once."""
        places = dict.fromkeys((here, *(place for edge in sorted(self.cycle(loop)) for place in edge)))
        return [path for place in places for path in self._ways.get(place, ())]

    def before(self, loop: Loop) -> Checkpoint | None:
        """The newest checkpoint from before the loop, or the first one there is; None: there is none."""
        began = self.began(loop)
        older = (one for one in reversed(self._checkpoints) if one.step <= began)
        return next(older, self._first)

    def effects_since(self, step: int) -> tuple[str, ...]:
        """What was changed from a step on, and is no part of the agent."""
        return tuple(f"step {at}: {summary}" for at, summary in self._effects if at >= step)

    def _circle(self, loop: Loop) -> "Circle":
        since = self._step_of(loop, loop.period + 1)
        edges = frozenset(edge for edge, step in self.used.items() if step > since)
        return Circle(loop, self._step_of(loop, loop.period * loop.copies), edges)

    def _step_of(self, loop: Loop, back: int) -> int:
        """The step of the observation that lies so far back in the stream in which the loop was found; 0: none does."""
        steps = self._visit_steps if loop.projection in PLACES else self._call_steps
        return steps[-back] if back <= len(steps) else 0
