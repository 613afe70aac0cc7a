"""Any agent over any graph: what is seen of it, what is done to it, and the end."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import TypeVar

import pytest

from chapters.s22_loops.graph_agents.calling import Chance, Stopped
from chapters.s22_loops.graph_agents.exploration import Path
from chapters.s22_loops.graph_agents.protocols import Agent, Answer, Arguments, Caller, ToolFailed, Where
from chapters.s22_loops.graph_agents.virtual_clock import VirtualClock
from chapters.s22_loops.graph_agents.walking import walk
from harness.events import (
    BreakerChanged,
    Dispatch,
    Dispatched,
    Event,
    Intervened,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    NodeVisited,
    RolledBack,
    Rung,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    WalkEnd,
    WalkEnded,
)
from harness.policies.breakers.capabilities import Capability, CapabilityMap, DeclaredAlternative
from harness.policies.loops.limits import LoopLimits
from tests.chapters.graph_agents.agents import Calling, Circling, Deaf, Decides, ScriptedTool, refuses

pytestmark = pytest.mark.anyio

E = TypeVar("E", bound=Event)
POLICY = LoopLimits()
QUOTAS = sum(POLICY.quota(rung) for rung in Rung if rung is not Rung.STOP)
NO_RETRIES = LoopLimits(retries=0)
SOMETHING_ELSE = CapabilityMap(
    (
        Capability("door", "opens", "push", (DeclaredAlternative("window", "climb through", "dignity"),)),
        Capability("window", "opens", "push"),
    )
)


async def watched(
    agent: Agent,
    *tools: ScriptedTool,
    policy: LoopLimits = POLICY,
    capabilities: CapabilityMap | None = None,
    person: Decides | None = None,
    clock: VirtualClock | None = None,
    chance: Chance | None = None,
    most_steps: int = 100,
) -> tuple[Event, ...]:
    return await walk(
        agent,
        tools,
        clock=clock or VirtualClock(),
        chance=chance or Random(1).random,
        policy=policy,
        capabilities=capabilities,
        person=person,
        most_steps=most_steps,
    )


def of(events: Sequence[Event], kind: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kind)]


def end_of(events: Sequence[Event]) -> WalkEnded:
    assert isinstance(events[-1], WalkEnded)
    return events[-1]


def rungs(events: Sequence[Event]) -> list[Rung]:
    return [event.rung for event in of(events, Intervened) if event.applied]


# ── an agent that can do nothing but take steps ─────────────────────────────────────────────────


@pytest.mark.parametrize("places", ["A", "AB", "ABC", "ABCDEFG"])
async def test_one_that_only_goes_round_is_seen_and_stopped(places: str) -> None:
    end = end_of(events := await watched(Circling(places)))
    period = len(places)
    found = of(events, LoopFound)[0]
    matched = max(2 * period, 8)
    assert found.step == matched + period - 1  # the first visit is before the first step
    assert end.end is WalkEnd.STOP
    assert end.steps <= found.step + period * QUOTAS
    assert rungs(events) == [Rung.STOP]
    assert len(of(events, StuckReported)) == 1


async def test_one_that_only_calls_a_broken_tool_is_stopped_within_the_quotas() -> None:
    tool = ScriptedTool("door", refuses)
    end = end_of(events := await watched(Calling("door"), tool))
    assert end.end is WalkEnd.STOP
    assert end.steps <= POLICY.thresholds.copies_failing + QUOTAS
    assert rungs(events) == [Rung.BREAKER, Rung.STOP]
    assert of(events, StuckReported)[0].loop.tools == ("door",)


async def test_one_that_repeats_a_success_for_ever_is_stopped_too() -> None:
    end = end_of(await watched(Calling("door"), ScriptedTool("door", lambda _: "open")))
    assert end.end is WalkEnd.STOP
    assert end.steps <= POLICY.thresholds.copies + QUOTAS


async def test_one_that_ignores_everything_is_stopped_within_quotas_and_delays() -> None:
    agent = Deaf("door")
    end = end_of(await watched(agent, ScriptedTool("door", refuses), person=Decides(LoopChoice.CONTINUE, None)))
    assert end.end is WalkEnd.STOP
    assert agent.told > 0
    delay = POLICY.thresholds.copies_failing
    doubled = 2 * (delay + QUOTAS)  # the person said to go on
    assert end.steps <= doubled + delay


async def test_one_that_does_something_new_each_time_is_left_alone_until_its_steps_are_used_up() -> None:
    class Counting(Calling):
        async def step(self, call: Caller) -> None:
            self.answers.append(await call("door", {"number": len(self.answers)}))

    events = await watched(Counting("door"), ScriptedTool("door", lambda arguments: f"{arguments['number']}"))
    assert end_of(events).end is WalkEnd.LIMIT
    assert end_of(events).steps == 100
    assert not of(events, LoopFound)


# ── the end ─────────────────────────────────────────────────────────────────────────────────────


async def test_nothing_is_called_after_the_stop_whatever_the_agent_asks_for() -> None:
    agent = Calling("door")
    tool = ScriptedTool("door", refuses)
    await watched(agent, tool)
    ran = len(tool.ran)
    assert agent.caller is not None
    with pytest.raises(Stopped):
        await agent.caller("door", {})
    assert len(tool.ran) == ran


async def test_at_the_goal_nothing_more_is_done() -> None:
    class Arrived(Circling):
        def where(self) -> Where:
            return Where("A", at_goal=True)

    agent = Arrived("A")
    assert end_of(await watched(agent)) == WalkEnded(WalkEnd.GOAL, "A", 0, 0, 0, 0, 0.0)
    assert agent.steps == 0


async def test_a_walk_of_no_steps_takes_none() -> None:
    agent = Circling("AB")
    assert end_of(await watched(agent, most_steps=0)).end is WalkEnd.LIMIT
    assert agent.steps == 0


async def test_what_an_agent_raises_is_not_hidden() -> None:
    with pytest.raises(KeyError, match="window"):
        await watched(Calling("window"), ScriptedTool("door", refuses))


async def test_a_walk_can_be_cancelled_in_the_pause_before_a_retry() -> None:
    class Standing(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            paused.set()
            await asyncio.Event().wait()

    paused = asyncio.Event()
    tool = ScriptedTool("door", refuses)
    agent = Deaf("door")
    walking = asyncio.create_task(watched(agent, tool, clock=Standing()))
    await paused.wait()
    ran = len(tool.ran)
    walking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await walking
    assert len(tool.ran) == ran == POLICY.thresholds.copies_failing
    assert agent.caller is not None
    with pytest.raises(Stopped):
        await agent.caller("door", {})


# ── the rungs ───────────────────────────────────────────────────────────────────────────────────


class Opening(Deaf):
    """Is at its goal as soon as a call succeeds, its own or one that was made again for it."""

    opened = False

    def where(self) -> Where:
        return Where("here", at_goal=self.opened)

    async def step(self, call: Caller) -> None:
        await super().step(call)
        self.opened = self.answers[-1].ok

    async def resume(self, tool: str, arguments: Arguments, answer: Answer) -> None:
        assert (tool, arguments) == (self.tool, self.arguments)
        self.opened = answer.ok


def opens_at(attempt: int) -> ScriptedTool:
    def does(arguments: Arguments) -> str:
        if len(tool.ran) < attempt:
            raise ToolFailed("service unavailable", status=503)
        return "open"

    tool = ScriptedTool("door", does)
    return tool


async def test_a_retry_repeats_the_original_call_after_a_pause_and_hands_over_what_came_of_it() -> None:
    clock, tool = VirtualClock(), opens_at(5)
    end = end_of(events := await watched(Opening("door", {"key": 7}), tool, clock=clock))
    assert end.end is WalkEnd.GOAL
    assert end.steps == 3
    assert tool.ran == [{"key": 7}] * 5
    assert rungs(events) == [Rung.RETRY, Rung.RETRY]
    assert 0 < end.waited_s == clock.now() <= 0.1 + 0.2
    assert of(events, LoopLeft)[-1].freed_by is Rung.RETRY


class Noting(VirtualClock):
    """Notes how long it was slept on."""

    def __init__(self) -> None:
        super().__init__()
        self.pauses: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await super().sleep(seconds)


async def test_pauses_are_random_below_a_limit_that_doubles_and_no_pause_adds_to_another() -> None:
    pauses = []
    for seed in range(100):
        clock = Noting()
        await watched(Opening("door"), opens_at(5), clock=clock, chance=Random(seed).random)
        pauses.append(clock.pauses)
    for number, limit in enumerate((0.1, 0.2)):
        nth = [one[number] for one in pauses]
        assert 0 <= min(nth) < 0.1 * limit < 0.9 * limit < max(nth) < limit


async def test_a_long_pause_changes_nothing_of_what_is_decided() -> None:
    class Slow(VirtualClock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(10_000)

    hurried, patient = [
        rungs(await watched(Deaf("door"), ScriptedTool("door", refuses), clock=clock))
        for clock in (VirtualClock(), Slow())
    ]
    assert hurried == patient


async def test_a_call_that_could_do_harm_is_never_made_again() -> None:
    tool = opens_at(5)
    tool.idempotent = False
    events = await watched(Opening("door"), tool)
    assert Rung.RETRY not in rungs(events)
    assert end_of(events).waited_s == 0


async def test_a_persistent_failure_is_not_retried() -> None:
    def forbidden(arguments: Arguments) -> str:
        raise ToolFailed("no", status=403)

    assert Rung.RETRY not in rungs(await watched(Opening("door"), ScriptedTool("door", forbidden)))


async def test_another_tool_takes_the_place_of_the_failing_one_under_its_own_name() -> None:
    window = ScriptedTool("window", lambda _: "open")
    agent = Opening("door")
    events = await watched(agent, ScriptedTool("door", refuses), window, policy=NO_RETRIES, capabilities=SOMETHING_ELSE)
    assert end_of(events).end is WalkEnd.GOAL
    (done,) = [event for event in of(events, Intervened) if event.rung is Rung.SUBSTITUTE]
    assert "dignity" in done.detail
    assert (done.tool, done.action != "") == ("door", True)
    assert agent.answers[-1] == Answer(ok=True, text="open", tool="window")
    assert of(events, ToolStarted)[-1].tool == "window"
    assert len(window.ran) == 1


async def test_the_breaker_is_asked_before_every_call_and_an_open_one_lets_only_probes_through() -> None:
    events = await watched(Calling("door"), ScriptedTool("door", refuses))
    let_through = [event for event in of(events, Dispatched) if event.dispatch in (Dispatch.CALL, Dispatch.PROBE)]
    assert [event.call_id for event in let_through] == [event.call_id for event in of(events, ToolStarted)]
    opened = next(n for n, event in enumerate(events) if isinstance(event, Intervened) and event.rung is Rung.BREAKER)
    assert isinstance(events[opened - 1], BreakerChanged)
    assert Dispatch.CALL not in {event.dispatch for event in of(events[opened:], Dispatched)}


async def test_a_rollback_lists_what_it_cannot_undo() -> None:
    class Writing(Deaf):
        async def step(self, call: Caller) -> None:
            if not self.answers:
                self.answers.append(await call("pen", {"line": "one"}))
            else:
                await super().step(call)

        async def restore(self, checkpoint: object) -> Sequence[str]:
            return ("a letter was sent",)

    door, pen = ScriptedTool("door", refuses), ScriptedTool("pen", lambda _: "written", mutates=True)
    events = await watched(Writing("door"), door, pen, policy=NO_RETRIES)
    back = of(events, RolledBack)[0]
    assert back.step == 2
    assert back.not_undone == ("a letter was sent",)

    class Scribbling(Writing):
        async def step(self, call: Caller) -> None:
            await call("pen", {"line": "one"})

    first = of(await watched(Scribbling("door"), pen, policy=NO_RETRIES), RolledBack)[0]
    assert first.not_undone[0] == "step 1: pen(line=one)"


async def test_the_way_out_may_begin_somewhere_else_in_the_circle() -> None:
    class Steered(Circling):
        def where(self) -> Where:
            return Where("D", at_goal=True) if self.steps < 0 else super().where()

        def paths(self) -> Sequence[Path]:
            here = self.where().node
            after = self.places[(self.steps + 1) % len(self.places)]
            return (Path(here, after), Path(here, "D")) if here == "C" else (Path(here, after),)

        async def move(self, path: Path) -> None:
            assert path in self.paths()
            self.steps = -1

    events = await watched(Steered("ABC"))
    assert end_of(events).end is WalkEnd.GOAL
    assert rungs(events) == [Rung.EXPLORE]
    assert of(events, NodeVisited)[-1].came_from == "C"
    assert of(events, LoopLeft)[-1].freed_by is Rung.EXPLORE


@pytest.mark.parametrize(
    ("choices", "end"),
    [
        ([LoopChoice.STOP], WalkEnd.HUMAN),
        ([LoopChoice.CONTINUE, LoopChoice.CONTINUE, LoopChoice.STOP], WalkEnd.HUMAN),
        ([LoopChoice.CONTINUE, None], WalkEnd.STOP),
        ([LoopChoice.OFF], WalkEnd.LIMIT),
        ([None], WalkEnd.STOP),
    ],
)
async def test_a_person_decides_when_nothing_milder_is_left(choices: list[LoopChoice | None], end: WalkEnd) -> None:
    person = Decides(*choices)
    events = await watched(Circling("AB"), person=person)
    assert end_of(events).end is end
    assert len(person.asked) == len(choices)
    assert of(events, LoopAsked) == person.asked
    assert LoopChoice.ROLL_BACK not in person.asked[0].choices  # this agent cannot


# ── an agent of others ──────────────────────────────────────────────────────────────────────────


class StateGraph:
    """A graph in the way of others: nodes are functions from state to state, edges say which one comes next."""

    def __init__(self) -> None:
        self.state: dict[str, object] = {"node": "plan", "found": [], "advice": ""}

    def where(self) -> Where:
        state = {name: value for name, value in self.state.items() if name != "node"}
        return Where(str(self.state["node"]), state, at_goal=self.state["node"] == "done")

    async def step(self, call: Caller) -> None:
        match self.state["node"]:
            case "plan":
                self.state["node"] = "search"
            case "search":
                both = await asyncio.gather(call("web", {"q": "x"}), call("files", {"q": "x"}))
                found = [answer.text for answer in both if answer.ok]
                self.state |= {"found": found, "node": "judge"}
            case "judge":
                self.state["node"] = "done" if self.state["advice"] else "plan"

    async def advise(self, text: str) -> None:
        self.state["advice"] = text


async def test_an_agent_of_others_is_watched_through_the_protocols_alone() -> None:
    agent = StateGraph()
    web, files = ScriptedTool("web", lambda _: "nothing"), ScriptedTool("files", lambda _: "no file")
    events = await watched(agent, web, files)
    assert end_of(events).end is WalkEnd.GOAL
    assert "repeating yourself" in str(agent.state["advice"])
    assert rungs(events)[0] is Rung.NUDGE
    assert {event.outcome for event in of(events, ToolEnded)} == {ToolOutcome.OK}
    assert "plan → search" in of(events, LoopFound)[0].loop.summary


async def test_in_which_order_calls_side_by_side_end_makes_no_difference() -> None:
    class Slow(ScriptedTool):
        async def run(self, arguments: Arguments) -> str:
            for _ in range(dice.randrange(4)):
                await asyncio.sleep(0)
            return await super().run(arguments)

    dice, found = Random(3), []
    for _ in range(8):
        tools = Slow("web", lambda _: "nothing"), Slow("files", lambda _: "no file")
        found.append(of(await watched(StateGraph(), *tools), LoopFound)[0])
    assert set(found) == {found[0]}
