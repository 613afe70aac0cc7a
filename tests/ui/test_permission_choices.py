"""What a permission question says about its call, and about the keys that it does not offer."""

from dataclasses import replace

from harness.events import PermissionAsked
from harness.permissions import PermissionRequest
from harness.tools.tool import Effect
from harness.ui.permission_choices import (
    NOT_FOR_DANGER,
    NOT_OFFERED,
    missing_choices,
    permission_choices,
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
