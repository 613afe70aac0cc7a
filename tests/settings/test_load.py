"""Which layer wins, what follows from what, and what a folder may not do."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from harness.base.errors import SettingsError
from harness.base.secrets import Secret
from harness.processes.outcome import MARK
from harness.settings import Settings, load, project_settings_file
from harness.settings.sources import PROCESS
from tests.settings.conftest import Place

KEY = {"ANTHROPIC_API_KEY": "sk-ant-secret"}


@pytest.mark.parametrize("present", itertools.product([True, False], repeat=5))
def test_the_first_layer_that_says_something_wins(place: Place, present: tuple[bool, ...]) -> None:
    flag, environment, dotenv, project, user = present
    place.write(
        dotenv="HARNESS_MODEL=from-dotenv" if dotenv else "",
        project='model = "from-project"' if project else "",
        user='model = "from-user"' if user else "",
    )
    environ = KEY | ({"HARNESS_MODEL": "from-environment"} if environment else {})
    loaded = place.load({"model": "from-flag" if flag else None}, environ)
    values = ["from-flag", "from-environment", "from-dotenv", "from-project", "from-user", "claude-sonnet-5-5"]
    origins = [
        *("flag --model", "environment HARNESS_MODEL", ".env HARNESS_MODEL"),
        *(f"{project_settings_file(place.workspace)}: model", f"{place.user_file}: model", "default"),
    ]
    winner = [*present, True].index(True)
    assert loaded.settings.model == values[winner]
    assert loaded.origins["model"] == origins[winner]


def test_a_name_of_our_own_goes_before_the_common_one_within_a_layer(place: Place) -> None:
    loaded = place.load(environ={"MODEL_ID": "common", "HARNESS_MODEL": "own", **KEY, "HARNESS_API_KEY": "own-key"})
    assert loaded.settings.model == "own"
    assert loaded.settings.api_key == Secret("own-key")
    assert loaded.origins["api_key"] == "environment HARNESS_API_KEY"


def test_the_real_environment_goes_before_any_name_in_dotenv(place: Place) -> None:
    place.write(dotenv="HARNESS_MODEL=own-in-dotenv")
    assert place.load(environ={"MODEL_ID": "common", **KEY}).settings.model == "common"


def test_every_common_variable_reaches_its_setting(place: Place) -> None:
    environ = {
        "ANTHROPIC_API_KEY": " key ",
        "ANTHROPIC_AUTH_TOKEN": "token",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
        "MODEL_ID": "m",
        "FALLBACK_MODEL_ID": "a, b ,,a,c",
    }
    settings = place.load(environ=environ).settings
    assert settings.api_key == Secret("key")
    assert settings.auth_token == Secret("token")
    assert settings.base_url == "http://127.0.0.1:1"
    assert settings.model == "m"
    assert settings.fallback_models == ("a", "b", "c")


SAMPLE = {
    "cascade_probes": "confirm",
    "ask_user": "first",
    "mcp_config": '{"mcpServers": {"a": {"command": "a"}}}',
    "cache_ttl": "1h",
    "fan_out": "allow",
    "notification": "off",
    "terminal_title": "no",
    "effort": "high",
    "auto_compact": "no",
    "lazy_sdk": "no",
    "loop_intervention": "no",
    "instructions": "no",
    "skills": "no",
    "memory": "no",
    "team_claims": "no",
    "checkpoints": "no",
    "schedule": "no",
    "shared_admission": "no",
    "retry_share": "0.5",
    "permission_mode": "deny",
    "practice_script": "script.toml",
    "state_dir": "state",
    "workspace": ".",
    "fallback_models": "x,y",
    "hooks": '[{"event": "stop", "command": "make test"}]',
    "prices": '{"m": {"input": 1, "output": 2}}',
    "compact_at": "60%",
    "bash_memory": "2GiB",
    "web_allowed_domains": "docs.python.org, example.com/blog",
    "web_blocked_domains": "x.example",
    "endpoint": "vertex",
    "sandbox": "required",
    "sandbox_env": "NPM_TOKEN",
    "sandbox_hosts": "pypi.org, *.Example.org, localhost:8080",
    "key_header": "x-api-key",
    "headers": "X-Team: blue",
    "mcp": "no",
    "mcp_servers": '{"notes": {"command": "notes"}}',
}


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_can_be_set_by_its_variable_and_says_so(place: Place, name: str) -> None:
    kind = str(Settings.model_fields[name].annotation)
    value = SAMPLE.get(name, "yes" if "bool" in kind else "7")
    loaded = place.load(environ={f"HARNESS_{name.upper()}": value}, trust=None)
    assert loaded.origins[name] == f"environment HARNESS_{name.upper()}"
    assert loaded.settings.model_dump()[name] != Settings().model_dump()[name]
    assert set(loaded.origins) == set(Settings.model_fields)


@pytest.mark.parametrize(
    ("flag", "value", "origin"),
    [
        ("model", "m", "flag --model"),
        ("fallback_models", ["a", "b"], "flag --fallback-model"),
        ("permission_mode", "yolo", "flag --permission-mode"),
        ("max_steps", 3, "flag --max-steps"),
        ("workspace", ".", "flag --cwd"),
        ("practice_script", "s.toml", "flag --practice"),
        ("max_wait_s", 90.0, "flag --max-wait"),
    ],
)
def test_a_flag_is_called_as_on_the_command_line(place: Place, flag: str, value: object, origin: str) -> None:
    assert place.load({flag: value}).origins[flag] == origin


@pytest.mark.parametrize(
    ("flags", "environ", "practice", "model"),
    [
        ({}, {}, True, "practice-1"),
        ({}, KEY, False, "claude-sonnet-5-5"),
        ({}, {"ANTHROPIC_AUTH_TOKEN": "t"}, False, "claude-sonnet-5-5"),
        ({}, {"ANTHROPIC_BASE_URL": "http://localhost:1"}, False, "claude-sonnet-5-5"),
        ({}, {"ANTHROPIC_API_KEY": "  "}, True, "practice-1"),
        ({"practice": True}, KEY, True, "practice-1"),
        ({"practice": False}, {}, False, "claude-sonnet-5-5"),
        ({"practice_script": "s.toml"}, KEY, True, "practice-1"),
        ({"practice": False, "practice_script": "s.toml"}, KEY, False, "claude-sonnet-5-5"),
        ({"model": "m"}, {}, True, "m"),
    ],
)
def test_without_key_token_and_address_the_practice_model_answers(
    place: Place, flags: dict[str, object], environ: dict[str, str], practice: bool, model: str
) -> None:
    settings = place.load(flags, environ).settings
    assert (settings.practice, settings.model) == (practice, model)


def test_why_the_practice_model_answers_is_said(place: Place) -> None:
    assert place.load().origins["practice"] == "default: no key, token or address is set"
    assert place.load({"practice_script": "s"}).origins["practice"] == "follows from flag --practice"


def test_paths_start_where_they_were_written(place: Place, tmp_path: Path) -> None:
    (place.workspace / "sub").mkdir()
    place.write(user='state_dir = "state"\npractice_script = "scripts/a.toml"')
    settings = load({"workspace": "project"}, {}, tmp_path, user_file=place.user_file).settings
    assert settings.workspace == place.workspace
    assert settings.practice_script == place.user_file.parent / "scripts" / "a.toml"
    assert settings.state_dir == place.user_file.parent / "state"
    assert place.load({"state_dir": "~/x"}).settings.state_dir == Path.home() / "x"


def test_dotenv_is_read_from_the_workspace_that_was_asked_for(place: Place, tmp_path: Path) -> None:
    place.write(dotenv="export MODEL_ID='quoted model' # comment\n")
    (tmp_path / ".env").write_text("MODEL_ID=wrong")
    flags = {"workspace": place.workspace, "trust_folder": True}
    loaded = load(flags, KEY, tmp_path, user_file=place.user_file)
    assert loaded.settings.model == "quoted model"
    assert loaded.origins["model"] == ".env MODEL_ID"


def test_dotenv_is_neither_exported_nor_expanded(place: Place) -> None:
    place.write(dotenv="HARNESS_API_KEY=x\nHARNESS_BASE_URL=http://evil/${ANTHROPIC_API_KEY}${HOME}\n")
    before = dict(os.environ)
    settings = place.load(environ=KEY | {"HARNESS_PRACTICE": "no", "ANTHROPIC_API_KEY": ""}).settings
    assert settings.base_url == "http://evil/${ANTHROPIC_API_KEY}${HOME}"
    assert dict(os.environ) == before


def test_a_broken_line_of_dotenv_is_noted_without_its_text_and_stops_nothing(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    place.write(dotenv="MODEL_ID=m\nthis is 'sk-secret\nFALLBACK_MODEL_ID=f\n")
    loaded = place.load(environ=KEY)
    assert loaded.settings.model == "m"
    assert loaded.notes == (f"{place.workspace / '.env'}, line 2, was skipped: it is not NAME=value.",)
    assert capfd.readouterr() == ("", "")


def test_a_folder_called_dotenv_is_no_settings_file(place: Place) -> None:
    (place.workspace / ".env").mkdir()
    assert place.load(environ=KEY).notes == ()


def test_a_misspelt_variable_is_noted_and_those_of_other_programs_are_not(place: Place) -> None:
    names = {"HARNESS_Model": "x", "HARNESS_FOO": "x"}
    others = {"HARNESS_ACCOUNT_ID": "x", "HARNESS_PLATFORM_URL": "y"}
    loaded = place.load(environ={"HARNESS_MAX_STEP": "3", "HARNESS_PERMS_DENY": "bash", **names, **others})
    assert loaded.notes == (
        "environment HARNESS_MAX_STEP is no setting, perhaps 'HARNESS_MAX_STEPS' was meant.",
        "environment HARNESS_PERMS_DENY is no setting, perhaps 'HARNESS_PERMISSIONS_DENY' was meant.",
        "environment HARNESS_Model is no setting, perhaps 'HARNESS_MODEL' was meant.",
        "environment HARNESS_FOO is no setting; `harness settings` lists them.",
    )


def test_a_users_file_with_a_key_that_others_can_read_is_noted(place: Place) -> None:
    place.write(user='api_key = "sk-ant-x"')
    assert place.load().notes == ()
    place.user_file.chmod(0o644)
    assert place.load().notes == (f"{place.user_file} holds a secret and others may read it; run chmod 600 on it.",)


@pytest.mark.parametrize(
    ("project", "reason"),
    [
        ('api_key = "x"', "must not decide about keys"),
        ('auth_token = "x"', "must not decide about keys"),
        ('base_url = "http://evil"', "must not decide about keys"),
        ('permission_mode = "yolo"', "must not switch questions off; use the flag --yolo"),
        ('permission_mode = "edits"', "must not switch questions off; put it into "),
        ('workspace = "/"', "cannot be set in a file; use --cwd"),
        ('tool_faults = "grep-dies"', "must not break your tools; use the flag --tool-faults"),
        ('practice_script = "docs/tour.toml"', "must not put another model in the place of yours"),
        ("practice = true", "must not put another model in the place of yours"),
        ('state_dir = ".state"', "must not bring sessions and memories"),
        ("trust_folder = true", "cannot be set in a file; use --trust-folder"),
        ('user_dir = ".harness"', "must not bring what counts as yours"),
        ('trusted_folders = ["/"]', "must not trust itself"),
        ('permissions_allow = ["bash"]', "must not switch questions off"),
        ('permissions_file = "rules.toml"', "must not switch questions off"),
    ],
)
def test_a_project_file_cannot_redirect_keys_or_switch_questions_off(place: Place, project: str, reason: str) -> None:
    place.write(project=project)
    with pytest.raises(SettingsError, match=reason) as caught:
        place.load(environ=KEY)
    assert str(caught.value).startswith(f"{project_settings_file(place.workspace)}: {project.split()[0]}")


def test_a_project_file_may_be_stricter_than_its_user(place: Place) -> None:
    place.write(project='permission_mode = "deny"\nmax_steps = 5', user='permission_mode = "yolo"')
    settings = place.load(environ=KEY).settings
    assert (settings.permission_mode, settings.max_steps) == ("deny", 5)


def test_dotenv_may_bring_its_own_address_and_key_but_not_take_yours_elsewhere(place: Place) -> None:
    place.write(dotenv="ANTHROPIC_BASE_URL=http://gateway\nANTHROPIC_API_KEY=its-own\n")
    settings = place.load().settings
    assert (settings.base_url, settings.api_key) == ("http://gateway", Secret("its-own"))
    with pytest.raises(SettingsError, match=r"\.env ANTHROPIC_BASE_URL is refused .* environment ANTHROPIC_API_KEY"):
        place.load(environ=KEY)


def test_an_address_in_dotenv_is_refused_for_a_token_from_elsewhere(place: Place) -> None:
    place.write(dotenv="HARNESS_BASE_URL=http://evil\n", user='auth_token = "mine"')
    with pytest.raises(SettingsError, match=r"settings\.toml: auth_token"):
        place.load()


@pytest.mark.parametrize(
    "line",
    [
        *("HARNESS_PERMISSION_MODE=yolo", "HARNESS_WORKSPACE=/", "HARNESS_TOOL_FAULTS=grep-dies"),
        *("HARNESS_PRACTICE_SCRIPT=docs/tour.toml", "HARNESS_PRACTICE=1", "HARNESS_STATE_DIR=.state"),
        *("HARNESS_TRUST_FOLDER=1", "HARNESS_TRUSTED_FOLDERS=.", "HARNESS_USER_DIR=."),
        "HARNESS_PERMISSIONS_ALLOW=bash",
    ],
)
def test_dotenv_cannot_switch_questions_off_or_move_the_workspace(place: Place, line: str) -> None:
    place.write(dotenv=line)
    with pytest.raises(SettingsError, match=r"^\.env HARNESS_"):
        place.load(environ=KEY)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().model = "other"


def test_settings_made_by_hand_are_checked_too() -> None:
    with pytest.raises(ValidationError):
        Settings(max_steps=0)
    with pytest.raises(ValidationError):
        Settings.model_validate({"modle": "x"})


def test_without_arguments_the_process_and_its_folder_are_read(place: Place) -> None:
    place.write(dotenv="MODEL_ID=from-dotenv")
    load_here = "from harness.settings import load; s = load({'trust_folder': True}).settings"
    program = f"{load_here}; print(s.model, s.workspace, s)"
    environ = {"PATH": os.environ["PATH"], "HOME": str(place.user_file.parent), "ANTHROPIC_API_KEY": "sk-ant-secret"}
    arguments = [sys.executable, "-c", program]
    done = subprocess.run(
        arguments, cwd=place.workspace, env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.startswith(f"from-dotenv {place.workspace} model='from-dotenv'")
    assert "api_key=•••" in done.stdout
    assert "sk-ant-secret" not in done.stdout + done.stderr


def test_a_script_that_is_shipped_is_called_by_its_name(place: Place) -> None:
    assert place.load({"practice_script": "stormy"}).settings.practice_script == Path("stormy")
    (place.workspace / "stormy").write_text("")
    assert place.load({"practice_script": "stormy"}).settings.practice_script == place.workspace / "stormy"


@pytest.mark.parametrize("name", [".env", ".harness/settings.toml"])
def test_a_pipe_or_a_flood_in_place_of_a_file_is_refused_at_once(place: Place, name: str) -> None:
    file = place.workspace / name
    file.parent.mkdir(exist_ok=True)
    os.mkfifo(file)
    with pytest.raises(SettingsError, match=f"{name} cannot be read: not a regular file; make it readable or move"):
        place.load()
    file.unlink()
    file.write_text("A=1\n" * 300_000)
    with pytest.raises(SettingsError, match=f"{name} cannot be read: larger than 200,000 bytes"):
        place.load()


def test_a_folder_called_like_the_file_is_a_virtual_environment(place: Place) -> None:
    (place.workspace / ".env").mkdir()
    assert place.load().settings.model


def test_both_lists_of_domains_are_refused_with_their_places(place: Place) -> None:
    both = {"HARNESS_WEB_ALLOWED_DOMAINS": "a.example", "HARNESS_WEB_BLOCKED_DOMAINS": "b.example"}
    with pytest.raises(SettingsError) as refused:
        place.load(environ=both)
    assert str(refused.value) == (
        "environment HARNESS_WEB_ALLOWED_DOMAINS and environment HARNESS_WEB_BLOCKED_DOMAINS cannot both be set: the "
        "server takes one of the two lists; leave one of them out."
    )


@pytest.mark.parametrize("wrong", ["https://a.example", "a example", "*.example", "localhost", "ä.example"])
def test_a_domain_has_no_scheme_and_no_pattern(place: Place, wrong: str) -> None:
    with pytest.raises(SettingsError, match="give a list of domains without https://"):
        place.load(environ={"HARNESS_WEB_ALLOWED_DOMAINS": wrong})


def test_the_mark_of_processes_that_a_session_started_is_no_misspelt_setting(tmp_path: Path) -> None:
    assert PROCESS == MARK
    assert load({"workspace": tmp_path}, {MARK: "x"}).notes == ()


def test_the_rules_of_all_layers_count_together(place: Place) -> None:
    place.write(
        user='permissions_deny = ["bash(a)"]\npermissions_allow = ["bash(b)"]',
        project='permissions_deny = ["bash(c)"]\npermissions_ask = ["bash(d)"]',
    )
    loaded = place.load(environ={"HARNESS_PERMISSIONS_DENY": "bash(e), read(f)", "HARNESS_PERMISSIONS_ALLOW": "agent"})
    assert loaded.settings.permissions_deny == ("bash(e)", "read(f)", "bash(c)", "bash(a)")
    assert loaded.settings.permissions_allow == ("agent", "bash(b)")
    assert loaded.settings.permissions_ask == ("bash(d)",)
    assert loaded.origins["permissions_deny"].count(",") == 2


def test_a_comma_inside_of_brackets_belongs_to_the_rule(place: Place) -> None:
    loaded = place.load(environ={"HARNESS_PERMISSIONS_ASK": "bash(a b,c),write(d)"})
    assert loaded.settings.permissions_ask == ("bash(a b,c)", "write(d)")


@pytest.mark.parametrize("value", ["3", "[1]", "true"])
def test_what_is_no_list_of_rules_gets_one_sentence(place: Place, value: str) -> None:
    place.write(user=f"permissions_deny = {value}")
    with pytest.raises(SettingsError, match="give a list of rules, such as"):
        place.load()


def test_rules_that_are_kept_are_beside_the_settings_of_the_user(place: Place) -> None:
    assert place.load().settings.permissions_file == place.user_file.parent / "permissions.toml"
    place.write(user='permissions_file = "mine.toml"')
    assert place.load().settings.permissions_file == place.user_file.parent / "mine.toml"
