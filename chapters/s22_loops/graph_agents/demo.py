"""`harness loops demo`: a simulated agent goes in circles, and is got out of them, or stopped."""

import asyncio
import json
from argparse import Namespace
from collections.abc import Iterator
from random import Random
from typing import Literal

from chapters.s22_loops.graph_agents.naive import NaiveAgent
from chapters.s22_loops.graph_agents.printed import header, lines
from chapters.s22_loops.graph_agents.protocols import Person
from chapters.s22_loops.graph_agents.unreliable import tools_of
from chapters.s22_loops.graph_agents.virtual_clock import VirtualClock
from chapters.s22_loops.graph_agents.walking import MOST_STEPS, walk
from chapters.s22_loops.graph_agents.worlds import World, random_graph, ring
from harness.events import Event, LoopAsked, LoopChoice, WalkEnd, WalkEnded, encode


class AnswersAlways:
    """A person who always gives the same answer."""

    def __init__(self, choice: LoopChoice) -> None:
        self._choice = choice

    async def decide(self, asked: LoopAsked) -> LoopChoice | None:
        """The answer, if it is one of the choices."""
        return self._choice if self._choice in asked.choices else None


class Demo:
    """One walk of the naive agent on a virtual clock: the same seed gives the same walk, byte for byte."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.seed = seed
        self.records: list[tuple[float, Event]] = []
        """The events, and their moments in seconds since the walk began."""

    async def run(self, *, most_steps: int = MOST_STEPS, person: Person | None = None) -> WalkEnd:
        """Walk, and say how it ended."""
        clock = VirtualClock()
        events = await walk(
            NaiveAgent(self.world),
            tools_of(self.world, self.seed, clock),
            clock=clock,
            chance=Random(f"chance {self.seed}").random,
            capabilities=self.world.capabilities,
            person=person,
            most_steps=most_steps,
            tell=lambda event: self.records.append((clock.now(), event)),
        )
        match events[-1]:
            case WalkEnded(end=end):
                return end
        raise AssertionError("a walk ends with its end")

    def as_text(self) -> Iterator[str]:
        """For a person, at most 79 columns wide."""
        yield from header(self.world, self.seed)
        yield ""
        yield from lines(event for _, event in self.records)

    def as_json(self) -> Iterator[str]:
        """A line of JSON for each event, as in a journal."""
        for number, (at, event) in enumerate(self.records, start=1):
            yield json.dumps({"seq": number, "at": round(at, 3), **encode(event)}, separators=(",", ":"))


def world_of(graph: Literal["ring", "random"], size: int, seed: int, fail_rate: float | None) -> World:
    """The graph that was asked for."""
    return ring(fail_rate) if graph == "ring" else random_graph(size, seed, fail_rate)


def main(options: Namespace) -> int:
    """Run `harness loops demo` with its options; returns the exit code."""
    demo = Demo(world_of(options.graph, options.size, options.seed, options.fail_rate), options.seed)
    user = AnswersAlways(LoopChoice(options.user)) if options.user else None
    end = asyncio.run(demo.run(most_steps=options.steps, person=user))
    for line in demo.as_json() if options.json else demo.as_text():
        print(line)
    return 0 if end is WalkEnd.GOAL else 3
