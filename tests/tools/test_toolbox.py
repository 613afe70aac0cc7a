"""Tools by name, and how they are described to the model."""

import json

import pytest

from harness.tools.tool import Effect
from harness.tools.toolbox import Toolbox, standard_tools


def test_the_standard_tools_and_what_they_do_to_the_world() -> None:
    assert {tool.name: tool.effect for tool in standard_tools()} == {
        "bash": Effect.RUN,
        "read_file": Effect.READ,
        "write_file": Effect.WRITE,
        "edit_file": Effect.WRITE,
        "glob": Effect.READ,
        "grep": Effect.READ,
        "todo_write": Effect.READ,
    }


def test_only_tools_that_read_files_run_side_by_side() -> None:
    assert {tool.name for tool in standard_tools() if tool.parallel} == {"read_file", "glob", "grep"}


def test_specs_are_byte_for_byte_the_same_each_time() -> None:
    first, second = (json.dumps(Toolbox(standard_tools()).specs()) for _ in range(2))
    assert first == second


def test_every_argument_is_described() -> None:
    for spec in Toolbox(standard_tools()).specs():
        assert list(spec) == ["name", "description", "input_schema"]
        schema = spec["input_schema"]
        assert schema["additionalProperties"] is False
        for argument in schema["properties"].values():
            assert argument["description"]
            assert "title" not in argument
            assert "type" in argument


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("ReadFile", "read_file"), ("Bash", "bash"), ("grep_files", "grep"), ("edit", "edit_file"), ("zzzzz", None)],
)
def test_a_wrong_name_finds_the_nearest(wrong: str, meant: str | None) -> None:
    toolbox = Toolbox(standard_tools())
    assert toolbox.get(wrong) is None
    assert toolbox.nearest(wrong) == meant


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="bash"):
        Toolbox([*standard_tools(), standard_tools()[0]])


@pytest.mark.parametrize("input", [{}, {"command": None}, {"path": 3}, {"pattern": ["x"]}, {"x": {"y": 1}}])
def test_a_summary_never_fails(input: dict[str, object]) -> None:
    for tool in standard_tools():
        assert isinstance(tool.summarise(input), str)
