"""Tools made of functions."""

import ast
import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import Field

import harness
from harness.events import Json, Score, ToolOutcome
from harness.tools.tool import ArgumentError, Effect, ToolContext, ToolError, ToolHealth, ToolResult, shorten_line, tool
from harness.tools.toolbox import Toolbox, standard_tools

pytestmark = pytest.mark.anyio


@tool
def add(first: int, second: Annotated[int, Field(description="The other one.")] = 1) -> int:
    """Add two numbers."""
    return first + second


async def test_the_schema_comes_from_the_signature() -> None:
    assert add.spec() == {
        "name": "add",
        "description": "Add two numbers.",
        "input_schema": {
            "type": "object",
            "properties": {
                "first": {"type": "integer"},
                "second": {"default": 1, "description": "The other one.", "type": "integer"},
            },
            "required": ["first"],
            "additionalProperties": False,
        },
    }
    assert add.effect is Effect.RUN
    assert add.summarise({"first": 2}) == "2"


async def test_it_runs_with_checked_arguments(context: ToolContext) -> None:
    assert await add.run(context, add.parse({"first": "2"})) == ToolResult("3", summary="3")
    with pytest.raises(ArgumentError, match="third"):
        add.parse({"first": 2, "third": 3})


async def test_a_plain_function_runs_in_a_thread(context: ToolContext) -> None:
    @tool(effect=Effect.READ, parallel=True, name="where")
    def thread_name() -> str:
        """Where this runs."""
        return threading.current_thread().name

    result = await thread_name.run(context, thread_name.parse({}))
    assert result.content != threading.current_thread().name
    assert (thread_name.name, thread_name.effect, thread_name.parallel) == ("where", Effect.READ, True)


async def test_an_async_function_may_take_the_context(context: ToolContext) -> None:
    @tool
    async def whoami(call: ToolContext, greeting: str = "I am") -> dict[str, str]:
        """Say the id of this call."""
        await asyncio.sleep(0)
        return {greeting: call.call_id}

    assert list(whoami.spec()["input_schema"]["properties"]) == ["greeting"]
    assert (await whoami.run(context, whoami.parse({}))).content == '{\n "I am": "toolu_1"\n}'


@pytest.mark.parametrize(
    ("error", "outcome", "text"),
    [
        (ToolError("No such city."), ToolOutcome.ERROR, "No such city."),
        (ConnectionError("refused"), ToolOutcome.BROKEN, "fail failed: ConnectionError: refused"),
    ],
)
async def test_a_failure_is_a_result(error: Exception, outcome: ToolOutcome, text: str, context: ToolContext) -> None:
    @tool
    def fail() -> None:
        """Fail."""
        raise error

    result = await fail.run(context, fail.parse({}))
    assert (result.content, result.outcome, result.summary) == (text, outcome, text)


async def test_a_result_is_taken_as_it_is_and_nothing_is_said(context: ToolContext) -> None:
    mine = ToolResult("mine", ToolOutcome.ERROR)

    @tool
    def give(what: bool) -> Any:
        """Give something back."""
        return mine if what else None

    assert await give.run(context, give.parse({"what": True})) is mine
    assert (await give.run(context, give.parse({"what": False}))).content == "(nothing returned)"


async def test_a_long_text_is_shortened_and_kept_whole(context: ToolContext) -> None:
    @tool
    def flood() -> str:
        """A lot."""
        return "x" * 200_000

    result = await flood.run(context, flood.parse({}))
    assert len(result.content) <= 50_000
    assert result.full_output is not None
    assert result.full_output.read_text() == "x" * 200_000


async def test_functions_that_no_model_could_call_are_refused() -> None:
    with pytest.raises(TypeError, match="docstring"):
        tool(lambda: None)

    def untyped(x) -> None:  # type: ignore[no-untyped-def]
        """No type."""

    with pytest.raises(TypeError, match="needs a type"):
        tool(untyped)

    def starred(*x: int) -> None:
        """No names."""

    with pytest.raises(TypeError, match="by name"):
        tool(starred)


@pytest.mark.parametrize("call_id", ["../../etc/passwd", "/abs", "", "x" * 5_000, "a\0b", "..", "日本"])
async def test_a_call_id_never_chooses_the_folder(call_id: str, context: ToolContext) -> None:
    odd = ToolContext(context.workspace, context.outputs, call_id)
    assert odd.output_file.parent == context.outputs
    assert "/" not in odd.output_file.name
    assert len(odd.output_file.name) < 110


async def test_a_line_is_shortened_with_a_mark() -> None:
    assert shorten_line("one\ntwo") == "one …"
    assert shorten_line("short") == "short"
    assert len(shorten_line("x" * 500)) == 100


def test_no_tool_of_ours_forgets_to_say_how_it_failed() -> None:
    """`ToolResult(…, ToolOutcome.BROKEN)` always has a category."""
    for path in Path(harness.__file__).parent.rglob("*.py"):
        code = path.read_text()
        for node in ast.walk(ast.parse(code)) if "ToolResult(" in code else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "ToolResult":
                broken = "ToolOutcome.BROKEN" in map(ast.unparse, node.args)
                assert not broken or "category" in {keyword.arg for keyword in node.keywords}, f"{path}:{node.lineno}"


def test_a_check_is_a_function() -> None:
    with pytest.raises(TypeError, match="check takes a function without arguments, not True"):
        tool(check=True)  # type: ignore[call-overload]


@pytest.mark.parametrize("says", [True, False, ToolHealth(Score.DEGRADED, "slow")])
@pytest.mark.parametrize("how", ["plain", "async", "lambda"])
async def test_a_check_is_plain_or_async_and_says_yes_no_or_more(says: bool | ToolHealth, how: str) -> None:
    async def waits() -> bool | ToolHealth:
        return says

    checks = {"plain": partial(bool, says) if isinstance(says, bool) else lambda: says, "async": waits}

    @tool(check=checks.get(how, lambda: waits()))  # noqa: PLW0108 (a plain function that returns a coroutine)
    def look() -> str:
        """Look."""
        return ""

    assert look.check is not None
    health = await look.check()
    expected = {True: Score.AVAILABLE, False: Score.UNAVAILABLE}
    assert health.score is (expected[says] if isinstance(says, bool) else says.score)


@pytest.mark.parametrize("seconds", [0, -1.0, float("nan")])
def test_a_time_limit_is_above_zero(seconds: float) -> None:
    with pytest.raises(ValueError, match="must be above zero"):
        tool(timeout_s=seconds)


def yields(number: int) -> Iterator[int]:
    """Numbers."""
    yield from range(number)


async def yields_later(number: int) -> AsyncIterator[int]:
    """Numbers."""
    yield number


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (yields, "the tool yields is a generator; let it return"),
        (yields_later, "the tool yields_later is a generator; let it return"),
        (partial(yields, 2), "is no function; put @tool above a def"),
        (int, "is no function"),
        (add, "add is a tool already"),
    ],
)
def test_what_cannot_become_a_tool_is_refused_in_one_sentence(function: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        tool(function)


async def test_a_generator_that_comes_back_is_a_failure_and_no_text_and_a_coroutine_is_waited_for(
    context: ToolContext,
) -> None:
    async def later() -> str:
        return "waited for"

    @tool
    def returns(what: str) -> Any:
        """Return something."""
        return later() if what == "coroutine" else yields(3)

    returned = await returns.run(context, returns.parse({"what": "generator"}))
    assert returned.outcome is ToolOutcome.BROKEN
    assert "it returned a generator; let it return a text" in returned.content
    assert (await returns.run(context, returns.parse({"what": "coroutine"}))).content == "waited for"


TOOLBOX = Toolbox(standard_tools())


@pytest.mark.parametrize(
    ("tool", "input", "expected"),
    [
        ("bash", {"cmd": "ls"}, "there is no argument `cmd` (did you mean `command`?)"),
        ("bash", {}, "the argument `command` (The command line, as typed into bash) is missing"),
        ("bash", {"command": "ls", "timeout": 900}, "`timeout` was 900, but input should be less than or equal to 600"),
        ("bash", {"command": 3}, "`command` was 3, but input should be a valid string"),
        ("bash", {"command": "ls", "timeout": float("nan")}, "`timeout` was nan"),
        ("bash", {"command": "\ud800"}, "`command` was '\\ud800'"),
        ("write_file", {"path": "x", "content": "a\ud800"}, "`content` was 'a\\ud800', but input should be a valid"),
        ("edit_file", {"path": "x", "old_string": "a", "new_string": "\udfff"}, "`new_string` was '\\udfff'"),
        ("grep", {"pattern": "x", "glob": "\ud800"}, "`glob` was '\\ud800'"),
        ("bash", {"command": "ls", "\ud800": 1}, "`name of an argument` was '\\ud800'"),
        ("read_file", {"path": "x", "offset": 0}, "`offset` was 0, but input should be greater than or equal to 1"),
        ("read_file", {"path": "x", "line": 4}, "there is no argument `line`"),
        ("glob", {"pattern": ["*"]}, "`pattern` was ['*'], but input should be a valid string"),
        (
            "todo_write",
            {"items": [{"content": "x", "status": "done"}]},
            "`items.0.text` is missing; there is no `",
        ),
        ("todo_write", {"items": ["x"]}, "`items.0` was 'x', but input should be an object"),
        ("glob", {"a": 1, "b": 1, "c": 1, "d": 1}, "; and 2 more"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_given_and_what_fits(tool: str, input: Json, expected: str) -> None:
    found = TOOLBOX.get(tool)
    assert found is not None
    with pytest.raises(ArgumentError) as refusal:
        found.parse(input)
    assert expected in str(refusal.value)
    assert str(refusal.value).startswith(f"{tool} was not run: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("input", [{"lines": ["a", "\ud800"]}, {"table": {"a": "\ud800"}}, {"table": {"\ud800": "a"}}])
def test_half_a_character_is_a_wrong_argument_anywhere(input: Json) -> None:
    @tool
    def show(lines: list[str] = [], table: dict[str, str] = {}) -> None:  # noqa: B006  never changed
        """Show something."""

    with pytest.raises(ArgumentError, match="ud800"):
        show.parse(input)
    assert "minLength" not in str(show.spec())


def test_a_misspelt_argument_is_not_also_missing() -> None:
    bash = TOOLBOX.get("bash")
    assert bash is not None
    with pytest.raises(ArgumentError) as refusal:
        bash.parse({"comand": "ls"})
    assert "missing" not in str(refusal.value)


@pytest.mark.parametrize("tool", ["read_file", "write_file", "edit_file", "glob", "grep"])
def test_arguments_without_measure_are_refused_in_a_short_sentence(tool: str) -> None:
    found = TOOLBOX.get(tool)
    assert found is not None
    fitting = dict.fromkeys(found.spec()["input_schema"]["required"], "x")
    found.parse({**fitting, "path": "p" * 4_096})
    for wrong in ({"path": "p" * 1_000_000}, {"k" * 1_000_000: 1}, {f"k{number}": number for number in range(100_000)}):
        began = time.process_time()
        with pytest.raises(ArgumentError) as refusal:
            found.parse({**fitting, **wrong})
        assert len(str(refusal.value)) < 500
        assert time.process_time() - began < 2.0


def test_null_for_an_optional_argument_counts_as_not_given() -> None:
    read_file = TOOLBOX.get("read_file")
    assert read_file is not None
    assert read_file.parse({"path": "x", "offset": None, "limit": None}) == read_file.parse({"path": "x"})
    with pytest.raises(ArgumentError, match="path"):
        read_file.parse({"path": None})


def test_numbers_and_flags_written_as_text_are_understood() -> None:
    grep = TOOLBOX.get("grep")
    assert grep is not None
    arguments = grep.parse({"pattern": "x", "context": "2", "ignore_case": "true"})
    assert (arguments.context, arguments.ignore_case) == (2, True)
