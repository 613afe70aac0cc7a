"""The table of the breakers, models that are paused, and common causes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from harness.events import (
    BreakerState,
    HealthRow,
)
from harness.ui.panel import breaker_lines
from harness.ui.panel.sections import calm_rows, is_calm
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import look, panel_content, says
from tests.ui.panel.situations import NOW


def row(name: str, state: BreakerState = BreakerState.CLOSED, failures: int = 0, ago: float = 4.0) -> HealthRow:
    """A tool that was called so many seconds ago, and failed then if it failed at all."""
    at, probe_at = NOW - ago, 9 if state is BreakerState.OPEN else None
    failed = failures or state is not BreakerState.CLOSED
    return HealthRow(name, state, failures, at if failed else None, None if failed else at, probe_at=probe_at, calls=3)


UNUSED = tuple(HealthRow(name, BreakerState.CLOSED, 0) for name in ("glob", "web_fetch"))
CALM = (row("bash"), row("edit_file", ago=12))
TABLES: tuple[tuple[tuple[HealthRow, ...], list[str]], ...] = (
    (UNUSED, ["● 2 tools not used"]),
    (
        CALM,
        ["tool      state fails last next", "bash      works     0 now", "edit_file works     0 10 s", "● all work"],
    ),
    (
        (*CALM, *UNUSED),
        [
            "tool      state fails last next",
            "bash      works     0 now",
            "edit_file works     0 10 s",
            "● all work · 2 others not used",
        ],
    ),
    (
        (*CALM, row("grep", BreakerState.OPEN, 3, ago=130), *UNUSED),
        [
            "tool      state  fails last  next",
            "grep      paused     3 2 min step 9",
            "bash      works      0 now",
            "edit_file works      0 10 s",
            "2 others not used",
        ],
    ),
    (
        (row("grep", BreakerState.HALF_OPEN, 3, ago=7_300), row("bash", failures=2, ago=200_000)),
        [
            "tool state  fails last next",
            "grep trying     3 2 h  running",
            "bash works      2 2 d",
        ],
    ),
)
"""The tools of a session, and how they are drawn."""


@pytest.mark.parametrize(("rows", "drawn"), TABLES)
def test_the_table_has_the_tools_that_were_used_those_in_trouble_first(
    rows: tuple[HealthRow, ...], drawn: list[str]
) -> None:
    full, *_ = breaker_lines.table(situation.CALM._replace(rows=rows), 36, NOW)
    assert [line.plain for line in full if line.plain.strip()] == drawn


@pytest.mark.parametrize(
    ("rows", "drawn"),
    [
        (UNUSED, "tools    ● 2 tools not used"),
        (CALM, "tools    ● 2 tools work"),
        ((*CALM, *UNUSED), "tools    ● 2 work · 2 not used"),
    ],
)
def test_in_calm_two_lines_are_enough(rows: tuple[HealthRow, ...], drawn: str) -> None:
    lines = calm_rows(situation.CALM._replace(rows=rows), 60)
    assert [line.plain for line in lines] == [drawn, "failures ░░░░░ 0 of 5"]


@given(st.floats(0, 1e6))
def test_the_time_since_a_call_is_shown_in_other_words_no_sooner_than_said(age: float) -> None:
    panel = situation.CALM._replace(rows=(row("bash", ago=age),))
    wait = breaker_lines.changes_in(panel, NOW)
    assert wait is not None
    now, before, after = (look(panel, now=NOW + later)[4] for later in (0.0, wait * 0.99, wait + 0.001))
    assert now == before != after


def test_an_open_tool_is_highlighted_with_its_probe_and_the_way_round() -> None:
    says(situation.OPEN, "grep paused     3 now  step 4", '→ bash: rg "timeout" src/ · loses grep\'s own formatting')
    says(situation.PROBING, "running grep", "grep trying     3 now  running")


def test_where_there_is_little_room_only_the_troubled_tools_are_listed() -> None:
    panel = situation.OPEN._replace(rows=(*CALM, *situation.OPEN.rows[5:], *UNUSED))
    lines = look(panel, 44, 9)
    assert any(line.startswith("grep") for line in lines)
    assert "2 others work · 3 not used" in lines
    assert not any(line.startswith("bash") for line in lines)


def test_the_full_table_lists_all_tools_with_the_terms_of_the_field_and_explains_the_signs() -> None:
    says(situation.OPEN, "grep       OPEN       3", "bash       CLOSED     0", "⊘ a tool was paused", expanded=True)
    says(situation.PROBING, "grep       HALF-OPEN     3", expanded=True)
    assert not any("OPEN" in line or "CLOSED" in line for line in look(situation.OPEN))


@pytest.mark.parametrize(("state", "told"), [(BreakerState.CLOSED, False), (BreakerState.HALF_OPEN, True)])
def test_the_last_failure_of_a_tool_is_reported_until_it_works_again(state: BreakerState, told: bool) -> None:
    row = HealthRow("grep", state, 0, message="timed out", note="degraded")
    lines = look(situation.CALM._replace(rows=(row,)))
    assert ("  degraded; timed out" in lines, "  degraded" in lines) == (told, not told)


def test_names_of_wide_characters_keep_the_columns_in_line() -> None:
    rows = (HealthRow("天気予報", BreakerState.OPEN, 3), *situation.CALM.rows)
    lines = look(situation.CALM._replace(rows=rows), expanded=True)
    places = {cell_len(line[: line.index(word)]) for line in lines for word in ("OPEN", "CLOSED") if word in line}
    assert places == {11}


def test_the_full_table_has_the_error_rate_of_every_tool_and_the_short_one_has_not() -> None:
    rows = (
        HealthRow("grep", BreakerState.OPEN, 3, calls=12, failed=3),
        HealthRow("glob", BreakerState.CLOSED, 0, calls=7),
    )
    panel = situation.CALM._replace(rows=rows)
    head, grep, glob = (
        next(line for line in look(panel, 90, expanded=True) if line.startswith(name))
        for name in ("tool", "grep", "glob")
    )
    assert [line[head.index("error rate") :].split("  ")[0] for line in (grep, glob)] == ["3/12 (25%)", "0/7"]
    assert not any("error rate" in line or "3/12" in line for line in look(panel, 90))


LONG_NAMES = ("list_background", "read_background", "kill_background")


def test_names_that_have_no_room_are_cut_so_that_they_stay_apart() -> None:
    panel = situation.CALM._replace(rows=tuple(row(name) for name in LONG_NAMES))
    assert [line[:15] for line in look(panel, 40)[4:7]] == list(LONG_NAMES)
    lines = look(panel, 30)
    assert all(any(line.startswith(f"{start}…") for line in lines) for start in ("list_b", "read_b", "kill_b"))
    assert max(map(cell_len, lines)) <= 30


def test_a_common_cause_is_reported_once_and_not_again_for_each_tool() -> None:
    says(situation.SYSTEMIC, "cause    the network", "glob, grep, read_file failed together")
    lines = look(situation.SYSTEMIC)
    assert sum("network" in line for line in lines) == 1
    assert is_calm(situation.SYSTEMIC) is False


def test_tools_without_trouble_are_quiet_in_the_list_of_all() -> None:
    content = panel_content(situation.OPEN, 80, 60, NOW, expanded=True)
    at = {name: content.plain.index(f"\n{name}") + 1 for name in ("bash", "grep")}
    quiet = {
        name for name, start in at.items() if any(s.start == start and str(s.style) == "dim" for s in content.spans)
    }
    assert quiet == {"bash"}


def test_joiners_with_nothing_to_join_do_no_harm() -> None:
    rows = (HealthRow("\u200d\u200d天", BreakerState.OPEN, 3, message="\u200d\u200d天 \u200d\u200d天"),)
    assert look(situation.CALM._replace(rows=rows), 30)[4] == "天   paused     3      by hand"


def test_the_short_form_of_a_cause_is_its_first_line() -> None:
    (*_, short) = breaker_lines.causes(situation.SYSTEMIC, 60)
    assert [line.plain for line in short] == ["cause    the network"]


def test_a_column_is_shown_as_soon_as_it_fits() -> None:
    panel = situation.CALM._replace(rows=(row("grep", BreakerState.OPEN, 3),))
    widths = {
        name: min(width for width in range(8, 80) if name in breaker_lines.table(panel, width, NOW)[0][0].plain)
        for name in ("state", "next", "fails", "last")
    }
    assert widths == {"state": 11, "next": 18, "fails": 24, "last": 29}
