"""The table and the report in plain text: everything is there, and it fits."""

import time
from dataclasses import replace

import pytest
from hypothesis import given, settings

from harness.events import (
    BreakerState,
    Deferred,
    Failure,
    FailureCategory,
    HealthRow,
    ItemStatus,
    LoggedFailure,
    PauseReport,
    PlanItem,
    ToolTally,
)
from harness.policies.breakers.health_table import MOST_FAILURES, report_lines, table_lines
from harness.policies.breakers.pause_report import pause_report
from tests.policies.breakers import reports

BASH = HealthRow(
    *("bash", BreakerState.OPEN, 3, 45_000.0, 44_000.0, "timed out after 120 s", 15), critical=True, calls=12, failed=3
)
GREP = HealthRow("grep", BreakerState.CLOSED, 0, 30.0, 45_001.0, "an old message", calls=4)


def clock(moment: float) -> str:
    return time.strftime("%H:%M:%S", time.gmtime(moment))


def test_the_table_has_the_columns_of_the_seed_and_what_went_wrong() -> None:
    assert table_lines([GREP, BASH], 12, clock) == (
        "tool   state   fails  error rate  last fail  last ok   next try  note",
        "grep   CLOSED      0  0/4         00:00:30   12:30:01  -",
        "bash*  OPEN        3  3/12 (25%)  12:30:00   12:13:20  step 15   timed out after 120 s",
        "* No other tool can replace it.",
    )


def test_the_next_probe_is_a_step_or_now_or_under_way_or_up_to_a_user() -> None:
    rows = [
        replace(BASH, probe_at=13),
        replace(BASH, probe_at=12),
        replace(BASH, state=BreakerState.HALF_OPEN, probe_at=None),
        replace(BASH, probe_at=None, note="isolated by hand"),
    ]
    lines = table_lines(rows, 12, clock)
    for line, expected in zip(lines[1:], ["step 13", "now", "under way", "by hand"], strict=False):
        assert f"  {expected}  " in line
    assert "isolated by hand; timed out" in lines[4]


def test_a_long_note_stays_in_its_column_and_a_long_name_is_cut() -> None:
    rows = [
        replace(BASH, tool="a" * 19, message="connection refused by the host " * 3),
        replace(GREP, tool="b" * 24, critical=True),
    ]
    assert table_lines(rows, 12, clock) == (
        "tool                  state   fails  error rate  last fail  last ok   next try  note",
        "aaaaaaaaaaaaaaaaaaa*  OPEN        3  3/12 (25%)  12:30:00   12:13:20  step 15   connection refused",
        " " * 80 + "by the host",
        " " * 80 + "connection refused …",
        "bbbbbbbbbbbbbbbbbb…*  CLOSED      0  0/4         00:00:30   12:30:01  -",
        "* No other tool can replace it.",
    )


def test_a_table_of_no_tools_says_so() -> None:
    assert table_lines([], 0, clock) == ("There are no tools.",)


def test_the_report_reads_from_the_reason_to_what_a_user_can_do() -> None:
    items = [
        PlanItem("Read the settings", ItemStatus.DONE),
        PlanItem("Search", ItemStatus.IN_PROGRESS),
        PlanItem("Write"),
        PlanItem("Deploy", tools=("bash",)),
    ]
    deferred = [Deferred(items[3], "bash is open", "a probe from step 15 on")]
    log = [LoggedFailure(step, "bash", Failure(FailureCategory.TIMEOUT, "timed out after 120 s")) for step in (3, 4, 4)]
    report = pause_report("the budget is used up", items, deferred, (), [GREP, BASH], 3, 3, log)
    assert report_lines(report) == (
        "PAUSED: the budget is used up",
        "",
        "Done",
        "  [x] Read the settings",
        "",
        "Begun and not finished",
        "  [!] Search",
        "",
        "Not attempted",
        "  [ ] Write",
        "",
        "Deferred",
        "  [-] Deploy",
        "      why: bash is open",
        "      to unblock: a probe from step 15 on",
        "",
        "Tools",
        "  bash  PAUSED       3 failures in a row; timed out after 120 s",
        "  working: grep",
        "",
        "Failure budget: 3 of 3 used",
        "  failures: bash 3",
        "  step 3  bash  timed out after 120 s",
        "  step 4  bash  timed out after 120 s",
        "  step 4  bash  timed out after 120 s",
        "",
        "What you can do",
        "  1. Check bash: timed out after 120 s. When it works again: /reset bash",
        "  2. Go on with a fresh budget of 3 failures, from: Search",
    )


def test_without_a_plan_the_tool_calls_are_listed_under_that_name() -> None:
    lines = report_lines(pause_report("x", calls=[ToolTally("bash", 2, 1)]))
    assert "No sub-tasks were declared; these are the tool calls." in lines
    assert lines[lines.index("Done") + 1] == "  [x] bash, 2 calls"
    assert lines[lines.index("Failed") + 1] == "  [!] bash, 1 call"


def test_failures_of_one_cause_explain_why_the_budget_is_below_the_log() -> None:
    log = [LoggedFailure(2, tool, Failure(FailureCategory.TRANSPORT, "refused", "refused")) for tool in ("a", "b", "c")]
    lines = report_lines(pause_report("x", consumed=1, budget=5, log=log, not_logged=2))
    assert "Failure budget: 1 of 5 used; failures of one cause are charged together" in lines
    assert "  failures: a 1, b 1, c 1, 2 older and not listed" in lines
    assert "Failure budget: 2 of 2 used" in report_lines(pause_report("x", consumed=3, budget=2, log=log))


def test_tools_in_trouble_are_below_each_other_with_their_names_cut() -> None:
    rows = [replace(BASH, tool="a" * 25, failures=1), replace(GREP, tool="b" * 24, note="degraded"), GREP]
    lines = report_lines(pause_report("x", health=rows))
    assert lines[lines.index("Tools") + 1 :][:3] == (
        "  aaaaaaaaaaaaaaaaaaaaaaa…  PAUSED       1 failure in a row; timed out after 120 s",
        "  bbbbbbbbbbbbbbbbbbbbbbbb  working      degraded",
        "  working: grep",
    )


@pytest.mark.parametrize(("failures", "cut"), [(20, False), (21, True)])
def test_only_a_log_that_is_cut_says_so(failures: int, cut: bool) -> None:
    log = [LoggedFailure(1, "bash", Failure(FailureCategory.SYSTEM, "no"))] * failures
    assert ("  the last 20 of them:" in report_lines(pause_report("x", log=log))) == cut


def test_a_long_log_shows_its_newest_failures_and_counts_them_all() -> None:
    log = [LoggedFailure(step, "bash", Failure(FailureCategory.SYSTEM, f"no {step}")) for step in range(100)]
    lines = report_lines(pause_report("x", log=log))
    assert "  failures: bash 100" in lines
    shown = [line for line in lines if line.startswith("  step ")]
    assert shown == [f"  step {step}  bash  no {step}" for step in range(100 - MOST_FAILURES, 100)]


@settings(max_examples=60)
@given(reports.reports)
def test_a_report_of_anything_fits_into_100_columns_and_names_every_tool_and_failure(report: PauseReport) -> None:
    lines = report_lines(report)
    assert all(len(line) <= 100 and "\n" not in line for line in lines)
    together = " ".join("\n".join(lines).split())
    for row in report.health:
        assert row.tool[:22] in together
    assert len([line for line in lines if line.startswith("  step ")]) >= min(len(report.log), MOST_FAILURES)


@settings(max_examples=60)
@given(reports.tables)
def test_a_table_of_anything_fits_into_100_columns_and_has_a_line_for_each_tool(rows: list[HealthRow]) -> None:
    lines = table_lines(rows, 12, clock)
    assert all(len(line) <= 100 and "\n" not in line for line in lines)
    for row in rows:
        assert len([line for line in lines if line.startswith(row.tool[:18]) and row.state.upper() in line]) == 1
