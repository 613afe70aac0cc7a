"""Questions in lines: accepted answers and the question text."""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.events import PermissionAsked, QuestionAsked, QuestionOption, WaitOffered
from harness.session import PermissionAnswer, PermissionRequest, UserAnswer
from harness.tools.tool import Effect
from harness.ui.plain.printer import LinePrinter
from harness.ui.plain.questions import PlainAsker, answer_in, choice_in, pause_in, permission_in


class Lines:
    """Types these lines, one after the other, and then nothing."""

    def __init__(self, *lines: str | None) -> None:
        self._lines = list(lines)
        self.kept: list[str] = []
        self.begun = False

    async def settled(self) -> bool:
        await asyncio.sleep(0)
        return self.begun

    async def answer(self) -> str | None:
        await asyncio.sleep(0)
        return self._lines.pop(0) if self._lines else None

    def keep(self, line: str) -> str:
        self.kept.append(line)
        return line


ASKED = PermissionAsked("1", "bash", "make", "bash runs a program")
REQUEST = PermissionRequest("1", "bash", Effect.RUN, "make", "make\n  all", {"command": "make"})


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", PermissionAnswer("once")),
        ("YES", PermissionAnswer("once")),
        ("ｙ", PermissionAnswer("once")),
        ("Ａ", PermissionAnswer("always")),
        ("a", PermissionAnswer("always")),
        ("２", PermissionAnswer("always")),
        ("n", PermissionAnswer("no")),
        ("no, use make instead", PermissionAnswer("no", "use make instead")),
        ("ｎ\u3000やめて", PermissionAnswer("no", "やめて")),
        ("", None),
        ("maybe", None),
        ("yesterday", None),
        ("a test for this would be good", None),
        ("yes please", None),
        ("１つ 足して", None),
        ("keep going", None),
        ("k", None),
    ],
)
def test_answers_are_understood_in_any_width(typed: str, answer: PermissionAnswer | None) -> None:
    assert permission_in(typed) == answer


def test_a_choice_is_a_number_a_name_or_its_beginning() -> None:
    choices = ("wait", "switch", "stop")
    typed = ("1", "２", "stop", "W", "sw", "s", "", "4", "0")
    assert [choice_in(one, choices) for one in typed] == [
        *("wait", "switch", "stop", "wait", "switch", None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("k", PermissionAnswer("always", rules=("bash(npm run *)",), keep=True)),
        ("Ｋ", PermissionAnswer("always", rules=("bash(npm run *)",), keep=True)),
        ("keep", PermissionAnswer("always", rules=("bash(npm run *)",), keep=True)),
        ("keep going with the tests", None),
        ("k bash(npm run build)", PermissionAnswer("always", rules=("bash(npm run build)",), keep=True)),
        ("a", PermissionAnswer("always")),
        ("n not now", PermissionAnswer("no", "not now")),
    ],
)
def test_a_rule_on_offer_is_kept_as_it_is_or_as_it_is_typed(typed: str, answer: PermissionAnswer | None) -> None:
    assert permission_in(typed, ("bash(npm run *)",)) == answer


@pytest.mark.anyio
async def test_the_question_shows_the_rule_that_would_be_kept() -> None:
    out = io.StringIO()
    request = replace(REQUEST, offers=("bash(make *)",))
    kept = await PlainAsker(LinePrinter(out), Lines("k")).permission(ASKED, request)
    assert kept == PermissionAnswer("always", rules=("bash(make *)",), keep=True)
    assert "  k allows and keeps bash(make *); or type k and another rule\n" in out.getvalue()
    assert "y once, a always, k keep, n no" in out.getvalue()


async def _ask(lines: Sequence[str | None]) -> tuple[PermissionAnswer, str]:
    out = io.StringIO()
    return await PlainAsker(LinePrinter(out), Lines(*lines)).permission(ASKED, REQUEST), out.getvalue()


@pytest.mark.anyio
async def test_the_question_shows_what_would_run_and_asks_until_it_understands() -> None:
    answer, shown = await _ask(["what?", "y"])
    assert answer == PermissionAnswer("once")
    assert "? bash runs a program: make\n  │ make\n  │   all\n" in shown
    assert "please answer" in shown


@pytest.mark.anyio
async def test_no_asks_for_a_reason_once() -> None:
    assert (await _ask(["n", " too slow "]))[0] == PermissionAnswer("no", "too slow")
    assert (await _ask(["n", ""]))[0] == PermissionAnswer("no")
    assert (await _ask(["n", None]))[0] == PermissionAnswer("no")


@pytest.mark.anyio
async def test_the_end_of_input_is_a_no_and_a_stop() -> None:
    assert (await _ask([None]))[0].choice == "no"

    offered = WaitOffered(100.0, 0.0, can_switch=False, detail="rate limit")
    assert await PlainAsker(LinePrinter(io.StringIO()), Lines()).wait(offered) == "stop"


@pytest.mark.anyio
async def test_the_question_of_an_agent_says_whose_it_is() -> None:
    out = io.StringIO()
    await PlainAsker(LinePrinter(out), Lines("y")).permission(replace(ASKED, agent="a3"), REQUEST)
    assert out.getvalue().startswith("? agent a3: bash runs a program: make\n")


@pytest.mark.anyio
async def test_what_is_dangerous_can_be_allowed_only_once_and_every_danger_has_its_line() -> None:
    out, typed = io.StringIO(), Lines("a", "2", "k", "y")
    dangers = ("`rm -rf a`: it removes files", "`sh`: it runs whatever its input holds")
    request = replace(REQUEST, dangers=dangers, offers=("bash(make *)",))
    asked = replace(ASKED, why=f"bash does something dangerous, {'; '.join(dangers)}")
    assert await PlainAsker(LinePrinter(out), typed).permission(asked, request) == PermissionAnswer("once")
    shown = out.getvalue()
    assert shown.startswith(
        "? bash does something dangerous: make\n  · `rm -rf a`: it removes files\n  · `sh`: it runs"
    )
    assert shown.count("  allow it? y once, n no (you may add why): ") == 4
    assert shown.count("please answer y or n") == 3
    assert "keep" not in shown


@pytest.mark.anyio
async def test_a_question_begins_a_line_of_its_own_where_something_is_being_typed() -> None:
    out, typed = io.StringIO(), Lines("y")
    typed.begun = True
    await PlainAsker(LinePrinter(out), typed).permission(ASKED, REQUEST)
    assert out.getvalue().startswith("\n? bash runs a program")


@pytest.mark.anyio
async def test_a_line_that_reads_like_a_prompt_is_kept_and_the_question_asked_again() -> None:
    out, typed = io.StringIO(), Lines("a test for this, please", "テストも追加してくださいお願いします", "hm", "y")
    assert await PlainAsker(LinePrinter(out), typed).permission(ASKED, REQUEST) == PermissionAnswer("once")
    assert typed.kept == ["a test for this, please", "テストも追加してくださいお願いします"]
    assert out.getvalue().count("allow it?") == 4
    assert out.getvalue().count("please answer y, a or n") == 1
    assert "kept as your next prompt: a test for this, please" in out.getvalue()


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("c", ("",)),
        ("Ｃ", ("",)),
        ("r grep", ("grep",)),
        ("reset all", ("all",)),
        ("s", (None,)),
        ("n", (None,)),
        ("r", None),
        ("continue with the tests", None),
        ("reset the counter in a.py", None),
        ("stop using tabs", None),
        ("", None),
    ],
)
def test_a_pause_is_ended_by_a_word_and_not_by_a_sentence(typed: str, answer: tuple[str | None] | None) -> None:
    assert pause_in(typed) == answer


COLOURS = (QuestionOption("red", "like the logo"), QuestionOption("light blue"))
DECLINED = UserAnswer("declined")


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1", UserAnswer("option", "red")),
        ("２", UserAnswer("option", "light blue")),
        (" Light Blue ", UserAnswer("option", "light blue")),
        ("w", UserAnswer("text", "")),
        ("w green, please", UserAnswer("text", "green, please")),
        ("ｗ\u3000緑", UserAnswer("text", "緑")),
        ("n", DECLINED),
        ("No", DECLINED),
        ("0", None),
        ("3", None),
        ("", None),
        ("blue", None),
        ("no idea what you mean", None),
        ("y", None),
        ("what is in README.md", None),
    ],
)
def test_an_option_is_a_number_or_its_whole_label_and_other_words_need_a_w(
    typed: str, answer: UserAnswer | None
) -> None:
    assert answer_in(typed, COLOURS) == answer


async def _answer(asked: QuestionAsked, *lines: str | None) -> tuple[UserAnswer, str, Lines]:
    out, typist = io.StringIO(), Lines(*lines)
    return await PlainAsker(LinePrinter(out), typist).question(asked), out.getvalue(), typist


@pytest.mark.anyio
async def test_a_question_shows_its_options_and_asks_until_it_understands() -> None:
    asked = QuestionAsked("call", "Which colour?\nIt is for the page.", COLOURS, "a2")
    answer, shown, typist = await _answer(asked, "blue", "what is in README.md", "1")
    assert answer == UserAnswer("option", "red")
    assert shown.splitlines()[:4] == [
        "? agent a2: Which colour?",
        "  It is for the page.",
        "  1 red: like the logo",
        "  2 light blue",
    ]
    assert "  1 to 2, w and words of your own, n no answer: " in shown
    assert "please answer 1 to 2, w and words of your own, or n" in shown
    assert typist.kept == ["what is in README.md"]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("w", "a dark green"), UserAnswer("text", "a dark green")),
        (("w", " "), DECLINED),
        (("w", None), DECLINED),
        ((None,), DECLINED),
        (("n",), DECLINED),
    ],
)
async def test_words_are_asked_for_and_none_declines(lines: tuple[str | None, ...], answer: UserAnswer) -> None:
    assert (await _answer(QuestionAsked("call", "Which colour?", COLOURS), *lines))[0] == answer


@pytest.mark.anyio
async def test_a_question_without_options_takes_the_line_as_it_is_but_no_command() -> None:
    answer, shown, typist = await _answer(QuestionAsked("call", "Your name?"), "/help me", "n o b o d y")
    assert answer == UserAnswer("text", "n o b o d y")
    assert typist.kept == ["/help me"]
    assert "your answer (Enter: none)" in shown
    assert (await _answer(QuestionAsked("call", "Your name?"), ""))[0] == DECLINED
