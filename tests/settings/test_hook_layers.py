"""Hooks in settings: they accumulate, and a folder adds its own only when trusted."""

from pathlib import Path

import pytest

from harness.base.errors import SettingsError
from harness.settings import project_settings_file
from tests.settings.conftest import Place

GUARD = '[[hooks]]\nevent = "before_tool"\ntools = "bash"\ncommand = "guard"\n'
TESTS = '[[hooks]]\nevent = "stop"\ncommand = "run tests"\ntimeout = 60\nrequired = true\n'
JSON = '[{"event": "stop", "command": "from a variable"}]'
KEY = {"ANTHROPIC_API_KEY": "sk-ant-x"}


def names(place: Place, **environ: str) -> list[str]:
    return [hook.name for hook in place.load(environ=KEY | environ, trust=None).settings.hooks]


def test_no_hooks_are_the_default(place: Place) -> None:
    loaded = place.load(environ=KEY)
    assert (loaded.settings.hooks, loaded.origins["hooks"]) == ((), "default")


def test_the_users_file_may_run_programs(place: Place) -> None:
    place.write(user=GUARD + TESTS)
    guard, tests = place.load(environ=KEY).settings.hooks
    assert (guard.name, guard.tools, guard.time_s, guard.required) == ("guard", "bash", 10.0, False)
    assert (tests.action, tests.time_s, tests.required) == ("run tests", 60.0, True)


@pytest.mark.parametrize("files", [{"project": GUARD}, {"dotenv": f"HARNESS_HOOKS={JSON}\n"}])
def test_the_files_of_a_folder_may_not(place: Place, files: dict[str, str]) -> None:
    place.write(**files)
    loaded = place.load(environ=KEY, trust=None)
    assert loaded.settings.hooks == ()
    assert [claim.name for claim in loaded.claims] == ["hooks"]
    with pytest.raises(SettingsError, match=r"hooks|HARNESS_HOOKS.*: set by a folder that you have not said you trust"):
        loaded.require_answer()


@pytest.mark.parametrize("files", [{"project": 'trusted_folders = ["."]'}, {"dotenv": "HARNESS_TRUSTED_FOLDERS=.\n"}])
def test_a_folder_cannot_trust_itself(place: Place, files: dict[str, str]) -> None:
    place.write(**files)
    with pytest.raises(SettingsError, match="must not trust itself"):
        place.load(environ=KEY)


def test_a_folder_that_the_user_trusts_adds_its_hooks_behind_theirs(place: Place) -> None:
    place.write(project=TESTS, user=f'trusted_folders = ["{place.workspace}"]\n{GUARD}')
    loaded = place.load(environ=KEY)
    assert [hook.name for hook in loaded.settings.hooks] == ["guard", "run tests"]
    assert loaded.origins["hooks"] == f"{place.user_file}: hooks, {project_settings_file(place.workspace)}: hooks"


def test_a_variable_may_trust_a_folder_and_bring_hooks(place: Place) -> None:
    place.write(project=TESTS)
    assert names(place, HARNESS_TRUSTED_FOLDERS="/nowhere, .", HARNESS_HOOKS=JSON) == ["from a variable", "run tests"]


def test_trust_is_for_one_folder_and_not_for_those_in_it_or_around_it(place: Place) -> None:
    place.write(project=TESTS)
    for other in (place.workspace.parent, place.workspace / "inner"):
        assert names(place, HARNESS_TRUSTED_FOLDERS=str(other)) == []


def test_trust_follows_no_link_to_another_folder(place: Place, tmp_path: Path) -> None:
    place.write(project=TESTS)
    (tmp_path / "link").symlink_to(place.workspace)
    assert names(place, HARNESS_TRUSTED_FOLDERS=str(tmp_path / "link")) == ["run tests"]


def test_an_empty_list_in_a_folder_takes_no_hook_of_the_user_away(place: Place) -> None:
    place.write(project="hooks = []", user=f'trusted_folders = ["{place.workspace}"]\n{GUARD}')
    assert names(place) == ["guard"]


@pytest.mark.parametrize(
    ("user", "sentence"),
    [
        ('hooks = "stop"', "Expecting value"),
        ("hooks = 3", r"hooks are tables; write \[\[hooks\]\]"),
        ('[[hooks]]\nevent = "stop"', "hooks: hook 1: it has no command; give the command line to run"),
        (GUARD + '[[hooks]]\nevent = "Halt"\ncommand = "x"', "hook 2: there is no hook point 'Halt'; there are"),
        ("trusted_folders = 3", "trusted_folders = 3; give a list of folders"),
    ],
)
def test_a_mistake_gets_one_sentence_with_its_place(place: Place, user: str, sentence: str) -> None:
    place.write(user=user)
    with pytest.raises(SettingsError, match=sentence) as caught:
        place.load(environ=KEY)
    assert str(place.user_file) in str(caught.value)
    assert "\n" not in str(caught.value)
