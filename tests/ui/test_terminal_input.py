"""Input of terminals: answers between the keys, cut anywhere, and pastes that are not marked."""

import asyncio
import os
import select
import tty

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._xterm_parser import XTermParser
from textual.events import Key

from harness.ui.app.terminal_driver import TerminalInput
from harness.ui.terminal_input import AnswerFilter, is_paste, runs
from tests.ui.processes import until

BODIES = (
    "[?62;22c", "[?1;2c", "[>0;276;0c", "[>41;390;0c", "[0n", "[3n", "[?997;1n", "[?13n", "[?0u", "[?31u",
    "[8;24;80t", "[4;600;800t", "[6;16;8t", "[9;50;160t", "[3;0;0t", "[?2004;1$y", "[?1;3;256S", "[2;1$y", "[>4;1m",
    "[?12;40R", "[2;1;1;128;128;1;0x",
    *(f"]{text}{end}" for end in ("\x07", "\x1b\\", "\x9c") for text in (
        "10;rgb:ffff/ffff/ffff", "11;rgb:1e1e/1e1e/2e2e", "12;#aabbcc", "4;1;rgb:0000/0000/0000", "52;c;aGVsbG8=",
        "lthe title", "Licon",
    )),
    *(f"P{text}{end}" for end in ("\x1b\\", "\x9c", "\x07") for text in (
        ">|XTerm(390)", ">|tmux 3.4", "!|00000000", "1$r0m", "1+r544e=787465726d", "0+r",
    )),
    "_Gi=31;OK\x1b\\", "_Gi=31;ENOTSUPPORTED:no\x9c",
)  # fmt: skip
SHORT = {"[": "\x9b", "]": "\x9d", "P": "\x90", "_": "\x9f"}
ANSWERS = st.sampled_from(BODIES).flatmap(lambda body: st.sampled_from(("\x1b" + body, SHORT[body[0]] + body[1:])))
TYPED = st.text(st.sampled_from("abz 019[]P_;\\é天?$\r\t\x07\x01"), max_size=6)
KEYS = (
    "\x1b[A",
    "\x1b[1;5C",
    "\x1b[3~",
    "\x1bOP",
    "\x1b[15~",
    "\x1bb",
    "\x1b[I",
    "\x1b[<0;10;5M",
    "\x1b[13;2u",
    "\x1b[[A",
)
SENT = ANSWERS.map(lambda text: (text, ""))
"""Bytes sent, and the input among them."""


@st.composite
def cut(draw: st.DrawFn, whole: str) -> list[str]:
    """The text in pieces."""
    places = sorted(draw(st.sets(st.integers(0, len(whole)), max_size=8)))
    return [whole[begin:end] for begin, end in zip([0, *places], [*places, len(whole)], strict=True)]


@given(st.data(), st.lists(st.one_of(SENT, TYPED.map(lambda text: (text, text)))))
def test_what_is_left_is_what_was_typed(data: st.DataObject, parts: list[tuple[str, str]]) -> None:
    answers = AnswerFilter()
    pieces = data.draw(cut("".join(sent for sent, _ in parts)))
    assert "".join(map(answers.feed, pieces)) == "".join(typed for _, typed in parts)
    assert not answers.holds


@given(
    st.data(),
    st.lists(st.one_of(SENT, st.sampled_from(KEYS).map(lambda key: (key, key)))),
)
def test_sequences_of_keys_stay_whole(data: st.DataObject, parts: list[tuple[str, str]]) -> None:
    answers = AnswerFilter()
    pieces = data.draw(cut("".join(sent for sent, _ in parts)))
    assert "".join(map(answers.feed, pieces)) == "".join(typed for _, typed in parts)


@given(st.data(), st.lists(st.one_of(ANSWERS, st.just("\x1b[200~pasted \x1b]11;x\x07\r\x1b[201~"))))
def test_a_marked_paste_is_left_alone(data: st.DataObject, parts: list[str]) -> None:
    answers = AnswerFilter()
    pieces = data.draw(cut("".join(parts)))
    assert "".join(map(answers.feed, pieces)) == "".join(part for part in parts if part.startswith("\x1b[200~"))


@pytest.mark.parametrize("body", BODIES)
def test_a_byte_that_is_not_utf_8_is_a_control_too(body: str) -> None:
    sent = (SHORT[body[0]] + body[1:]).encode("latin-1").decode("utf-8", "surrogateescape")
    assert AnswerFilter().feed(f"a{sent}b") == "ab"


@pytest.mark.parametrize("key", ["\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b_"])
def test_the_beginning_of_a_sequence_is_a_key_if_nothing_follows(key: str) -> None:
    answers = AnswerFilter()
    assert answers.feed(key) == ""
    assert answers.release() == key
    assert not answers.holds


@pytest.mark.parametrize("key", ["\x1b]", "\x1bP", "\x1b_"])
def test_text_after_a_key_with_alt_is_not_lost(key: str) -> None:
    assert AnswerFilter().feed(f"{key}hello\r") == f"{key}hello\r"


@pytest.mark.parametrize("rest", ["\x1b]11;rgb:", "\x1b[?6", "\x1bP>|X"])
def test_an_answer_without_an_end_costs_nothing_that_is_typed_later(rest: str) -> None:
    answers = AnswerFilter()
    assert answers.feed(rest) == answers.release() == ""
    answers.drop()
    assert answers.feed("hello\r") == "hello\r"


@given(st.lists(ANSWERS))
def test_no_answer_reaches_the_parser_of_textual_as_a_key(parts: list[str]) -> None:
    passed = AnswerFilter().feed("".join(parts))
    assert not [event for event in XTermParser().feed(passed or "x") if isinstance(event, Key) and event.key != "x"]


@pytest.mark.parametrize(
    ("text", "pasted"),
    [
        ("one\rtwo", ["one\rtwo"]),
        ("one\rtwo\r", ["one\rtwo\r"]),
        ("one\r\ntwo\r\n", ["one\r\ntwo\r\n"]),
        ("one\r\rtwo", ["one\r\rtwo"]),
        ("\rtwo", ["\rtwo"]),
        ("one\n\ttwo\n", ["one\n\ttwo\n"]),
        ("page\r\x0cpage\r", ["page\r\x0cpage\r"]),
        ("one\ntwo\r", []),
        ("one\r", []),
        ("one\r\n", []),
        ("one", []),
        ("\r\r\r", []),
        ("one\x1b\rtwo\r", []),
        ("one\r\x03two\r", []),
        ("\x15one\rtwo\r", ["one\rtwo\r"]),
        ("\x1b[Aone\rtwo\r\x1b[<35;10;9M", ["one\rtwo\r"]),
        ("\x1bOAone\rtwo\x1bb", ["one\rtwo"]),
        ("\x1b[200~one\rtwo\x1b[201~", []),
    ],
)
def test_lines_after_an_enter_that_arrived_with_it_are_a_paste(text: str, pasted: list[str]) -> None:
    assert list(filter(is_paste, runs(text))) == pasted
    assert "".join(runs(text)) == text


@pytest.mark.anyio
async def test_the_parts_of_a_paste_are_one_and_an_enter_sent_alone_follows_it() -> None:
    paste = "line\r" * 1_000  # more than a terminal returns at once
    here, there = os.openpty()
    try:
        tty.setraw(there)
        os.write(here, paste.encode())
        source = TerminalInput(there)
        async with asyncio.TaskGroup() as tasks:
            first = tasks.create_task(asyncio.to_thread(source.read))
            await until(lambda: not select.select([there], [], [], 0)[0])
            os.write(here, b"\r")
        assert first.result() == paste
        assert source.read() == "\r"
    finally:
        os.close(here)
        os.close(there)


def test_escape_and_enter_sent_together_are_alt_enter() -> None:
    answers = AnswerFilter()
    assert [event.key for event in XTermParser().feed(answers.feed("\x1b\r")) if isinstance(event, Key)] == [
        "alt+enter"
    ]
    assert answers.feed("\x1b") + answers.release() + answers.feed("\r") == "\x1b\r", "one after the other they are two"
