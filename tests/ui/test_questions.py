"""What counts as an answer, and what is asked."""

import asyncio
import io
from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.events import PermissionAsked, WaitOffered
from harness.session import Answer, PermissionRequest
from harness.tools.tool import Effect
from harness.ui.plain import Plain
from harness.ui.questions import PlainAsker, choice_in, permission_in

ASKED = PermissionAsked("1", "bash", "make", "bash runs a program")
REQUEST = PermissionRequest("1", "bash", Effect.RUN, "make", "make\n  all", {"command": "make"})


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y", Answer("once")),
        ("YES", Answer("once")),
        ("ｙ", Answer("once")),
        ("Ａ", Answer("always")),
        ("a", Answer("always")),
        ("２", Answer("always")),
        ("n", Answer("no")),
        ("no, use make instead", Answer("no", "use make instead")),
        ("ｎ\u3000やめて", Answer("no", "やめて")),
        ("", None),
        ("maybe", None),
        ("yesterday", None),
    ],
)
def test_answers_are_understood_in_any_width(typed: str, answer: Answer | None) -> None:
    assert permission_in(typed) == answer


def test_a_choice_is_a_number_a_name_or_its_beginning() -> None:
    choices = ("wait", "switch", "stop")
    typed = ("1", "２", "stop", "W", "sw", "s", "", "4", "0")
    assert [choice_in(one, choices) for one in typed] == [
        "wait",
        "switch",
        "stop",
        "wait",
        "switch",
        None,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("k", Answer("always", rules=("bash(npm run *)",), keep=True)),
        ("Ｋ", Answer("always", rules=("bash(npm run *)",), keep=True)),
        ("keep", Answer("always", rules=("bash(npm run *)",), keep=True)),
        ("k bash(npm run build)", Answer("always", rules=("bash(npm run build)",), keep=True)),
        ("a", Answer("always")),
        ("n not now", Answer("no", "not now")),
    ],
)
def test_a_rule_on_offer_is_kept_as_it_is_or_as_it_is_typed(typed: str, answer: Answer) -> None:
    assert permission_in(typed, ("bash(npm run *)",)) == answer


def test_without_an_offer_there_is_nothing_to_keep() -> None:
    assert permission_in("k") is None


@pytest.mark.anyio
async def test_the_question_shows_the_rule_that_would_be_kept() -> None:
    out = io.StringIO()
    typed = iter(["k"])

    async def answer() -> str | None:
        return next(typed)

    request = replace(REQUEST, offers=("bash(make *)",))
    kept = await PlainAsker(Plain(out), answer).permission(ASKED, request)
    assert kept == Answer("always", rules=("bash(make *)",), keep=True)
    assert "  k allows and keeps bash(make *); or type k and another rule\n" in out.getvalue()
    assert "y once, a always, k keep, n no" in out.getvalue()


async def _ask(lines: Sequence[str | None]) -> tuple[Answer, str]:
    typed = iter(lines)
    out = io.StringIO()

    async def answer() -> str | None:
        await asyncio.sleep(0)
        return next(typed)

    return await PlainAsker(Plain(out), answer).permission(ASKED, REQUEST), out.getvalue()


@pytest.mark.anyio
async def test_the_question_shows_what_would_run_and_asks_until_it_understands() -> None:
    answer, shown = await _ask(["what?", "y"])
    assert answer == Answer("once")
    assert "? bash runs a program: make\n  │ make\n  │   all\n" in shown
    assert "please answer" in shown


@pytest.mark.anyio
async def test_no_asks_for_a_reason_once() -> None:
    assert (await _ask(["n", " too slow "]))[0] == Answer("no", "too slow")
    assert (await _ask(["n", ""]))[0] == Answer("no")
    assert (await _ask(["n", None]))[0] == Answer("no")


@pytest.mark.anyio
async def test_the_end_of_input_is_a_no_and_a_stop() -> None:
    assert (await _ask([None]))[0].choice == "no"

    async def nothing() -> None:
        await asyncio.sleep(0)

    offered = WaitOffered(100.0, 0.0, can_switch=False, detail="rate limit")
    assert await PlainAsker(Plain(io.StringIO()), nothing).wait(offered) == "stop"


@pytest.mark.anyio
async def test_the_question_of_an_agent_says_whose_it_is() -> None:
    out = io.StringIO()

    async def answer() -> str | None:
        await asyncio.sleep(0)
        return "y"

    await PlainAsker(Plain(out), answer).permission(replace(ASKED, agent="a3"), REQUEST)
    assert out.getvalue().startswith("? agent a3: bash runs a program: make\n")
