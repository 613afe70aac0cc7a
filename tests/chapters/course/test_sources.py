"""Code by its path and name."""

import ast
import inspect
from textwrap import dedent

import pytest

from chapters.course import LessonError, source
from harness import agent
from harness.policies.recovery import compaction


def test_a_method_is_shown_unchanged() -> None:
    found = source("harness/agent.py:Agent.run")
    assert dedent(inspect.getsource(agent.Agent.run)) == found.text
    lines = inspect.getsource(agent).splitlines()
    assert lines[found.first_line - 1].strip() == found.text.splitlines()[0]


def test_a_class_has_its_decorators() -> None:
    shown = source("harness/policies/recovery/compaction.py:CompactionThresholds").text
    assert shown == inspect.getsource(compaction.CompactionThresholds)


def test_a_name_has_the_docstring_behind_it() -> None:
    shown = source("harness/policies/recovery/compaction.py:RESERVE").text
    assert shown == 'RESERVE = 20_000\n"""Tokens kept for the answer, at most."""\n'
    assert source("harness/policies/recovery/compaction.py:COMPACT_MARGIN").text == "COMPACT_MARGIN = 13_000\n"


def test_a_field_of_a_class_is_a_name_as_well() -> None:
    shown = source("harness/policies/recovery/compaction.py:CompactionThresholds.usable").text
    assert [type(one) for one in ast.parse(inspect.cleandoc(shown)).body] == [ast.AnnAssign, ast.Expr]


def test_a_path_alone_is_the_file_after_its_imports() -> None:
    shown = source("harness/agent.py")
    whole = inspect.getsource(agent)
    assert whole.endswith(shown.text)
    assert "import" not in shown.text.splitlines()[0]
    assert whole.splitlines()[shown.first_line - 1] == shown.text.splitlines()[0]


def test_the_line_that_decides_is_found_by_its_text() -> None:
    found = source("harness/policies/recovery/compaction.py:CompactionThresholds:usable:")
    assert inspect.getsource(compaction).splitlines()[found.deciding - 1].strip().startswith("usable:")
    assert found.place == "harness/policies/recovery/compaction.py:CompactionThresholds"


def test_a_line_that_a_learner_has_changed_in_a_chapter_is_not_missed() -> None:
    assert source("chapters/s05_todo_write/demo.py:holding_to_it:no such line").deciding == 0


@pytest.mark.parametrize(
    "place",
    [
        "harness/agent.py:Agent.walk",
        "harness/agent.py:Nobody",
        "harness/nothing.py",
        "harness/agent.py:Agent.run:no such line",
        "harness/agent.py:Agent.run:self",
        "/etc/passwd",
        "harness/../../secret.py",
        "tests/conftest.py",
    ],
)
def test_what_is_not_there_is_an_error_that_names_it(place: str) -> None:
    with pytest.raises(LessonError) as caught:
        source(place)
    assert place.partition(":")[0] in str(caught.value)
