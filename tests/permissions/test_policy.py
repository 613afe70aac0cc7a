"""Who may do what."""

from itertools import product
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    RuleBook,
    Surroundings,
)
from harness.tools.tool import Effect


def request(
    effect: Effect = Effect.RUN, tool: str = "bash", outside: Path | None = None, **input: object
) -> PermissionRequest:
    return PermissionRequest("id", tool, effect, "summary", "detail", input, outside)


def test_the_table_of_modes() -> None:
    for mode, effect in product(Mode, Effect):
        expected: type[Decision] = {Mode.YOLO: Allow, Mode.DENY: Deny, Mode.PLAN: Deny}.get(mode, Ask)
        if effect in (Effect.READ, Effect.DELEGATE) or (mode, effect) == (Mode.EDITS, Effect.WRITE):
            expected = Allow
        decision = Permissions(mode).decide(request(effect))
        assert isinstance(decision, expected), (mode, effect)
        assert decision.why


def test_always_for_a_file_tool_means_this_tool() -> None:
    permissions = Permissions(Mode.ASK)
    first = request(Effect.WRITE, "edit_file", path="a")
    assert isinstance(permissions.remember(first, PermissionAnswer("always")), Allow)
    assert permissions.decide(request(Effect.WRITE, "edit_file", path="b")) == Allow("allowed for this session", "user")
    assert isinstance(permissions.decide(request(Effect.WRITE, "write_file", path="a")), Ask)


def test_always_for_bash_means_exactly_this_command_line() -> None:
    permissions = Permissions(Mode.ASK)
    permissions.remember(request(command="ls"), PermissionAnswer("always"))
    assert isinstance(permissions.decide(request(command="ls")), Allow)
    assert isinstance(permissions.decide(request(command="ls", timeout=5)), Allow)
    for other in ("ls ", "ls; rm x", "LS"):
        assert isinstance(permissions.decide(request(command=other)), Ask)


def test_always_for_another_tool_that_runs_means_exactly_this_input() -> None:
    permissions = Permissions(Mode.ASK)
    permissions.remember(request(tool="ssh", command="ls", host="a"), PermissionAnswer("always"))
    assert isinstance(permissions.decide(request(tool="ssh", host="a", command="ls")), Allow)
    assert isinstance(permissions.decide(request(tool="ssh", host="b", command="ls")), Ask)


@given(choices=st.lists(st.tuples(st.sampled_from(["a", "b", "c"]), st.sampled_from(["once", "always", "no"]))))
def test_only_always_is_remembered(choices: list[tuple[str, Literal["once", "always", "no"]]]) -> None:
    permissions = Permissions(Mode.ASK)
    always = set()
    for command, choice in choices:
        expected: type[Decision] = Allow if command in always else Ask
        assert isinstance(permissions.decide(request(command=command)), expected)
        answered = permissions.remember(request(command=command), PermissionAnswer(choice))
        assert isinstance(answered, Deny) == (choice == "no")
        if choice == "always":
            always.add(command)


def test_a_session_that_only_reads_says_so_and_names_the_remedy() -> None:
    denied = Permissions(Mode.DENY).decide(request())
    assert isinstance(denied, Deny)
    assert denied.message == (
        "This was not allowed: this session is read-only, and bash runs a program; "
        "only the user can change its permission mode."
    )


def test_where_a_session_only_reads_no_earlier_answer_counts() -> None:
    permissions = Permissions(Mode.ASK)
    permissions.remember(request(command="ls"), PermissionAnswer("always"))
    permissions.mode = Mode.DENY
    assert isinstance(permissions.decide(request(command="ls")), Deny)
    permissions.mode = Mode.ASK
    assert isinstance(permissions.decide(request(command="ls")), Allow)


def test_rules_come_first_and_the_first_decision_counts() -> None:
    def no_push(asked: PermissionRequest) -> Decision | None:
        return Deny("no pushing", "rule") if "git push" in str(asked.input.get("command")) else None

    def everything(_: PermissionRequest) -> Decision | None:
        return Allow("by rule", "rule")

    permissions = Permissions(Mode.YOLO, (no_push,))
    assert permissions.decide(request(command="git push")) == Deny("no pushing", "rule")
    assert isinstance(permissions.decide(request(command="git pull")), Allow)
    assert isinstance(Permissions(Mode.DENY, (no_push, everything)).decide(request(command="x")), Allow)
    assert isinstance(Permissions(Mode.DENY, (no_push, everything)).decide(request(command="git push")), Deny)


@pytest.mark.parametrize("mode", Mode)
def test_nothing_leaves_the_workspace_in_any_mode(mode: Mode) -> None:
    for effect in Effect:
        assert isinstance(Permissions(mode).decide(request(effect, outside=Path("/etc/passwd"))), Deny)


def test_a_file_outside_that_the_user_named_is_asked_about_until_the_answer_is_always() -> None:
    permissions = Permissions(Mode.ASK, book=RuleBook(Surroundings("/srv/project", "/home/ada")))
    named = request(Effect.READ, "read_file", Path("/srv/a.png"), path="/srv/a.png")
    asked = permissions.decide(named)
    assert isinstance(asked, Ask)
    assert asked.why == "/srv/a.png is outside the workspace"
    permissions.remember(named, PermissionAnswer("always"))
    assert permissions.decide(named) == Allow("allowed for this session", "user")


def test_without_knowledge_of_places_no_file_is_withheld_or_looked_up() -> None:
    permissions = Permissions(Mode.ASK)
    assert not permissions.withholds("/srv/.env", content=True)
    assert not permissions.matters("/srv/.env")
