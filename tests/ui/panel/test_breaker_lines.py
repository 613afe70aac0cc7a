"""The table of the breakers, models that are paused, and common causes."""

import pytest
from rich.cells import cell_len

from harness.events import (
    BreakerState,
    HealthRow,
)
from harness.ui.panel import breaker_lines
from harness.ui.panel.sections import is_calm
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import look, panel_content, says
from tests.ui.panel.situations import NOW


def test_an_open_tool_is_highlighted_with_its_probe_and_the_way_round() -> None:
    says(situation.OPEN, "grep PAUSED        3", '→ bash: rg "timeout" src/; loses grep\'s own formatting')
    [line] = (line for line in look(situation.OPEN) if line.startswith("grep"))
    assert line.endswith("step 4")
    says(situation.PROBING, "running grep", "grep being tried     3 08:00:00            running")


def test_where_there_is_little_room_only_the_troubled_tools_are_listed() -> None:
    lines = look(situation.OPEN, 44, 8)
    assert any(line.startswith("grep") for line in lines)
    assert "6 others working" in lines
    assert not any(line.startswith("bash") for line in lines)


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (24, "tool state     next try"),
        (32, "tool state     fails next try"),
        (40, "tool state     fails last fail next try"),
        (52, "tool state     fails last fail last ok   next try"),
    ],
)
def test_a_wider_panel_has_more_columns(width: int, columns: str) -> None:
    assert columns in look(situation.OPEN, width)


def test_the_expanded_panel_lists_all_tools_with_the_technical_words_and_explains_them() -> None:
    rows = "bash       working (closed)     0", "grep       PAUSED (open)        3"
    says(situation.OPEN, *rows, "⊘ a tool was paused", expanded=True)
    assert not any("(open)" in line for line in look(situation.OPEN))


@pytest.mark.parametrize(("state", "told"), [(BreakerState.CLOSED, False), (BreakerState.HALF_OPEN, True)])
def test_the_last_failure_of_a_tool_is_reported_until_it_works_again(state: BreakerState, told: bool) -> None:
    row = HealthRow("grep", state, 0, message="timed out", note="degraded")
    lines = look(situation.CALM._replace(rows=(row,)))
    assert ("  degraded; timed out" in lines, "  degraded" in lines) == (told, not told)


def test_names_of_wide_characters_keep_the_columns_in_line() -> None:
    rows = (HealthRow("天気予報", BreakerState.OPEN, 3), *situation.CALM.rows)
    lines = look(situation.CALM._replace(rows=rows), expanded=True)
    places = {cell_len(line[: line.index(word)]) for line in lines for word in ("PAUSED", "working (") if word in line}
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
LONG_ROWS = tuple(HealthRow(name, BreakerState.CLOSED, 0) for name in LONG_NAMES)


def test_columns_give_room_to_names_that_would_be_cut() -> None:
    panel = situation.CALM._replace(rows=(*situation.CALM.rows, *LONG_ROWS))
    lines = look(panel, 47, expanded=True)
    assert "tool            state            fails next try" in lines
    assert f"{'bash':<16}working (closed)     0" in lines
    for name in LONG_NAMES:
        assert f"{name:<16}working (closed)     0" in lines


def test_names_that_have_no_room_are_cut_so_that_they_stay_apart() -> None:
    opened = HealthRow(LONG_NAMES[0], BreakerState.OPEN, 3, probe_at=1_234)
    panel = situation.CALM._replace(rows=(*situation.CALM.rows, opened, *LONG_ROWS[1:]))
    lines = look(panel, 46, expanded=True)
    assert all(any(line.startswith(f"{start}…") for line in lines) for start in ("list_b", "read_b", "kill_b"))
    assert max(map(cell_len, lines)) <= 46


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
    assert look(situation.CALM._replace(rows=rows), 30)[5] == "天   PAUSED        3 by hand"


def test_the_short_form_of_a_cause_is_its_first_line() -> None:
    (*_, short) = breaker_lines.causes(situation.SYSTEMIC, 60)
    assert [line.plain for line in short] == ["cause    the network"]


def test_a_column_is_shown_as_soon_as_it_fits() -> None:
    rows = (HealthRow("grep", BreakerState.OPEN, 3, probe_at=9),)
    panel = situation.CALM._replace(rows=rows)
    widths = {
        name: min(width for width in range(8, 80) if name in breaker_lines.table(panel, width)[0][0].plain)
        for name in ("state", "next try", "fails")
    }
    assert widths == {"state": 14, "next try": 23, "fails": 29}
