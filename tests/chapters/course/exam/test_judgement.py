"""What a run shows, and what it says is missing."""

from dataclasses import replace

import pytest

from chapters.course.exam.judgement import (
    NEEDED,
    Continued,
    Ended,
    Observed,
    Shown,
    judge,
    judge_continued,
    judge_ended,
    lost,
    shown,
)
from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.player import PARTS, Played, row_of
from chapters.course.exam.result import ExamResult
from chapters.course.exam.rows import ANSWER, ROWS, RowKind
from chapters.course.text import LANGUAGES
from harness.events import Json

GOOD = Observed(3, 0, f"$ echo ran\n{ANSWER}\n", "retrying", 1.0, rounds=1)


@pytest.mark.parametrize(
    ("name", "changes", "missing"),
    [
        ("500", {}, None),
        ("500", {"stdout": ANSWER.replace(" ", "\n")}, None),
        ("500", {"rounds": None}, None),
        ("500", {"exit_code": 1, "stdout": ""}, Mechanism.RETRY),
        ("500", {"exit_code": None}, Mechanism.RETRY),
        ("500", {"exit_code": 1}, Mechanism.EXIT_CODE),
        ("500", {"stdout": ANSWER + ANSWER}, Mechanism.ONE_ANSWER),
        ("500", {"stdout": ANSWER[:20] + ANSWER}, Mechanism.ONE_ANSWER),
        ("500", {"rounds": 2}, Mechanism.CALLS_ONCE),
        ("500", {"rounds": 0}, Mechanism.RETRY),
        ("500", {"violations": ("no result",)}, Mechanism.VALID_HISTORY),
        ("max_tokens once, then the rest", {"stdout": ANSWER[:30]}, Mechanism.ESCALATION),
        ("max_tokens once, then the rest", {"stdout": ANSWER[30:]}, Mechanism.JOINED),
        ("stall before the first byte", {"exit_code": None, "stdout": ""}, Mechanism.SILENCE),
        ("tool call cut by max_tokens", {"rounds": 3}, Mechanism.CUT_CALL),
        ("one tool call, then the answer", {"offers_tools": False, "stdout": "A note"}, Mechanism.OFFERED_TOOL),
        ("401", {"exit_code": 1, "rounds": 0, "stderr": "the key is wrong"}, None),
        ("401", {"exit_code": 1, "rounds": 0, "stderr": "", "stdout": ""}, Mechanism.REPORT),
        ("401", {"exit_code": 0, "rounds": 0, "stderr": "the key is wrong"}, Mechanism.REPORT),
        ("401", {"exit_code": 1, "rounds": 0, "stderr": "Traceback (most recent call last):\n"}, Mechanism.REPORT),
        ("the same call fails forever", {"exit_code": None, "endless": True}, Mechanism.LOOP),
        ("50 pages, one call each", {"exit_code": 3, "rounds": 30, "stdout": ""}, Mechanism.LONG_WORK),
    ],
)
def test_a_run_of_a_row_passes_or_says_what_is_missing(
    name: str, changes: dict[str, object], missing: Mechanism | None
) -> None:
    found = judge(row_of(name), replace(GOOD, **changes)).missing  # type: ignore[arg-type]
    assert found == (() if missing is None else (missing,))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", Shown.NOTHING),
        (" \n", Shown.NOTHING),
        ("one two", Shown.OTHER),
        ("three four five six", Shown.END),
        ("onetwo\nthreefour five six", Shown.ONCE),
        ("one two three four five, one two three four five six", Shown.TWICE),
    ],
)
def test_an_answer_counts_once_and_blanks_do_not_count(text: str, what: Shown) -> None:
    assert shown(text, "one two three four five six") is what


def call(id: str) -> Json:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "bash", "input": {}}]}


def result(id: str, text: str = "done") -> Json:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}


def test_messages_are_found_again_by_their_calls_or_their_words() -> None:
    before: list[Json] = [{"role": "user", "content": "find it"}, call("a"), result("a"), call("b")]
    reminded = {"role": "user", "content": [{"type": "text", "text": "<note>now</note>\nfind  it"}]}
    assert lost(before, [reminded, *before[1:], result("b")]) == 0
    assert lost(before, before[:3]) == 1
    assert lost(before, [{"role": "user", "content": "go on"}]) == 4
    assert lost([{"role": "user", "content": "<note>now</note>"}], []) == 0


@pytest.mark.parametrize(
    ("seen", "missing"),
    [
        (Continued(0, 6, reran=False, after=GOOD), ()),
        (Continued(1, 6, reran=False, after=GOOD), ()),
        (Continued(2, 6, reran=False, after=GOOD), (Mechanism.SESSION,)),
        (Continued(0, 6, reran=True, after=GOOD), (Mechanism.CALLS_ONCE,)),
        (Continued(0, 6, reran=False, after=replace(GOOD, requests=0)), (Mechanism.SESSION,)),
        (Continued(0, 6, reran=False, after=replace(GOOD, violations=("no result",))), (Mechanism.VALID_HISTORY,)),
        (Continued(0, 6, reran=False, after=replace(GOOD, stdout="")), (Mechanism.SESSION,)),
        (Continued(0, 6, reran=False, after=replace(GOOD, exit_code=1)), (Mechanism.EXIT_CODE,)),
    ],
)
def test_a_continued_session_keeps_all_messages_but_one(seen: Continued, missing: tuple[Mechanism, ...]) -> None:
    assert judge_continued(seen, ANSWER).missing == missing


def test_a_signal_leaves_nothing_running() -> None:
    assert judge_ended(Ended("SIGTERM", ended=True, left=())).passed
    assert judge_ended(Ended("SIGTERM", ended=True, left=("sleep",))).missing == (Mechanism.PROCESS_END,)
    assert judge_ended(Ended("SIGTERM", ended=False, left=())).missing == (Mechanism.PROCESS_END,)
    assert judge_ended(Ended("SIGTERM", ended=False, left=(), had_command=False)).missing == (Mechanism.SHELL,)


def whole(*failing: str) -> ExamResult:
    """An exam with these parts failed."""
    bad = replace(GOOD, exit_code=None)
    played = []
    for name in PARTS:
        if name not in {row.name for row in ROWS}:
            seen = Ended("SIGTERM", ended=True, left=("sleep",) if name in failing else ())
            played.append(Played(name, None, seen, judge_ended(seen)))
            continue
        row = row_of(name)
        hopeless = replace(GOOD, exit_code=1)
        run = bad if name in failing else hopeless if row.kind is RowKind.HOPELESS else GOOD
        fits = replace(run, rounds=row.rounds, stdout=row.answer or "")
        played.append(Played(name, row.kind, fits, judge(row, fits)))
    return ExamResult(tuple(played), len(PARTS))


def test_the_exam_is_passed_with_22_of_25_faults_and_all_checks() -> None:
    faults = [row.name for row in ROWS if row.kind is RowKind.RECOVERABLE]
    assert (len(faults), NEEDED) == (25, 22)
    assert whole().passed
    assert whole(*faults[:3]).passed
    assert not whole(*faults[:4]).passed
    assert not whole("SIGINT while a command runs").passed
    assert whole("401", "50 pages, one call each").passed
    interrupted = whole()
    assert not replace(interrupted, parts=interrupted.parts[:-1]).passed


def test_missing_mechanisms_are_listed_in_the_order_of_the_course() -> None:
    missing = whole("413 once", "500", "529 twice", "401").missing
    assert list(missing) == [Mechanism.RETRY, Mechanism.COMPACTION, Mechanism.REPORT]
    assert set(missing[Mechanism.RETRY]) == {"500", "529 twice"}


def test_each_mechanism_names_a_chapter_that_exists_or_the_page() -> None:
    from chapters.course import lessons

    assert {one.where for one in Mechanism} <= {lesson.id for lesson in lessons()}
    assert all(one.text.into(language) for one in Mechanism for language in LANGUAGES)
