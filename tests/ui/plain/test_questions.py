"""Questions in lines: accepted answers and the question text."""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.events import PermissionAsked, ProposedPlan, QuestionAsked, QuestionOption, WaitOffered
from harness.session import PermissionAnswer, PermissionRequest, UserAnswer
from harness.tools.tool import Effect
from harness.ui.plain.printer import LinePrinter
from harness.ui.plain.questions import STEPS, PlainAsker, answer_in, choice_in, edited_plan, pause_in, permission_in


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


ASKED = PermissionAsked("1", "bash", "make", "it runs `make`")
REQUEST = PermissionRequest("1", "bash", Effect.RUN, "make", "make\n  all", {"command": "make"})


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", PermissionAnswer("once")),
        ("YES", PermissionAnswer("once")),
        ("ｙ", PermissionAnswer("once")),
        ("Ａ", PermissionAnswer("always")),
        ("a", PermissionAnswer("always")),
        ("always", PermissionAnswer("always")),
        ("n", PermissionAnswer("no")),
        ("no, use make instead", PermissionAnswer("no", "use make instead")),
        ("ｎ\u3000やめて", PermissionAnswer("no", "やめて")),
        ("", None),
        ("maybe", None),
        ("yesterday", None),
        ("a test for this would be good", None),
        ("yes please", None),
        ("１つ 足して", None),
        ("f", None),
        ("e", None),
        ("edits", None),
    ],
)
def test_answers_are_understood_in_any_width(typed: str, answer: PermissionAnswer | None) -> None:
    assert permission_in(typed, REQUEST) == answer


def test_a_choice_is_a_number_a_name_or_its_beginning() -> None:
    choices = ("wait", "switch", "stop")
    typed = ("1", "２", "stop", "W", "sw", "s", "", "4", "0")
    assert [choice_in(one, choices) for one in typed] == [
        *("wait", "switch", "stop", "wait", "switch", None, None, None, None),
    ]


FAMILY = "bash(make <names>)"
EXACT = replace(REQUEST, input={"command": "make a | cat"}, offers=("bash(make a)", "bash(b)"), family=FAMILY)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("a", PermissionAnswer("always", rules=EXACT.offers, keep=True)),
        ("Ｆ", PermissionAnswer("always", rules=(FAMILY,), keep=True)),
        ("family", PermissionAnswer("always", rules=(FAMILY,), keep=True)),
        ("family tests please", None),
        ("e", None),
        ("n not now", PermissionAnswer("no", "not now")),
    ],
)
def test_the_rules_on_offer_are_saved_as_they_are(typed: str, answer: PermissionAnswer | None) -> None:
    assert permission_in(typed, EXACT) == answer


@pytest.mark.anyio
async def test_what_would_be_saved_is_listed_line_by_line() -> None:
    out = io.StringIO()
    await PlainAsker(LinePrinter(out), Lines("a")).permission(ASKED, EXACT)
    assert "  a yes, always in this folder:\n      bash(make a)\n      bash(b)\n" in out.getvalue()
    assert "  f yes, always in this folder: make with other names\n" in out.getvalue()
    assert "  allow it? y once, a, f, n no (you may add why): " in out.getvalue()


@pytest.mark.anyio
async def test_an_edit_is_a_diff_with_numbers_and_may_allow_all_edits() -> None:
    out = io.StringIO()
    diff = "--- a/x.py\n+++ b/x.py\n@@ -7 +7 @@\n-a = 1\n+a = 2\n"
    request = PermissionRequest("1", "edit_file", Effect.WRITE, "x.py", diff, {"path": "x.py"}, edits=True)
    asked = PermissionAsked("1", "edit_file", "x.py", "it writes a file")
    assert await PlainAsker(LinePrinter(out), Lines("e")).permission(asked, request) == PermissionAnswer("edits")
    assert out.getvalue().startswith("? edit_file x.py\n  │ 7 - a = 1\n  │ 7 + a = 2\n  it writes a file\n")
    assert "  e yes, and all edits from now on (except files that git, a shell" in out.getvalue()


async def _ask(lines: Sequence[str | None]) -> tuple[PermissionAnswer, str]:
    out = io.StringIO()
    return await PlainAsker(LinePrinter(out), Lines(*lines)).permission(ASKED, REQUEST), out.getvalue()


@pytest.mark.anyio
async def test_the_question_shows_what_would_run_and_asks_until_it_understands() -> None:
    answer, shown = await _ask(["what?", "y"])
    assert answer == PermissionAnswer("once")
    assert "? make\n  │ make\n  │   all\n  it runs `make`\n" in shown
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
    request = replace(REQUEST, detail="make")
    await PlainAsker(LinePrinter(out), Lines("y")).permission(replace(ASKED, agent="a3"), request)
    assert out.getvalue().startswith("? agent a3: make\n  it runs `make`\n")


@pytest.mark.anyio
async def test_what_is_dangerous_can_be_allowed_only_once_and_every_danger_has_its_line() -> None:
    out, typed = io.StringIO(), Lines("a", "f", "e", "y")
    dangers = ("`rm -rf a`: it removes files", "`sh`: it runs whatever its input holds")
    request = replace(REQUEST, dangers=dangers, offers=("bash(make)",), family=FAMILY)
    asked = replace(ASKED, why=f"the rule ask x is about it; {'; '.join(dangers)}")
    assert await PlainAsker(LinePrinter(out), typed).permission(asked, request) == PermissionAnswer("once")
    shown = out.getvalue()
    assert "\n  the rule ask x is about it\n  dangerous: `rm -rf a`: it removes files\n  dangerous: `sh`: it" in shown
    assert shown.count("  allow it? y once, n no (you may add why): ") == 4
    assert shown.count("please answer y or n") == 3
    assert "always" not in shown


@pytest.mark.anyio
async def test_a_danger_of_the_whole_command_does_not_repeat_it() -> None:
    out = io.StringIO()
    request = replace(REQUEST, input={"command": "rm  a"}, detail="rm  a", dangers=("`rm a`: it removes files",))
    await PlainAsker(LinePrinter(out), Lines("y")).permission(replace(ASKED, why=request.dangers[0]), request)
    assert out.getvalue().startswith("? rm  a\n  dangerous: it removes files\n  allow it? y once, n no")


@pytest.mark.anyio
async def test_a_question_begins_a_line_of_its_own_where_something_is_being_typed() -> None:
    out, typed = io.StringIO(), Lines("y")
    typed.begun = True
    await PlainAsker(LinePrinter(out), typed).permission(ASKED, REQUEST)
    assert out.getvalue().startswith("\n? make\n")


@pytest.mark.anyio
async def test_a_line_that_reads_like_a_prompt_is_kept_and_the_question_asked_again() -> None:
    out, typed = io.StringIO(), Lines("a test for this, please", "テストも追加してくださいお願いします", "hm", "y")
    assert await PlainAsker(LinePrinter(out), typed).permission(ASKED, REQUEST) == PermissionAnswer("once")
    assert typed.kept == ["a test for this, please", "テストも追加してくださいお願いします"]
    assert out.getvalue().count("allow it?") == 4
    assert out.getvalue().count("please answer y, a or n") == 1
    assert "kept for the model: a test for this, please" in out.getvalue()


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


# ── plans ───────────────────────────────────────────────────────────────────────────────────────

PLAN = ProposedPlan("# Timeouts\n\nAdd one.", ("write the test", "change the code"))
OPTIONS = (QuestionOption("yes, ask"), QuestionOption("yes, edit"), QuestionOption("leave"))


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["1"], UserAnswer("option", "yes, ask")),
        (["yes", "y", "1 please", "approve", "３"], UserAnswer("option", "leave")),
        (["n"], UserAnswer("text")),
        (["no, smaller"], UserAnswer("text", "smaller")),
        (["e", "2"], UserAnswer("option", "yes, edit", ProposedPlan("# Timeouts\n\nAdd two.", ("one", "two")))),
        (["e", "n more"], UserAnswer("text", "more", ProposedPlan("# Timeouts\n\nAdd two.", ("one", "two")))),
        ([], UserAnswer("text")),
    ],
)
@pytest.mark.anyio
async def test_a_plan_is_approved_by_number_only_and_an_edited_one_goes_back_whole(
    typed: list[str], answer: UserAnswer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/one/two/; s/^- w.*/- one/; s/^- c.*/- two/" "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    printed = io.StringIO()
    asker = PlainAsker(LinePrinter(printed), Lines(*typed))
    asked = QuestionAsked("id", "Carry out this plan?", OPTIONS, plan=PLAN)
    assert await asker.question(asked) == answer
    assert ("+Add two." in printed.getvalue()) == ("e" in typed)


@pytest.mark.anyio
@pytest.mark.parametrize("text", ["# Do it", f"# Do it\n\n{STEPS}\n- no step\n\nmore", f"{STEPS}\n{STEPS}"])
async def test_an_edited_plan_that_was_not_changed_is_the_same_also_with_the_mark_of_the_steps(text: str) -> None:
    plan = ProposedPlan(text, ("one", "--two", f"three {STEPS}"))
    assert await edited_plan(plan, {"EDITOR": "true"}) == plan


HOSTS = QuestionAsked(
    "call",
    "May this command reach pypi.org?\n`pip install x`\npyproject.toml of this folder names it.",
    tuple(map(QuestionOption, ("yes, for this command", "yes, in this session", "yes, always in this folder", "no"))),
    hosts=("pypi.org",),
)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        (("y",), UserAnswer("option", "yes, for this command")),
        (("Ｓ",), UserAnswer("option", "yes, in this session")),
        (("a",), UserAnswer("option", "yes, always in this folder")),
        (("n",), UserAnswer("text")),
        (("no, use the cache",), UserAnswer("text", "use the cache")),
        (("1", "yes please", "", "y"), UserAnswer("option", "yes, for this command")),
        ((), DECLINED),
    ],
)
async def test_hosts_are_allowed_by_a_letter_and_by_nothing_else(lines: tuple[str, ...], answer: UserAnswer) -> None:
    given, shown, _ = await _answer(HOSTS, *lines)
    assert given == answer
    assert shown.startswith(
        "? May this command reach pypi.org?\n  `pip install x`\n  pyproject.toml of this folder names it."
    )
    assert "y yes, for this command, s yes, in this session, a yes, always in this folder, n no" in shown
