"""Code and figures in the texts of the chapters."""

import pytest

from chapters.course import LessonError, source
from chapters.course.refresh import drawing, figure, in_words, refreshed
from harness.policies.recovery.compaction import COMPACT_MARGIN
from harness.settings import Settings

CODE = "<!-- code: harness/policies/recovery/compaction.py:thresholds -->\n```python\nold\n```\n"
DRAWING = "<!-- drawing: chapters.s22_loops.drawings:rows -->\n\n```text\nold\n```\n"
VALUE = "at <!-- value: harness.policies.recovery.compaction:COMPACT_MARGIN -->?<!-- end --> tokens"


def test_code_and_figures_are_those_of_the_program() -> None:
    text = refreshed(f"{CODE}\n{DRAWING}\n{VALUE}\n")
    assert f"```text\n{drawing('chapters.s22_loops.drawings:rows')}```\n" in text
    assert source("harness/policies/recovery/compaction.py:thresholds").text in text
    assert f"-->{COMPACT_MARGIN:,}<!-- end -->" in text


def test_refreshing_twice_changes_nothing_more() -> None:
    once = refreshed(f"{CODE}\n{DRAWING}\n{VALUE}\n")
    assert refreshed(once) == once


def test_settings_give_their_default() -> None:
    assert figure("harness.settings:Settings.max_retries") == str(Settings.model_fields["max_retries"].default)


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "on"), (8000, "8,000"), (0.5, "0.5"), (("a", 2), "a, 2"), ("x", "x")],
)
def test_values_in_words(value: object, words: str) -> None:
    assert in_words(value) == words


@pytest.mark.parametrize(
    "text",
    [
        "<!-- code: harness/policies/recovery/compaction.py:gone -->\n```python\n```\n",
        "<!-- code: harness/policies/recovery/compaction.py:thresholds -->\nno block\n",
        "<!-- drawing: chapters.s22_loops.drawings:gone -->\n```text\n```\n",
        "<!-- drawing: chapters.s22_loops.drawings:rows -->\nno block\n",
        "<!-- drawing: harness.policies.recovery.compaction:COMPACT_MARGIN -->\n```text\n```\n",
        "<!-- value: harness.policies.recovery.compaction:GONE -->1<!-- end -->",
        "<!-- value: harness.policies.recovery.compaction:COMPACT_MARGIN -->1",
        "<!-- value: os:name -->1<!-- end -->",
    ],
)
def test_what_is_gone_or_marked_wrongly_is_an_error(text: str) -> None:
    with pytest.raises(LessonError):
        refreshed(text)
