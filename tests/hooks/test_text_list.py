"""The list of hooks."""

from harness.events import HookPoint
from harness.hooks import Hook
from harness.hooks.declaration import hook_lines


def test_each_hook_is_a_line_that_says_what_it_is_for_and_what_it_runs() -> None:
    hooks = [
        Hook("guard", HookPoint.BEFORE_TOOL, "look  here", "bash", 5.0),
        Hook("typo", HookPoint.AFTER_TOOL, lambda call: None, "Bash"),
        Hook("tests", HookPoint.STOP, lambda call: None, required=True),
    ]
    assert list(hook_lines(hooks, ["bash", "grep"])) == [
        "  before_tool  guard: for bash, runs look here, at most 5 s",
        "  after_tool   typo: for Bash (there is no such tool), a function of this program, at most 10 s",
        "  stop         tests: a function of this program, at most 10 s, required: its failure counts as a no",
    ]


def test_no_hooks_are_no_lines() -> None:
    assert list(hook_lines([], ["bash"])) == []
