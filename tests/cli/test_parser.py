"""The flags of the commands: accepted values, and one-sentence errors for the rest."""

from pathlib import Path

import pytest

from harness.base.errors import SettingsError
from harness.cli.main import main
from harness.cli.parser import COMMANDS, agent_parser, command_parser, flags

REFUSED = """
--frobnicate
-p a --output-format xml
--trust-folder --no-trust-folder
practice
tasks
cron add
export
serve --port 70000
serve --port -1
serve --port eighty
breakers --at x
shot latest
shot latest -o a.svg --at 1 --seq 2
watch --output-format json
learn --language fr
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_a_mistake_is_one_sentence_that_names_the_help(capsys: pytest.CaptureFixture[str], line: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(line.split())
    assert ended.value.code == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert "--help" in sentence


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    assert COMMANDS[command][1:] in command_parser(command).format_help().replace("\n", " ")


def test_only_flags_that_were_given_override_settings() -> None:
    assert {value for value in flags(agent_parser().parse_args([])).values() if value is not None} == set()
    line = "-m opus -y --plain --practice --fallback-model haiku --no-trust-folder --max-turns 3 --cwd there"
    given = {name: value for name, value in flags(agent_parser().parse_args(line.split())).items() if value is not None}
    assert given == {
        "model": "opus",
        "permission_mode": "yolo",
        "plain": True,
        "practice": True,
        "fallback_models": ["haiku"],
        "trust_folder": False,
        "max_steps": "3",
        "workspace": "there",
    }


def test_a_text_for_the_system_prompt_may_come_from_a_file(tmp_path: Path) -> None:
    def given(value: str) -> object:
        return flags(agent_parser().parse_args(["--append-system-prompt", value]))["append_system_prompt"]

    (tmp_path / "rules.md").write_text("Be brief.\n")
    (tmp_path / "binary").write_bytes(b"\xff")
    assert given("Say yes.") == "Say yes."
    assert given(f"@{tmp_path}/rules.md") == "Be brief.\n"
    for wrong, why in (("none", "No such file"), ("binary", "not UTF-8"), (".", "cannot be read")):
        with pytest.raises(SettingsError, match=why):
            given(f"@{tmp_path}/{wrong}")


def test_a_practice_script_is_a_setting_of_its_own() -> None:
    given = flags(agent_parser().parse_args(["--practice", "storm.toml"]))
    assert (given["practice"], given["practice_script"]) == (None, "storm.toml")


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("serve --port 65535", "port", 65_535),
        ("breakers", "session", "latest"),
        ("replay", "session", "latest"),
        ("watch", "session", None),
        ("shot -o a.svg", "size", "120x36"),
        ("tasks add water", "priority", 2),
        ("practice serve", "host", "127.0.0.1"),
        ("check", "continue_with", "--continue"),
    ],
)
def test_defaults_and_limits_of_a_command(line: str, name: str, value: object) -> None:
    command, *rest = line.split()
    assert getattr(command_parser(command).parse_args(rest), name) == value
