"""What a model is told about arguments that do not fit."""

import pytest

from harness.events import Json
from harness.tools.arguments import ArgumentError
from harness.tools.tool import tool
from harness.tools.toolbox import Toolbox, standard_tools

TOOLBOX = Toolbox(standard_tools())


@pytest.mark.parametrize(
    ("tool", "input", "told"),
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
def test_a_wrong_argument_is_named_with_what_was_given_and_what_fits(tool: str, input: Json, told: str) -> None:
    found = TOOLBOX.get(tool)
    assert found is not None
    with pytest.raises(ArgumentError) as refusal:
        found.parse(input)
    assert told in str(refusal.value)
    assert str(refusal.value).startswith(f"{tool} was not run: ")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("input", [{"lines": ["a", "\ud800"]}, {"table": {"a": "\ud800"}}, {"table": {"\ud800": "a"}}])
def test_half_a_character_is_a_wrong_argument_wherever_it_stands(input: Json) -> None:
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
