"""Hooks as they are made, by the decorator and in a settings file."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import HookPoint
from harness.hooks import Hook, HookAnswer, HookCall, declared, hook
from harness.hooks.definition import hook_lines, matches, unknown_tools


@hook("before_tool", tools="bash")
def guard(call: HookCall) -> HookAnswer | None:
    return None


def test_the_decorator_makes_a_hook_with_the_name_of_its_function() -> None:
    assert (guard.name, guard.point, guard.tools, guard.time_s) == ("guard", HookPoint.BEFORE_TOOL, "bash", 10.0)
    assert hook("stop", name="tests pass", required=True)(guard.action).name == "tests pass"  # type: ignore[arg-type]


def test_a_hook_is_for_its_point_and_for_the_tools_it_names() -> None:
    call = HookCall(HookPoint.BEFORE_TOOL, "/w", 1, tool="bash")
    assert guard.concerns(call)
    assert not guard.concerns(HookCall(HookPoint.BEFORE_TOOL, "/w", 1, tool="grep"))
    assert not guard.concerns(HookCall(HookPoint.AFTER_TOOL, "/w", 1, tool="bash"))
    assert Hook("all", HookPoint.STOP, "true").concerns(HookCall(HookPoint.STOP, "/w", 1))


@pytest.mark.parametrize(
    ("point", "options", "why"),
    [
        ("before_tools", {}, "no hook point 'before_tools'; there are session_start"),
        ("stop", {"tools": "bash"}, "concerns no tool"),
        ("stop", {"time_s": 0.0}, "above 0"),
    ],
)
def test_a_hook_that_could_never_be_asked_is_refused(point: str, options: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        hook(point, **options)(lambda call: None)  # type: ignore[arg-type]


def test_what_a_command_receives_has_the_fields_of_its_point() -> None:
    call = HookCall(HookPoint.BEFORE_TOOL, "/w", 3, tool="bash", call_id="c1", input={"command": "ls"}, answer="no")
    assert (
        call.document().items()
        >= {
            "event": "before_tool",
            "workspace": "/w",
            "turn": 3,
            "tool": "bash",
            "call_id": "c1",
            "input": {"command": "ls"},
        }.items()
    )
    assert HookCall(HookPoint.STOP, "/w", 1, agent="a1").document()["agent"] == "a1"


def test_tables_become_hooks() -> None:
    [first, second] = declared(
        [
            {"event": "before_tool", "command": "look  here", "tools": "bash", "timeout": 5, "required": True},
            {"event": "stop", "command": "x" * 80, "name": "tests"},
        ]
    )
    assert first == Hook("look here", HookPoint.BEFORE_TOOL, "look  here", "bash", 5.0, required=True)
    assert (second.name, second.time_s, second.required) == ("tests", 10.0, False)


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        ("stop", "hooks are tables"),
        (["stop"], "hooks are tables"),
        ([{"event": "stop"}], "hook 1: it has no command"),
        ([{"event": "stop", "command": "a\0b"}], "hook 1: it has no command"),
        ([{"command": "true"}], "hook 1: it has no event"),
        ([{"event": "stop", "command": "true"}, {"event": "end", "command": "true"}], "hook 2: there is no hook point"),
        ([{"event": "stop", "command": "true", "matcher": "x"}], "'matcher' is not known"),
        ([{"event": "stop", "command": "true", "time": 3}], "perhaps timeout was meant"),
        ([{"event": "stop", "command": "true", "timeout": 0}], "timeout is 0; give seconds"),
        ([{"event": "stop", "command": "true", "timeout": True}], "timeout is True"),
        ([{"event": "stop", "command": "true", "required": "yes"}], "required is 'yes'"),
        ([{"event": "stop", "command": 3}], "command is 3; it has to be a text"),
        ([{"event": "stop", "command": "true", "tools": "bash"}], "concerns no tool"),
    ],
)
def test_a_table_that_cannot_be_used_is_named(tables: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        declared(tables)


def test_each_hook_is_a_line_that_says_what_it_is_for_and_what_it_runs() -> None:
    hooks = [
        Hook("guard", HookPoint.BEFORE_TOOL, "look  here", "bash", 5.0),
        Hook("typo", HookPoint.AFTER_TOOL, lambda call: None, "Bsh"),
        Hook("tests", HookPoint.STOP, lambda call: None, required=True),
    ]
    assert list(hook_lines(hooks, ["bash", "grep"])) == [
        "  before_tool  guard: for bash, runs look here, at most 5 s",
        "  after_tool   typo: for Bsh (there is no such tool), a function of this program, at most 10 s",
        "  stop         tests: a function of this program, at most 10 s, required: its failure counts as a no",
    ]


@pytest.mark.parametrize(
    ("pattern", "tool", "meant"),
    [
        ("", "bash", True),
        ("  ", "bash", True),
        ("bash", "bash", True),
        ("bash", "Bash", False),
        ("bash", "bash2", False),
        ("write_file|edit_file", "edit_file", True),
        ("write_file | edit_file", "edit_file", True),
        ("mcp__*", "mcp__docs__search", True),
        ("*_file", "read_file", True),
        ("read.file", "read_file", False),
        ("Bash", "bash", True),
        ("Edit|Write|MultiEdit", "write_file", True),
        ("^(Edit)$", "edit_file", False),
        ("^Edit$", "edit_file", True),
        ("mcp__docs__.*", "mcp__docs__search", True),
        ("mcp__docs", "mcp__docs__search", True),
        ("mcp__docs", "mcp__docs2__search", False),
        (".*", "bash", True),
        ("b[a]sh", "bash", False),
        ("bash|", "grep", False),
    ],
)
def test_a_pattern_means_these_tools(pattern: str, tool: str, meant: bool) -> None:
    assert matches(pattern, tool) is meant


@pytest.mark.parametrize(
    ("pattern", "unknown"),
    [
        ("", ()),
        ("Bash|Edit", ()),
        ("mcp__*|deploy|*_file|bash|", ()),
        ("Bsh|grep", ("Bsh",)),
        ("Notebook*", ("Notebook*",)),
    ],
)
def test_a_pattern_that_matches_no_tool_is_found(pattern: str, unknown: tuple[str, ...]) -> None:
    assert unknown_tools(pattern, ["deploy"]) == unknown


@given(st.text("ab*|", min_size=1), st.text("ab", min_size=1))
def test_it_agrees_with_the_patterns_of_a_shell(pattern: str, tool: str) -> None:
    assert matches(pattern, tool) is any(fnmatchcase(tool, part) for part in pattern.split("|"))
