"""Faults of tools: what a call gives instead of its result, and which calls are hit."""

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Event, FailureCategory, ToolEnded, ToolOutcome, ToolStarted
from harness.practice.faults.tool_faults import KIND, WAITS, ToolFaultError, ToolFaultKind, ToolFaults, parse
from harness.practice.toml_table import ScriptError
from harness.tools import Effect, Tool, ToolContext, ToolError, ToolResult, Workspace, standard_tools, tool
from tests.agent.stage import Played, calls, says, stage
from tests.agent.test_tool_rounds import call
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

DOCUMENT = Path(__file__).parents[3] / "harness" / "practice" / "faults" / "TOOL_FAULTS.md"


def counting(name: str = "count") -> Tool:
    """A tool that counts its real runs."""
    ran = iter(range(1, 1000))

    @tool(name=name, effect=Effect.READ)
    async def count(of: str = "") -> str:
        "Count."
        return str(next(ran))

    return count


async def answers(faulty: Tool, context: ToolContext, *inputs: str) -> list[ToolResult]:
    """What calls with these inputs give, one after the other."""
    return [await faulty.run(context, faulty.parse({"of": value})) for value in inputs]


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return ToolContext(Workspace(tmp_path), tmp_path / "outputs", "call_1")


def faulty(text: str, *tools: Tool) -> tuple[Tool, ...]:
    """Tools with the faults of a file."""
    return parse(text, "faults.toml").applied(tools or (counting(),))


def entry(**values: object) -> str:
    """One fault of a file."""
    return "\n".join(["[[fault]]", *(f"{key} = {json.dumps(value)}" for key, value in values.items())]) + "\n"


# ── kinds ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kind", "category", "said"),
    [
        ("timeout", FailureCategory.TIMEOUT, "timed out after 0 s"),
        ("cannot_start", FailureCategory.CANNOT_START, "exit 127 (command not found)"),
        ("killed", FailureCategory.KILLED, "killed by SIGKILL"),
        ("transport", FailureCategory.TRANSPORT, "connection refused"),
        ("system", FailureCategory.SYSTEM, "Input/output error"),
    ],
)
async def test_a_kind_that_breaks_a_tool_looks_like_the_real_thing_and_runs_nothing(
    kind: str, category: FailureCategory, said: str, context: ToolContext
) -> None:
    more = {"seconds": 0} if kind == "timeout" else {}
    (broken,) = faulty(entry(tool="count", kind=kind, last=1, **more))
    first, second = await answers(broken, context, "a", "a")
    assert (first.outcome, first.category, first.summary) == (ToolOutcome.BROKEN, category, said)
    assert (second.outcome, second.content) == (ToolOutcome.OK, "1")


AS_THE_AGENT_SEES_IT = {
    "timeout": (ToolOutcome.BROKEN, FailureCategory.TIMEOUT),
    "cannot_start": (ToolOutcome.BROKEN, FailureCategory.CANNOT_START),
    "killed": (ToolOutcome.BROKEN, FailureCategory.KILLED),
    "transport": (ToolOutcome.BROKEN, FailureCategory.TRANSPORT),
    "system": (ToolOutcome.BROKEN, FailureCategory.SYSTEM),
    "crash": (ToolOutcome.BROKEN, FailureCategory.CRASHED),
    "error": (ToolOutcome.ERROR, None),
    "slow": (ToolOutcome.OK, None),
    "stale": (ToolOutcome.OK, None),
    "garbage": (ToolOutcome.OK, None),
}


@pytest.mark.parametrize("kind", ToolFaultKind)
async def test_the_breaker_of_an_agent_counts_the_kinds_that_say_something_against_the_tool(
    kind: ToolFaultKind, tmp_path: Path
) -> None:
    more = {"seconds": 0.01} if kind in WAITS else {}
    (broken,) = faulty(entry(tool="count", kind=kind, first=2, last=2, **more))
    script = calls(call("count")) * 3 + says("Done.")
    async with stage(tmp_path, script, tools=[broken]) as here:
        turn = await here.turn()
        first, hit, last = turn.of(ToolEnded)
        assert (hit.outcome, hit.failure and hit.failure.category) == AS_THE_AGENT_SEES_IT[kind]
        assert (first.outcome, last.outcome) == (ToolOutcome.OK, ToolOutcome.OK)
        ran = "3" if kind is ToolFaultKind.SLOW else "2"
        assert turn.results[-1]["content"].endswith(ran)


async def test_a_crash_meets_the_real_border_and_counts_against_the_tool(tmp_path: Path) -> None:
    (crashing,) = faulty(entry(tool="count", kind="crash", message="segment lost"))
    async with stage(tmp_path, calls(call("count")) + says("Done."), tools=[crashing]) as here:
        (ended,) = (await here.turn()).of(ToolEnded)
        assert ended.outcome is ToolOutcome.BROKEN
        assert ended.failure is not None
        assert ended.failure.category is FailureCategory.CRASHED
        assert "segment lost" in ended.failure.message


async def test_a_slow_call_waits_and_then_does_its_work(context: ToolContext) -> None:
    (slow,) = faulty(entry(tool="count", kind="slow", seconds=0.05))
    loop = asyncio.get_running_loop()
    began = loop.time()
    (result,) = await answers(slow, context, "a")
    assert result.content == "1"
    assert loop.time() - began >= 0.05


async def test_a_stale_call_gives_the_earlier_result_of_the_same_call_and_runs_where_there_is_none(
    context: ToolContext,
) -> None:
    (stale,) = faulty(entry(tool="count", kind="stale", first=2))
    results = await answers(stale, context, "a", "a", "b", "b", "a")
    assert [result.content for result in results] == ["1", "1", "2", "2", "1"]


async def test_an_ordinary_no_is_an_earlier_result_too(context: ToolContext) -> None:
    ran = iter(range(1, 10))

    @tool(name="count", effect=Effect.READ)
    async def refuse(of: str = "") -> str:
        "Count."
        raise ToolError(f"no {next(ran)}")

    (stale,) = faulty(entry(tool="count", kind="stale"), refuse)
    assert [result.content for result in await answers(stale, context, "a", "a")] == ["no 1", "no 1"]


async def test_what_a_fault_said_is_no_earlier_result(context: ToolContext) -> None:
    text = entry(tool="count", kind="error", calls=[1]) + entry(tool="count", kind="stale")
    (stale,) = faulty(text)
    assert [result.content for result in await answers(stale, context, "a", "a", "a")][1:] == ["1", "1"]


@pytest.mark.parametrize("kind", ["error", "system"])
async def test_the_user_is_shown_one_line_of_a_long_message(kind: str, context: ToolContext) -> None:
    (broken,) = faulty(entry(tool="count", kind=kind, message="disk\x1b[31m gone\nthe rest"))
    (result,) = await answers(broken, context, "a")
    assert result.content == "disk\x1b[31m gone\nthe rest"
    assert "\n" not in result.summary
    assert "\x1b" not in result.summary


@pytest.mark.parametrize("kind", ["slow", "timeout"])
async def test_an_interruption_during_a_wait_leaves_nothing(kind: str, tmp_path: Path) -> None:
    (waiting,) = faulty(entry(tool="count", kind=kind, seconds=3600, last=1))
    script = calls(call("count")) + calls(call("count")) + says("Done.")
    async with stage(tmp_path, script, tools=[waiting]) as here:
        loop = asyncio.get_running_loop()

        def interrupt_soon(event: Event) -> None:
            if isinstance(event, ToolStarted):
                loop.call_later(0.05, here.agent.interrupt)

        (cancelled,) = (await here.turn(on_event=interrupt_soon)).of(ToolEnded)
        assert (cancelled.outcome, cancelled.failure) == (ToolOutcome.CANCELLED, None)
        assert not [task for task in asyncio.all_tasks() if "sleep()" in repr(task)]
        assert (await here.turn("Go on.")).results[-1]["content"] == "1"


# ── which calls ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("which", "hit"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"last": 2}, [1, 2]),
        ({"first": 3}, [3, 4, 5, 6]),
        ({"first": 2, "last": 3}, [2, 3]),
        ({"calls": [1, 5]}, [1, 5]),
        ({"matches": "odd"}, [1, 3, 5]),
        ({"probability": 0}, []),
        ({"probability": 1}, [1, 2, 3, 4, 5, 6]),
    ],
)
async def test_the_calls_that_are_hit(which: dict[str, object], hit: list[int], context: ToolContext) -> None:
    (broken,) = faulty(entry(tool="count", kind="transport", **which))
    results = await answers(broken, context, *["odd", "even"] * 3)
    assert [number for number, one in enumerate(results, 1) if one.outcome is ToolOutcome.BROKEN] == hit


@pytest.mark.parametrize("words", ['say "hi"', "one\ntwo", "back\\slash", "ähnlich"])
async def test_a_text_is_looked_for_as_it_is_written_in_the_arguments(words: str, context: ToolContext) -> None:
    (broken,) = faulty(entry(tool="count", kind="killed", matches=words))
    hit, missed = await answers(broken, context, f"a {words} b", "other")
    assert (hit.outcome, missed.outcome) == (ToolOutcome.BROKEN, ToolOutcome.OK)


@pytest.mark.parametrize("words", ["of", "{", "null"])
async def test_names_of_arguments_are_no_values(words: str, context: ToolContext) -> None:
    (broken,) = faulty(entry(tool="count", kind="killed", matches=words))
    assert (await broken.run(context, broken.parse({}))).outcome is ToolOutcome.OK
    assert (await broken.run(context, broken.parse({"of": "x"}))).outcome is ToolOutcome.OK


async def test_a_text_is_found_within_lists_and_numbers_but_not_in_what_was_left_out(context: ToolContext) -> None:
    @tool(name="count", effect=Effect.READ)
    async def count(of: list[dict[str, str]], limit: int = 5) -> str:
        "Count."
        return "1"

    (broken,) = faulty(
        entry(tool="count", kind="killed", matches="deep")
        + entry(tool="count", kind="system", matches="42")
        + entry(tool="count", kind="timeout", matches="5", seconds=0),
        count,
    )
    for input, category in (
        ({"of": [{"name": "so deep"}]}, FailureCategory.KILLED),
        ({"of": [], "limit": 420}, FailureCategory.SYSTEM),
        ({"of": [], "limit": 5}, FailureCategory.TIMEOUT),
        ({"of": []}, None),
    ):
        assert (await broken.run(context, broken.parse(input))).category is category


async def test_the_first_entry_that_fits_goes(context: ToolContext) -> None:
    text = entry(tool="count", kind="killed", calls=[2]) + entry(tool="*", kind="transport")
    (broken,) = faulty(text)
    first, second = await answers(broken, context, "a", "a")
    assert (first.category, second.category) == (FailureCategory.TRANSPORT, FailureCategory.KILLED)


@given(seed=st.integers(0, 99), others=st.lists(st.booleans(), max_size=12))
async def test_chance_is_drawn_for_each_tool_by_itself(seed: int, others: list[bool]) -> None:
    text = f"seed = {seed}\n" + entry(tool="*", kind="transport", probability=0.5)
    context = ToolContext(Workspace(Path.cwd()), Path.cwd(), "call_1")
    alone, _ = faulty(text, counting("one"), counting("two"))
    one, two = faulty(text, counting("one"), counting("two"))
    expected = [result.outcome for result in await answers(alone, context, *"abcdef")]
    found = []
    for letter, other in zip("abcdef", [*others, *[False] * 6], strict=False):
        if other:
            await answers(two, context, letter)
        found += [result.outcome for result in await answers(one, context, letter)]
    assert found == expected


async def outcomes(text: str, name: str, context: ToolContext) -> list[ToolOutcome]:
    """How twenty calls of a tool of this name end."""
    (broken,) = faulty(text, counting(name))
    return [result.outcome for result in await answers(broken, context, *"abcdefghijklmnopqrst")]


async def test_a_seed_gives_the_same_faults_again_and_another_seed_or_tool_gives_others(context: ToolContext) -> None:
    chance = entry(tool="*", kind="transport", probability=0.5)
    first = await outcomes("seed = 1\n" + chance, "one", context)
    assert await outcomes("seed = 1\n" + chance, "one", context) == first
    assert await outcomes("seed = 2\n" + chance, "one", context) != first
    assert await outcomes("seed = 1\n" + chance, "two", context) != first


# ── files ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "write [[fault]]"),
        ("fault = 1", "write [[fault]]"),
        ("[[fault]]\nkind = ", "not valid TOML"),
        (entry(kind="timeout"), "fault 1: tool is missing"),
        (entry(tool="grep"), "fault 1: kind is missing"),
        (entry(tool="grep", kind="timout"), "did you mean 'timeout'?"),
        (entry(tool="grep", kind="timeout", cals=[1]), "did you mean 'calls'?"),
        (entry(tool="grep", kind="timeout", calls=[]), "calls must be a list of numbers"),
        (entry(tool="grep", kind="timeout", calls=[0]), "calls must be a list of numbers"),
        (entry(tool="grep", kind="timeout", calls=[True]), "calls must be a list of numbers"),
        (entry(tool="grep", kind="timeout", calls=[1], first=2), "leave out first"),
        (entry(tool="grep", kind="timeout", calls=[1], probability=0.5), "leave out first"),
        (entry(tool="grep", kind="timeout", first=0), "first must be at least 1"),
        (entry(tool="grep", kind="timeout", first=3, last=2), "before first"),
        (entry(tool="grep", kind="timeout", probability=1.5), "between 0 and 1"),
        (entry(tool="grep", kind="timeout", probability=-0.1), "between 0 and 1"),
        (entry(tool="grep", kind="timeout") + "probability = nan", "between 0 and 1"),
        (entry(tool="grep", kind="timeout") + "seconds = nan", "0 or more"),
        (entry(tool="grep", kind="timeout", last=0), "last must be at least 1"),
        (entry(tool="grep", kind="timeout", calls=[-1]), "calls must be a list of numbers"),
        (entry(tool="", kind="timeout"), "fault 1: tool is missing"),
        ("seed = " + "1" * 5000, "not valid TOML"),
        ("seed = -1\n" + entry(tool="grep", kind="error"), "seed must be at least 0"),
        (entry(tool="grep", kind="timeout", seconds=-1), "0 or more"),
        (entry(tool="grep", kind="killed", seconds=1), "no meaning for killed"),
        (entry(tool="a", kind="error") + entry(tool=3, kind="error"), "fault 2: tool must be a string"),
        ("sead = 1\n" + entry(tool="grep", kind="error"), "did you mean 'seed'?"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_its_place_and_a_remedy(text: str, part: str) -> None:
    with pytest.raises(ScriptError) as raised:
        parse(text, "faults.toml")
    assert str(raised.value).startswith("faults.toml")
    assert part in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_tool_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(ToolFaultError, match="x, fault 2: there is no tool 'gerp'; there are bash"):
        parse(entry(tool="*", kind="error") + entry(tool="gerp", kind="error"), "x").applied(standard_tools())


def test_a_missing_file_is_refused_with_the_names_of_the_shipped_ones(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="grep-dies"):
        ToolFaults.load(tmp_path / "nowhere.toml")
    with pytest.raises(ScriptError, match="not a regular file"):
        ToolFaults.load(tmp_path)


@pytest.mark.parametrize("name", ["x" * 5000, "null\0byte", "latin.toml"])
def test_an_unreadable_file_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes("# größer".encode("latin-1"))
    with pytest.raises(ScriptError, match="cannot be read"):
        ToolFaults.load(tmp_path / name)


@pytest.mark.parametrize("name", KIND.shipped())
def test_what_is_shipped_fits_the_tools_that_there_are(name: str) -> None:
    assert len(ToolFaults.load(name).applied(standard_tools())) == len(standard_tools())


async def test_the_example_of_the_document_can_be_used(tmp_path: Path) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    file = tmp_path / "faults.toml"
    file.write_text(document.split("```toml\n")[1].split("```")[0])
    script = calls(call("grep", pattern="x")) + calls(call("bash", command="true")) + says("Done.")
    async with stage(tmp_path, script, tool_faults=file) as here:
        ended = (await here.turn()).of(ToolEnded)
        assert [event.failure and event.failure.message for event in ended] == [
            "timed out after 0.2 s",
            "connection refused",
        ]


def test_the_document_names_every_kind_and_every_file_that_is_shipped() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    assert all(f"`{name}`" in document for name in (*ToolFaultKind, *KIND.shipped()))


async def test_a_setting_puts_the_faults_before_the_tools_of_an_agent(tmp_path: Path) -> None:
    script = "".join(calls(call("grep", pattern="x")) for _ in range(4)) + says("Done.")
    async with stage(tmp_path, script, tool_faults="grep-dies") as here:
        turn: Played = await here.turn()
        outcomes = [event.outcome for event in turn.of(ToolEnded)]
        assert outcomes == [ToolOutcome.BROKEN] * 3 + [ToolOutcome.SKIPPED]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "work").mkdir()
    return Place(tmp_path / "work")


@pytest.mark.grid(1)
async def test_faults_that_cannot_be_used_end_the_command_with_one_sentence(place: Place) -> None:
    (place.folder / "mine.toml").write_text(entry(tool="gerp", kind="error"))
    ended = await run(place, "-p", "hello", "--practice", "--tool-faults", "mine.toml")
    assert (ended.code, ended.out) == (2, "")
    assert "mine.toml, fault 1: there is no tool 'gerp'" in ended.err
    assert "Traceback" not in ended.err
