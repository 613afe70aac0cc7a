"""`from harness import Agent, tool`: the library is the same loop."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness import Agent, HookAnswer, HookCall, Opening, Policies, hook, open_session, tool
from harness.engine.build.from_settings import recovery_limits
from harness.events import (
    DispatchLimits,
    Fault,
    FaultKind,
    HookRan,
    ModelSwitched,
    Outcome,
    RetryScheduled,
    TextDelta,
    ToolEnded,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.policies.admission.controller import AdmissionLimits
from harness.policies.loops.limits import LoopLimits
from harness.policies.recovery import Decision, RecoveryLimits, Situation, SwitchModel, TurnState, decide
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.tools import Effect
from tests.agent.stage import VirtualClock, calls, fails, played, says, settings_of, stage
from tests.agent.test_agents import of_subagent, task

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]

EXAMPLE = """
import asyncio
from harness import Agent, tool

@tool
def weather(city: str) -> str:
    "The weather in a city."
    return f"It is raining in {city}."

async def main() -> None:
    async with Agent(tools=[weather], permission_mode="yolo") as agent:
        async for event in agent.run("What is the weather in Oslo?"):
            print(event)

asyncio.run(main())
"""


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as a user of the library would, with every warning an error, unclosed things included."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_ten_lines_run_an_agent_with_a_tool_of_ones_own_and_close_without_a_sound(tmp_path: Path) -> None:
    ran = python(EXAMPLE, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "It is raining in Oslo" in ran.stdout
    assert "TurnEnded" in ran.stdout.splitlines()[-1]


def test_importing_the_package_loads_neither_pydantic_nor_the_sdk(tmp_path: Path) -> None:
    code = (
        "import sys, harness\n"
        "print(harness.__version__, sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'pydantic', 'anthropic', 'httpx2', 'textual', 'tiktoken', 'asyncio'}))\n"
        "from harness import Agent, tool\n"
        "print(Agent.__name__, callable(tool), 'anthropic' in sys.modules)\n"
    )
    assert python(code, tmp_path).stdout.splitlines() == [f"{harness.__version__} []", "Agent True False"]


def test_a_name_that_the_package_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="agnet"):
        getattr(harness, "agnet")  # noqa: B009 (a type checker would see the mistake)
    assert {"Agent", "tool"} <= set(harness.__all__)


async def test_an_agent_of_ones_own_asks_before_its_tool_runs_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))

    @tool(effect=Effect.READ)
    def weather(city: str) -> str:
        "The weather in a city."
        return f"It is raining in {city}."

    @tool
    def umbrella(city: str) -> str:
        "Open an umbrella in a city."
        return "open"

    async with Agent(tools=[weather, umbrella], practice=True) as agent:
        turn = await played(agent.run("What is the weather in Oslo?"))
        assert [event.outcome for event in turn.of(ToolEnded)] == ["ok"]
        assert "raining in Oslo" in turn.end.answer
        assert agent.parts.core.shared.connection.address.startswith("http://127.0.0.1:")


async def test_closing_twice_and_opening_again_is_no_trouble(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        assert (await here.turn()).end.answer == "One."
        await here.agent.aclose()
        await here.agent.aclose()
        turn = await here.turn()
        assert isinstance(turn.events[-1], TurnEnded)
        assert turn.end.answer == "Two."


# ── tools, hooks and policies of one's own ──────────────────────────────────────────────────────────


@tool(effect=Effect.READ)
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is raining in {city}."


@hook("before_tool", tools="weather")
def no_bergen(call: HookCall) -> HookAnswer | None:
    """Nobody asks about Bergen."""
    return HookAnswer(block="not Bergen") if call.input["city"] == "Bergen" else None


def asks(city: str) -> str:
    """A call of the tool, for a script."""
    return calls(f'{{ name = "weather", input = {{ city = "{city}" }} }}')


def names(**arguments: object) -> tuple[str, ...]:
    """The tools of an agent that is made so."""
    return Agent(practice=True, **arguments).toolbox.names  # type: ignore[arg-type]


def test_tools_of_ones_own_join_the_standard_ones_and_none_is_lost() -> None:
    standard = names()
    assert {"bash", "read_file", "agent", "remember", "kill_background"} <= set(standard)
    assert names(tools=[weather]) == (*standard, "weather")
    assert names(tools=(one for one in [weather])) == (*standard, "weather")
    assert names(tools=[weather], standard=["grep", "bash"]) == ("bash", "grep", "weather")
    assert names(tools=[weather], standard=()) == ("weather",)


def plain(city: str) -> str:
    """No tool."""
    return city


WRONG: list[tuple[dict[str, object], type[Exception], str]] = [
    ({"tools": [plain]}, TypeError, "plain is a plain function; put @tool above"),
    ({"tools": weather}, TypeError, r"write tools=\[weather\]"),
    ({"tools": ["bash"]}, TypeError, "'bash' is not a tool"),
    ({"tools": [weather, weather]}, ValueError, "two tools called weather"),
    ({"tools": [tool(name="bash")(plain)]}, ValueError, "standard tool called bash already"),
    ({"standard": ["gerp"]}, ValueError, "no standard tool called 'gerp'; perhaps grep"),
    ({"standard": "bash"}, TypeError, r'write standard=\["bash"\]'),
    ({"hooks": [plain]}, TypeError, "plain is a plain function; put @hook"),
    ({"hooks": no_bergen}, TypeError, r"write hooks=\[no_bergen\]"),
]


@pytest.mark.parametrize(("arguments", "kind", "text"), WRONG, ids=[text for _, _, text in WRONG])
def test_what_cannot_be_handed_in_is_refused_in_one_sentence(
    arguments: dict[str, object], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text) as raised:
        names(**arguments)
    assert "\n" not in str(raised.value)


def test_settings_and_single_settings_are_not_mixed(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="max_retries=, not both"):
        Agent(settings_of(tmp_path, "http://127.0.0.1:9").settings, max_retries=1)


async def test_a_subagent_may_use_them_and_gets_no_standard_tool_that_its_parent_lacks(tmp_path: Path) -> None:
    script = calls(task()) + of_subagent(asks("Oslo")) + of_subagent(says("Rain.")) + says("It rains.")
    async with PracticeServer(script=Script.parse(script)) as server:
        settings = settings_of(tmp_path, server.base_url).settings
        async with Agent(settings, tools=[weather], standard=["agent", "grep"]) as agent:
            assert (await played(agent.run("Oslo?"))).end.answer == "It rains."
        bodies = [request.body for request in server.requests if request.path == "/v1/messages"]
        assert [one["name"] for one in bodies[1]["tools"]] == ["grep", "weather"]
        assert "It is raining in Oslo." in str(bodies[2]["messages"])


async def test_a_session_takes_them_again_when_it_is_resumed(tmp_path: Path) -> None:
    script = asks("Oslo") + says("Rain.") + asks("Bergen") + says("Rain, too.")
    async with PracticeServer(script=Script.parse(script)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        policies = Policies(breakers=DispatchLimits(threshold=2))
        async with await open_session(loaded, tools=[weather], hooks=[no_bergen], policies=policies) as session:
            turn = await played(session.run("Oslo?"))
            assert [event.summary for event in turn.of(ToolEnded)] == ["It is raining in Oslo."]
            assert (session.breakers.limits.threshold, "bash" in {one.name for one in session.tools}) == (2, True)
        again = await open_session(loaded, opening=Opening("latest"), tools=[weather], hooks=[no_bergen])
        async with again as session:
            turn = await played(session.run("Bergen?"))
            assert [event.outcome for event in turn.of(HookRan)] == ["blocked"]
            assert "not Bergen" in turn.results[0]["content"]
        async with await open_session(loaded, opening=Opening("latest"), standard=["grep"]) as session:
            assert [one.name for one in session.tools] == ["grep"]


async def test_a_session_needs_no_more_than_an_agent_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    async with await open_session(tools=[weather], practice=True) as session:
        assert "raining in Oslo" in (await played(session.run("What is the weather in Oslo?"))).end.answer
    with pytest.raises(TypeError, match="practice=, not both"):
        await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), practice=True)


async def test_a_policy_of_ones_own_decides(tmp_path: Path) -> None:
    other = "claude-haiku-4-5"

    def switch_at_once(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
        if isinstance(outcome, Fault) and outcome.kind is FaultKind.RATE_LIMIT:
            return SwitchModel(state.on_next_model(situation.now, limits), "limited", other)
        return decide(state, outcome, limits, situation)

    async with PracticeServer(script=Script.parse(fails(429) + says("Here."))) as server:
        settings = settings_of(tmp_path, server.base_url, fallback_models=(other,)).settings
        async with Agent(settings, policies=Policies(decide=switch_at_once), clock=VirtualClock()) as agent:
            turn = await played(agent.run("Hello"))
    assert (turn.end.answer, turn.of(RetryScheduled)) == ("Here.", [])
    assert [event.to_model for event in turn.of(ModelSwitched)] == [other]


async def test_numbers_of_policies_replace_the_settings_also_for_subagents(tmp_path: Path) -> None:
    policies = Policies(
        recovery=RecoveryLimits(retries_per_request=1, max_steps=9),
        breakers=DispatchLimits(threshold=4),
        loops=LoopLimits().with_changes(copies=7),
        admission=AdmissionLimits(max_concurrent=1, max_queue_size=2),
    )
    script = calls(task()) + of_subagent(fails(500, times='"forever"')) + says("A pity.")
    async with PracticeServer(script=Script.parse(script)) as server:
        settings = settings_of(tmp_path, server.base_url, subagent_steps=3).settings
        async with Agent(settings, policies=policies, clock=VirtualClock()) as agent:
            assert (await played(agent.run("Oslo?"))).end.answer == "A pity."
            assert agent.parts.breakers.registry.limits.threshold == 4
            assert agent.parts.loops.status.policy.thresholds.copies == 7
            limits = recovery_limits(settings, interactive=False, given=policies.recovery, is_subagent=True)
            assert (limits.max_steps, limits.retries_per_request) == (settings.max_steps, 1)
            assert agent.parts.background is not None
            assert agent.parts.background.admission[0].limits.max_concurrent == 1
        posts = [request for request in server.requests if request.path == "/v1/messages"]
    assert len(posts) == 4  # two of the subagent: one retry


async def test_a_policy_that_returns_no_decision_ends_the_turn_with_a_sentence(tmp_path: Path) -> None:
    def forgets(*_: object) -> None:
        return None

    async with PracticeServer(script=Script.parse(says("Here."))) as server:
        settings = settings_of(tmp_path, server.base_url).settings
        async with Agent(settings, policies=Policies(decide=forgets)) as agent:  # type: ignore[arg-type]
            end = (await played(agent.run("Hello"))).end
    assert end.code is TransitionCode.MODEL_ERROR
    assert "must return a decision of harness.policies.recovery, not None" in end.reason


@pytest.mark.parametrize("name", ["decide", "recovery", "breakers", "loops", "admission"])
def test_a_policy_that_cannot_be_handed_in_is_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(TypeError, match=rf"Policies\({name}=…\) takes"):
        Policies(**{name: object()})  # type: ignore[arg-type]


async def test_a_turn_asked_for_while_another_runs_comes_after_it(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        first, second = await asyncio.gather(here.turn("first"), here.turn("second"))
        assert (first.end.answer, second.end.answer) == ("One.", "Two.")
        for turn in (first, second):
            assert len(turn.of(TurnStarted)) == len(turn.of(TurnEnded)) == 1


async def test_a_loop_that_was_left_early_takes_nothing_from_the_next_turn(tmp_path: Path) -> None:
    script = Script.parse(says("The first of two answers.", event_delay="0.05") + says("Two."))
    async with PracticeServer(script=script) as server, Agent(settings_of(tmp_path, server.base_url).settings) as agent:
        async for event in agent.run("first"):
            if isinstance(event, TextDelta):
                break
        assert (await played(agent.run("second"))).end.answer == "Two."


async def test_a_turn_that_is_given_up_while_it_waits_for_another_never_begins(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.", event_delay="0.02") + says("Three.")) as here:
        first, second = asyncio.create_task(here.turn("first")), asyncio.create_task(here.turn("second"))
        await asyncio.sleep(0)
        second.cancel()
        assert (await first).end.answer == "One."
        assert (await here.turn("third")).end.answer == "Three."
        assert here.agent.conversation.turn == 2
