"""What a permission question says about its call, and about the keys that it does not offer."""

from dataclasses import replace

from harness.events import PermissionAsked
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.sandbox import Allowance, Profile, ProfileName
from harness.tools.tool import Effect
from harness.ui.permission_choices import (
    NOT_FOR_DANGER,
    NOT_OFFERED,
    missing_choices,
    permission_answer,
    permission_choices,
    permission_reasons,
    permission_title,
)

BASH = PermissionRequest("id", "bash", Effect.RUN, "ls", "ls", {"command": "ls"}, offers=("bash(ls)",))


def test_each_missing_key_has_its_own_reason() -> None:
    edit = PermissionRequest("id", "edit_file", Effect.WRITE, "a.py", "", {"path": "a.py"}, edits=True)
    for request, missing in ((BASH, "fe"), (replace(BASH, family="bash(ls *)"), "e"), (edit, "af")):
        assert missing_choices(request) == {key: NOT_OFFERED[key] for key in missing}
        assert not set(missing) & {choice.key for choice in permission_choices(request)}


def test_a_dangerous_call_has_one_reason_for_all() -> None:
    assert missing_choices(replace(BASH, dangers=("it deletes",))) == dict.fromkeys("afe", NOT_FOR_DANGER)


def test_the_title_says_that_a_command_would_run_in_the_background() -> None:
    asked = PermissionAsked("id", "bash", "ls", "it runs a program")
    for background, title in ((True, "in the background: ls"), (False, "ls")):
        request = replace(BASH, input={"command": "ls", "background": background})
        assert permission_title(asked, request) == title
        assert permission_title(replace(asked, agent="a3"), request) == f"agent a3: {title}"


HELD = replace(BASH, sandbox=Profile(ProfileName.WORK))
MORE = replace(HELD, profile=ProfileName.WORK, allowance=Allowance(("/srv/a",), ("x:443",)))


def test_where_there_is_a_sandbox_the_last_line_says_what_the_answer_yes_gives() -> None:
    asked = PermissionAsked("id", "bash", "ls", "it runs `ls`")
    paths, hosts = (replace(MORE, allowance=one) for one in (Allowance(("/a", "/b")), Allowance((), ("x:1",))))
    for request, last in (
        (HELD, "yes: it runs without the sandbox"),
        (MORE, "yes: it runs in the sandbox and may write /srv/a and may reach x:443"),
        (paths, "yes: it runs in the sandbox and may write /a, /b"),
        (hosts, "yes: it runs in the sandbox and may reach x:1"),
    ):
        assert permission_reasons(asked, request) == (asked.why, last)
        dangerous = replace(request, dangers=("it runs `ls`",))
        assert permission_reasons(asked, dangerous) == ("dangerous: it runs `ls`", last)
    assert permission_reasons(asked, BASH) == (asked.why,)


def test_more_than_the_sandbox_gives_is_allowed_once_or_in_this_session_and_no_rule_is_offered() -> None:
    choices = permission_choices(MORE)
    assert [choice.key for choice in choices] == ["y", "a", "n"]
    assert "in this session" in choices[1].label
    assert permission_answer(choices[1].value, "", MORE) == PermissionAnswer("always")
    assert [choice.key for choice in permission_choices(replace(MORE, dangers=("x",)))] == ["y", "n"]
