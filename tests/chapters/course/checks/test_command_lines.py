"""The printed results of checks: every trouble in both languages, and no control character of a learner's code."""

from dataclasses import replace
from pathlib import Path

import pytest

from chapters.course.catalogue import chapters_folder, lesson
from chapters.course.checks.checker import PRINTED_BYTES, Checked, CheckFailure, CheckResult, Trouble
from chapters.course.checks.command import WHY, as_json, check_lines, heading, hint_lines, why
from chapters.course.checks.copies import Copy, copies, copy_exercise
from chapters.course.checks.exercises import every_exercise, load_exercise
from chapters.course.text import LANGUAGES, Language
from harness.policies.recovery import backoff as backoff_module
from tests.chapters.course.small_exercise import small_exercise


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A copy that nothing was done with yet."""
    exercise = small_exercise(tmp_path)
    copy_exercise(exercise, tmp_path, "en")
    (copy,) = copies(tmp_path, (exercise,))
    return copy


def came_of(copy: Copy, *failures: CheckFailure | None) -> Checked:
    results = zip(copy.exercise.checks, failures, strict=True)
    return Checked(copy.exercise, None, tuple(CheckResult(check, failure) for check, failure in results), "", 0)


def lines(copy: Copy, checked: Checked, language: Language = "en") -> list[str]:
    return list(check_lines(copy, checked, language))


def test_what_passes_is_one_line(copy: Copy) -> None:
    program = Path(backoff_module.__file__).read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(program, 1) if text.startswith("def delay_s("))
    assert heading(copy, "en") == f"s07-adding · Add two numbers  {copy.file}"
    assert lines(copy, came_of(copy, None, None)) == [
        "✓ One and two are three.",
        "✓ It can be awaited.",
        "",
        "All checks pass (2): s07-adding is done.",
        f"The program does the same in harness/policies/recovery/backoff.py, line {line} (delay_s).",
        "Next: harness learn s08",
    ]
    backoff = lesson("s11").folder / "exercises" / "backoff"
    first = replace(copy, exercise=load_exercise(backoff))
    assert lines(first, replace(came_of(copy, None, None), exercise=first.exercise), "ja")[-1] == (
        "次へ: harness learn s11 --exercise output_cap"
    )
    last = every_exercise(chapters_folder())[-1]
    of_last = replace(came_of(copy, None, None), exercise=last)
    assert lines(replace(copy, exercise=last), of_last)[-1] == "Next: harness check --final 'my_agent.py --yolo'"


def test_what_fails_says_where_and_what_it_means(copy: Copy) -> None:
    checked = came_of(copy, CheckFailure(Trouble.RAISED, 2, "KeyError: 'a'"), CheckFailure(Trouble.NOT_RUN))
    assert lines(copy, checked) == [
        "✗ One and two are three.",
        "    line 2: Your code raised KeyError: 'a'",
        "    It does not add.",
        "– It can be awaited. Not run.",
        "",
        "0 of 2 checks pass. `harness check --hint` shows a hint.",
    ]
    assert lines(copy, checked, "ja")[:3] == [
        "✗ 一と二で三。",
        "    2 行目: コードが例外を出しました: KeyError: 'a'",
        "    足していません。",
    ]


def test_no_hint_is_offered_when_all_were_shown(copy: Copy) -> None:
    used_up = replace(copy, note=replace(copy.note, hints=(0, 1)))
    assert lines(used_up, came_of(copy, None, CheckFailure(Trouble.GONE, None, "1")))[-1] == "1 of 2 checks pass."


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_trouble_has_a_sentence(copy: Copy, language: Language) -> None:
    text = "{not a field} \x1b[31m"
    for trouble in Trouble:
        told = why(came_of(copy, None, None), CheckFailure(trouble, 7, text), language)
        assert "7" in told, trouble
        assert "\x1b" not in told, trouble
        if "{text}" in WHY[trouble].into(language):
            assert "{not a field} \\x1b[31m" in told, trouble


def test_a_file_that_cannot_be_loaded_is_reported_once(copy: Copy) -> None:
    not_run = came_of(copy, CheckFailure(Trouble.NOT_RUN), CheckFailure(Trouble.NOT_RUN))
    told = lines(copy, replace(not_run, loading=CheckFailure(Trouble.SYNTAX, 4, "expected ':'")))
    assert told[0] == "✗ line 4: This is not valid Python: expected ':'."
    assert told[1:3] == ["– One and two are three. Not run.", "– It can be awaited. Not run."]


def test_a_message_of_several_lines_stays_in_its_place(copy: Copy) -> None:
    told = lines(copy, came_of(copy, CheckFailure(Trouble.ASSERTION, None, "stream: a | b\nfound: 1"), None))
    assert told[1:4] == ["    stream: a | b", "    found: 1", "    It does not add."]


@pytest.mark.parametrize(
    ("printed", "count", "shown"),
    [
        ("hello\n", 6, ["    hello"]),
        ("\x1b[2Jgone", 8, ["    \\x1b[2Jgone"]),
        ("n\n" * 30, 60, [*["    n"] * 20, "    … 21 more bytes"]),
        ("é" * 2_000, PRINTED_BYTES + 1_000, ["    " + "é" * 2_000, "    … 1,000 more bytes"]),
    ],
)
def test_what_the_code_printed_is_shown_and_bounded(copy: Copy, printed: str, count: int, shown: list[str]) -> None:
    checked = replace(came_of(copy, None, None), printed=printed, printed_bytes=count)
    told = lines(copy, checked)
    assert told[3:-4] == ["Your code printed:", *shown]


def test_programs_that_were_left_and_other_checks_are_reported(copy: Copy) -> None:
    (copy.folder / "check.py").write_text("")
    told = lines(copy, replace(came_of(copy, None, None), left=2))
    assert told[0] == "! check.py in this folder is not that of the course, which was run instead."
    assert told[-5] == "! Programs left running and ended: 2."


def test_the_same_comes_as_json(copy: Copy) -> None:
    told = as_json(copy, came_of(copy, CheckFailure(Trouble.ENDLESS, 3, "10"), None), "ja")
    assert (told["exercise"], told["passed"], told["loading"]) == ("s07-adding", False, None)
    first, second = told["checks"]
    assert first == {
        "name": "check_small",
        "wants": "一と二で三。",
        "passed": False,
        "failure": {"trouble": "endless", "line": 3, "text": "10"},
        "wrong": "足していません。",
    }
    assert (second["passed"], second["failure"]) == (True, None)


def test_hints_are_counted_and_all_come_again_at_the_end(copy: Copy) -> None:
    assert list(hint_lines(copy, 0, "en")) == ["Hint 1 of 2: There is a sign for it."]
    assert list(hint_lines(copy, None, "ja")) == [
        "ヒント 1/2: 記号があります。",
        "ヒント 2/2: 十字の記号です。",
        "ヒントはこれで全部です。",
    ]
