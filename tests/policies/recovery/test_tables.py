"""The tables as pages."""

from pathlib import Path

import pytest

from harness.events import FaultKind, TransitionCode
from harness.policies.recovery.tables import REMEDIES_TITLE, as_markdown, as_text
from harness.policies.recovery.transitions import REMEDIES, TRANSITIONS

PAGE = Path(__file__).parents[3] / "docs" / "transitions.md"


def test_the_page_in_the_documentation_is_the_one_of_the_tables() -> None:
    remedy = "run: python -m harness.policies.recovery.tables > docs/transitions.md"
    assert PAGE.read_text(encoding="utf-8").rstrip() == as_markdown().rstrip(), remedy


def test_every_code_is_in_both_forms_once_with_all_that_is_known_of_it() -> None:
    markdown, text = (page.split(REMEDIES_TITLE)[0].splitlines() for page in (as_markdown(), as_text()))
    for code in TransitionCode:
        row = TRANSITIONS[code]
        (line,) = (line for line in markdown if line.startswith(f"| `{code}` |"))
        assert all(part in line for part in (row.trigger, row.effect, row.guard))
        assert sum(line.startswith(f"{code} ") for line in text) == 1


def test_every_kind_of_fault_is_in_both_forms_with_its_answer() -> None:
    assert [kind for kind in FaultKind if f"| `{kind}` | {REMEDIES[kind]} |" not in as_markdown()] == []
    told = [line.split(maxsplit=1) for line in as_text().split(REMEDIES_TITLE)[1].splitlines() if line]
    assert {line[0]: line[-1] for line in told if line[0] in set(FaultKind)} == REMEDIES


@pytest.mark.parametrize("width", [0, 72, 80, 100, 200])
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(width: int) -> None:
    page = as_text(width)
    assert max(map(len, page.splitlines())) <= max(width, 72)
    assert not [line for line in page.splitlines() if line != line.rstrip()]
    said = {word for row in TRANSITIONS.values() for word in (row.trigger + " " + row.effect).split()}
    assert said <= set(page.split())
