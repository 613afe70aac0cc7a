"""The line of an event."""

import io
from dataclasses import replace

import pytest

from harness.base.clock import time_of_day
from harness.events import (
    BreakerChanged,
    BreakerState,
    CascadeChanged,
    CascadePhase,
    ChangeReason,
    CompactionEnded,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    FailureCharged,
    FreshnessLabel,
    HistoryRepaired,
    HoldReason,
    HookFailed,
    HookOutcome,
    HookPoint,
    HookRan,
    JobFired,
    LateResult,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopPolicySet,
    PermissionAsked,
    Projection,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    RequestHeld,
    RequestLimitSet,
    ResultLabelled,
    RetryBudgetSpent,
    RolledBack,
    Rung,
    SandboxFound,
    SandboxRefused,
    SettingChanged,
    TaskChanged,
    TaskState,
)
from harness.session import RUNGS
from harness.ui.lines.events import ANSWERS, PROJECTIONS, line_of, recorded_line
from harness.ui.lines.line import Tone
from harness.ui.plain.printer import LinePrinter
from tests.ui.loops import BACK, CIRCLE, FAILING_CIRCLE, FOUND, LEFT, took


def test_a_limit_is_no_line_where_no_request_waits_for_it() -> None:
    assert line_of(RequestLimitSet("m", 6, 24, before=8, refused_at=1.0)) is None


def test_a_request_that_waits_for_other_sessions_says_why() -> None:
    assert str(line_of(RequestHeld("m", HoldReason.LIMIT, before=3))) == (
        "◌ m waits: as many requests as may are in flight"
    )
    held = RequestHeld("m", HoldReason.OPEN, 61.0)
    assert (
        str(line_of(held))
        == f"◌ m waits: another session found it overloaded; it is tested again by {time_of_day(61.0)}"
    )


def test_that_no_retry_is_left_for_all_agents_is_one_line() -> None:
    told = "✗ no more retries: the agents together have used all they share, 12 retries for 20 requests"
    assert str(line_of(RetryBudgetSpent(20, 12))) == told
    assert str(line_of(RetryBudgetSpent(1, 1))).endswith("1 retry for 1 request")


def test_a_late_fire_says_how_late_it_is() -> None:
    fire = JobFired("c1", "c1@7", "look", 7.0, due_local="2026-11-24 09:30 CET")
    assert str(line_of(fire)) == "→ c1 fires (due 2026-11-24 09:30 CET): look"
    late = replace(fire, late_s=5_400.0, missed=2)
    assert str(line_of(late)) == "→ c1 fires (due 2026-11-24 09:30 CET, 90 min late, in place of 2 more): look"


def test_repairs_of_the_same_kind_are_reported_once_without_ids() -> None:
    missing = tuple(f"message 5: added an error for the missing result of the call toolu_{one}" for one in "abc")
    told = "· history repaired before sending: added an error for the missing result (3 times); dropped a block"
    assert str(line_of(HistoryRepaired((*missing, "message 9: dropped a block")))) == told


def test_a_compaction_that_gained_nothing_is_no_success() -> None:
    grown = CompactionEnded("summary", 4_138, 4_150, succeeded=True, detail="summarised")
    assert str(line_of(grown)) == "✗ compaction gained nothing: about 4,138 → 4,150 tokens"
    assert str(line_of(replace(grown, tokens_after=400))).startswith("✓ compacted by summary: about 4,138 → 400 tokens")
    failed = CompactionEnded("truncation", 4_138, 4_138, succeeded=False, detail="no summary")
    assert str(line_of(failed)) == "✗ compaction failed: no summary"
    cut = "→ the oldest part was cut without a summary: about 4,138 → 400 tokens (no summary)"
    assert str(line_of(replace(failed, tokens_after=400))) == cut


# ── the sandbox ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (SandboxFound("none", why="no bwrap"), None),
        (
            SettingChanged("sandbox_hosts", "a.example (session)"),
            "→ commands in the sandbox may reach a.example (session)",
        ),
        (
            SettingChanged("sandbox_hosts", "a.example", removed=True),
            "→ commands in the sandbox ask about a.example again",
        ),
        (
            TaskChanged("t2", "paint", TaskState.PENDING, "expire", "s1", "its turn ended", unblocked=("t2",)),
            "○ t2 is open again (its turn ended): paint",
        ),
        (
            TaskChanged("t2", "paint", TaskState.DEFERRED, "expire", "s1", "its turn ended", deferred=("t4",)),
            "○ t2 is set aside after too many attempts (its turn ended): paint",
        ),
        (SettingChanged("permissions", "deny bash", removed=True), "→ permissions is now without deny bash"),
        (SandboxRefused("1", "path", "/etc/x", "work"), "⊘ the sandbox refused /etc/x"),
        (
            SandboxRefused("1", "host", "a.example:443", "work", "the user said no"),
            "⊘ the sandbox refused a.example:443: the user said no",
        ),
    ],
)
def test_what_the_sandbox_does_has_a_line(event: Event, line: str | None) -> None:
    found = line_of(event)
    assert (None if found is None else str(found)) == line


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (SandboxFound("full", "bubblewrap"), None),
        (SandboxFound("files only", "landlock", "no bwrap", "apt install x"), "· sandbox: files only: no bwrap"),
    ],
)
def test_a_record_names_a_sandbox_that_was_not_full(event: Event, line: str | None) -> None:
    found = recorded_line(event)
    assert (None if found is None else str(found)) == line


# ── breakers ────────────────────────────────────────────────────────────────────────────────────

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
FAILED = Failure(FailureCategory.TIMEOUT, "timed out", "timeout")


def decided(dispatch: Dispatch, reason: DispatchReason, detail: str = "", in_place_of: str = "") -> Dispatched:
    """A decision about bash."""
    return Dispatched("1", "bash", dispatch, reason, 0, 0, detail, in_place_of=in_place_of)


def changed(before: BreakerState, after: BreakerState, why: ChangeReason, key: str = "grep") -> BreakerChanged:
    """A breaker that failed three times in a row, in step 4."""
    return BreakerChanged(key, before, after, why, 3, 1, 4, 7 if after is OPEN else None, "timed out")


def charged(cost: int, consumed: int) -> FailureCharged:
    """A failure, with a budget of 5."""
    return FailureCharged("grep", FAILED, 4, cost, consumed, 5)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (decided(Dispatch.CALL, DispatchReason.HEALTHY), None),
        (decided(Dispatch.SKIP, DispatchReason.OPEN, "it failed"), None),  # reported when the call ends
        (decided(Dispatch.PROBE, DispatchReason.PROBE_DUE, "bash is tried once"), "◌ bash is tried once"),
        (decided(Dispatch.CALL, DispatchReason.HEALTHY, in_place_of="grep"), "→ bash in place of grep"),
        (changed(CLOSED, CLOSED, ChangeReason.FAILED), None),
        (changed(OPEN, HALF_OPEN, ChangeReason.PROBE_GIVEN), None),
        (
            changed(CLOSED, OPEN, ChangeReason.THRESHOLD),
            "✗ grep is paused: it failed 3 times in a row (timed out); tried again from step 7 on",
        ),
        (changed(CLOSED, OPEN, ChangeReason.THRESHOLD, "model:claude"), "✗ claude failed 3 times in a row (timed out)"),
        (changed(HALF_OPEN, CLOSED, ChangeReason.PROBE_SUCCEEDED), "✓ grep works again"),
        (
            changed(HALF_OPEN, OPEN, ChangeReason.PROBE_LOST),
            "→ grep stays paused: the try did not show whether it works",
        ),
        (changed(OPEN, OPEN, ChangeReason.ISOLATED), "→ grep is paused: isolated"),
        (changed(HALF_OPEN, CLOSED, ChangeReason.PROBE_SUCCEEDED, "model:claude"), "✓ claude works again"),
        (charged(1, 3), None),
        (charged(0, 4), None),
        (charged(1, 4), "! failure budget: 4 of 5 used; one more failure pauses the turn"),
        (charged(1, 5), "! failure budget: 5 of 5 used; the turn pauses"),
        (charged(1, 6), None),  # of the same step: the turn pauses already
        (
            CascadeChanged("s", CascadePhase.SUSPECTED, ("a", "b"), "the network", 4),
            "! a, b fail in the same way: the network",
        ),
        (
            CascadeChanged("s", CascadePhase.SYSTEMIC, ("a", "b", "c"), "the network", 4, 7),
            "✗ a, b, c fail from one cause: the network; one of them is tried from step 7 on",
        ),
        (
            CascadeChanged("s", CascadePhase.SYSTEMIC, ("a", "b", "c"), "the network", 4),
            "✗ a, b, c fail from one cause: the network; /confirm when it is over",
        ),
        (
            CascadeChanged("s", CascadePhase.RECOVERING, ("b",), "the network", 4),
            "◌ the cause seems to be over; still to be tried: b",
        ),
        (
            CascadeChanged("s", CascadePhase.OVER, (), "the network", 4),
            "✓ all tools that failed together work again",
        ),
        (LateResult("grep", 0, 2), "· a result of grep came too late to count"),
        (
            ResultLabelled("1", "grep", FreshnessLabel.STALE, "it is old"),
            "! grep: the result is stale: it is old",
        ),
    ],
)
def test_the_line_of_a_breaker_event(event: Event, line: str | None) -> None:
    found = line_of(event)
    assert (str(found) if found else None) == line


# ── loops ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (FOUND, "⟳ loop: read_file notes.txt, 4 times in a row, with the same result each time"),
        (
            LoopFound(replace(CIRCLE, copies=8), 10),
            "⟳ loop: read_file notes.txt, 8 times in a row, with the same result each time",
        ),
        (
            replace(FOUND, relapse=True),
            "⟳ loop again: read_file notes.txt, 4 times in a row, with the same result each time",
        ),
        (
            LoopFound(replace(CIRCLE, projection=Projection.ACTION, copies=101, weak=True), 101),
            "⟳ possible loop: read_file notes.txt, 101 times in a row, whatever comes of it",
        ),
        (
            LoopFound(FAILING_CIRCLE, 4),
            "⟳ loop: grep fails: timed out after 30 s, 4 times in a row, with the same error each time",
        ),
        (took(Rung.NUDGE), "↳ nudge: the model is told"),
        (took(Rung.RETRY, "grep is tried once more in 0.4 s", 2), "↳ retry 2 of 3: grep is tried once more in 0.4 s"),
        (
            took(Rung.ROLLBACK, "there is nothing to go back to", applied=False),
            "○ rollback is not possible: there is nothing to go back to",
        ),
        (took(Rung.HUMAN, "a person is asked"), None),  # the question says so
        (took(Rung.ROLLBACK, "back to the end of step 4"), None),  # RolledBack says so
        (took(Rung.STOP, "the turn ends with a report"), None),  # the report says so
        (LEFT, "✓ out of the loop (same calls, same results) after: nudge"),
        (replace(LEFT, freed_by=None), "· the loop is over (same calls, same results)"),
        (
            LoopAsked(CIRCLE, tuple(LoopChoice)),
            "? what to do about read_file notes.txt, 4 times in a row, with the same result each time",
        ),
        (LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE), "· you let it continue"),
        (
            BACK,
            (
                "↩ rolled back to the end of step 4: the model does not see later messages; "
                "as they were then: src/a.py, src/b.py; not undone: bash rm -rf build"
            ),
        ),
        (
            RolledBack(1, 4),
            "↩ rolled back to the end of step 4: the model does not see later messages; files stay as they are",
        ),
        (
            RolledBack(2, 4, ("a.py",), ("bash make",), "rewind", "0" * 16),
            ("↩ as they were before turn 2: a.py; not undone: bash make; /rewind undo restores them"),
        ),
        (RolledBack(2, 4, why="rewind"), "↩ files stay as they are"),
        (RolledBack(2, 6, ("a.py",), why="undo"), "↩ as they were before the rewind: a.py"),
        (LoopPolicySet(enabled=True, version=1), None),
        (LoopPolicySet(enabled=False, version=2), "→ loop intervention is off; loops are only reported"),
        (
            LoopPolicySet(enabled=True, version=3, changed=("copies=6", "nudges=0")),
            "→ loop detection changed from default: copies=6, nudges=0",
        ),
    ],
)
def test_the_line_of_a_loop_event(event: Event, line: str | None) -> None:
    found = line_of(event)
    assert (str(found) if found else None) == line


def test_of_many_files_the_first_are_named_and_the_others_counted() -> None:
    found = line_of(RolledBack(1, 4, tuple(f"{number}.py" for number in range(1_205))))
    assert found is not None
    assert found.text.endswith("as they were then: 0.py, 1.py, 2.py, 3.py, 4.py and 1,200 more")


def test_only_the_end_of_a_loop_is_quiet() -> None:
    quiet = [
        event for event in (FOUND, LEFT, BACK, took(Rung.NUDGE)) if (line := line_of(event)) and line.tone is Tone.QUIET
    ]
    assert quiet == [LEFT]


def test_everything_has_a_word() -> None:
    assert set(RUNGS) == set(Rung)
    assert set(PROJECTIONS) == set(Projection)
    assert set(ANSWERS) == set(LoopChoice)


# ── hooks ───────────────────────────────────────────────────────────────────────────────────────

POINT = HookPoint.BEFORE_TOOL


def shown(event: Event) -> str:
    out = io.StringIO()
    LinePrinter(out).show(event)
    return out.getvalue()


def test_a_hook_that_lets_everything_pass_is_silent() -> None:
    assert shown(HookRan(POINT, "guard", HookOutcome.PASSED, 0.1)) == ""


@pytest.mark.parametrize("outcome", [outcome for outcome in HookOutcome if outcome is not HookOutcome.PASSED])
def test_whatever_a_hook_changed_is_one_quiet_line(outcome: HookOutcome) -> None:
    event = HookRan(POINT, "guard", outcome, 0.1, "not\x1b[2Jhere")
    text = shown(event)
    assert text.startswith("· hook guard (before tool) ")
    assert text.count("\n") == 1
    assert "\x1b" not in text
    line = line_of(event)
    assert line is not None
    assert (line.tone is Tone.TROUBLE) is (outcome is HookOutcome.STOPPED)


def test_a_failure_is_reported_once() -> None:
    first = HookFailed(POINT, "guard", "it ended with exit code 1", 0.1, required=False, times=1)
    assert (
        shown(first)
        == "! hook guard (before tool) failed: it ended with exit code 1 (the turn continues; reported once)\n"
    )
    assert shown(HookFailed(POINT, "guard", "again", 0.1, required=False, times=2)) == ""
    assert shown(HookFailed(POINT, "guard", "interrupted", 0.1, required=False, times=0)) == ""


def test_the_failure_of_a_required_hook_says_what_follows() -> None:
    assert "counts as a no" in shown(HookFailed(POINT, "guard", "gone", 0.1, required=True, times=1))


def test_what_a_removal_would_lose_is_in_every_record() -> None:
    asked = PermissionAsked("c", "worktree", "remove the worktree a", "why", detail=("would be lost: x", "stays: y"))
    assert str(line_of(asked)) == "? remove the worktree a? would be lost: x; stays: y"
    assert str(recorded_line(asked)).endswith("(why): would be lost: x; stays: y")


# ── questions in a record ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (QuestionAsked("c", "Which?", (QuestionOption("red"), QuestionOption("blue"))), "? Which? [red | blue]"),
        (QuestionAnswered("c", "option", "red"), "? answered: red"),
        (QuestionAnswered("c", "text", "a dark green"), "? answered: a dark green"),
        (QuestionAnswered("c", "option", "red", "setting"), "? answered by the settings: red"),
        (QuestionAnswered("c", "declined", ""), "? declined"),
        (QuestionAnswered("c", "declined", "", "setting"), "? not answered: no user is present"),
    ],
)
def test_a_question_and_its_answer_have_a_line_in_a_record(event: Event, line: str) -> None:
    assert line_of(event) is None
    assert str(recorded_line(event)) == line
