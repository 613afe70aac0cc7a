"""The output of a running command: lines of bytes cut anywhere, and the pace of the reports."""

import asyncio
import sys
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import OutputDelta
from harness.sandbox import ProfileName
from harness.tools.bash import bash_tool, shell_environment
from harness.tools.live_output import EVERY_S, FIRST_S, KEPT_BYTES, LINE_CHARACTERS, LINES, OutputLines
from harness.tools.output import readable
from harness.tools.tool import ToolContext
from tests.whole import examples

ERASE_END, ERASE_LINE, COLUMN_ONE = "\x1b[K", "\x1b[2K", "\x1b[1G"
UNSEEN = ("\x1b[1;31m", "\x1b]8;;http://x\x1b\\", "\x1b]0;title\x07")
TOKENS = st.one_of(
    st.sampled_from(("a", "b", "é", "日", "👍", " ", "\n", "\r\n", "\r", "\b", ERASE_END, ERASE_LINE, COLUMN_ONE)),
    st.sampled_from(UNSEEN),
)


def as_lines(tokens: list[str]) -> list[str]:
    """The lines that a terminal shows, one character after the other; where a new frame begins, the old one goes."""
    lines: list[list[str]] = [[]]
    at = 0
    for token in tokens:
        match token:
            case "\n" | "\r\n":
                lines.append([])
                at = 0
            case "\r" | "\x1b[1G":
                at = 0
            case "\b":
                at = max(0, at - 1)
            case "\x1b[K":
                lines[-1] = lines[-1][:at]
            case "\x1b[2K":
                lines[-1], at = [], 0
            case _ if token not in UNSEEN:
                lines[-1] = [*lines[-1][:at], token, *(lines[-1][at + 1 :] if at else ())]
                at += 1
    return ["".join(line) for line in lines]


@settings(max_examples=examples(300))
@given(st.lists(TOKENS, max_size=40))
def test_text_is_what_a_terminal_shows_in_the_end(tokens: list[str]) -> None:
    assert readable("".join(tokens).encode()) == "\n".join(as_lines(tokens))


@settings(max_examples=examples(300))
@given(st.lists(TOKENS, max_size=60), st.data())
def test_every_report_agrees_with_the_whole_output_wherever_it_is_cut(tokens: list[str], data: st.DataObject) -> None:
    raw = "".join(tokens).encode()
    ends = [len("".join(tokens[: number + 1]).encode()) for number in range(len(tokens))]
    cuts = sorted(data.draw(st.sets(st.integers(0, len(raw)))) | {len(raw)})
    lines, reported, since = OutputLines(), 0, 0
    for start, cut in pairwise([0, *cuts]):
        lines.feed(raw[start:cut])
        if not data.draw(st.booleans()) and cut != len(raw):
            continue
        *ended, open_line = as_lines([token for token, end in zip(tokens, ends, strict=True) if end <= cut])
        delta = lines.take("call")
        assert (delta is None) == (cut == since)
        if delta is not None:
            fresh = ended[reported:]
            assert delta == OutputDelta("call", tuple(fresh[-LINES:]), open_line, max(0, len(fresh) - LINES))
        reported, since = len(ended), cut


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(0, 60_000), st.sampled_from((1, 999, 65_536)))
def test_of_many_lines_the_last_are_reported_and_the_others_counted(count: int, size: int) -> None:
    raw = b"".join(b"line %d\n" % number for number in range(count)) + b"open"
    lines = OutputLines()
    for start in range(0, len(raw), size if len(raw) < 20_000 else 65_536):
        lines.feed(raw[start : start + (size if len(raw) < 20_000 else 65_536)])
        assert len(lines._bytes) <= 2 * KEPT_BYTES
    expected = tuple(f"line {number}" for number in range(max(0, count - LINES), count))
    assert lines.take("call") == OutputDelta("call", expected, "open", max(0, count - LINES))


@pytest.mark.parametrize(("piece", "seen"), [("x", "x"), ("日本", "日本"), ("\x1b[32mx", "x")])
def test_of_an_endless_line_the_end_is_reported_and_little_kept(piece: str, seen: str) -> None:
    lines, text = OutputLines(), ""
    for number in range(100):
        lines.feed((piece * 7_001 + str(number)).encode())
        text = (text + seen * 7_001 + str(number))[-LINE_CHARACTERS:]
        assert len(lines._bytes) <= 2 * KEPT_BYTES
        assert lines.take("call") == OutputDelta("call", (), f"…{text[1:]}")
    lines.feed(b"\nnext")
    assert lines.take("call") == OutputDelta("call", (f"…{text[1:]}",), "next")


def test_the_frame_after_a_lost_beginning_is_whole() -> None:
    lines = OutputLines()
    lines.feed(b"\r50 %" * KEPT_BYTES + b"\r51 %")
    assert lines.take("call") == OutputDelta("call", (), "51 %")


def run(context: ToolContext, command: str) -> tuple[list[tuple[float, OutputDelta]], str]:
    """The reports of a command with the seconds at which they came, and its result."""
    began, got = time.monotonic(), list[tuple[float, OutputDelta]]()

    def show(delta: OutputDelta) -> None:
        got.append((time.monotonic() - began, delta))

    async def running() -> str:
        tool = bash_tool()
        result = await tool.run(replace(context, show_output=show), tool.parse({"command": command}))
        await asyncio.sleep(2 * EVERY_S)  # nothing is reported behind the result
        return result.content

    return got, asyncio.run(running())


def test_a_command_reports_while_it_runs_and_at_a_pace(context: ToolContext) -> None:
    got, content = run(context, "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.1; done")
    lines = [line for _, delta in got for line in delta.lines]
    assert lines == [f"line {number}" for number in range(1, len(lines) + 1)]
    assert len(lines) >= 5
    assert got[0][0] >= FIRST_S
    assert all(later - earlier >= EVERY_S * 0.9 for (earlier, _), (later, _) in pairwise(got))
    assert content.startswith("line 1\nline 2\n")


def test_a_short_command_reports_nothing(context: ToolContext) -> None:
    assert run(context, "echo done; sleep 0.3") == ([], "done\n\n[exit 0]")


def test_python_writes_at_once(context: ToolContext) -> None:
    line = f"""{sys.executable} -c 'import time; print("first"); time.sleep(1)'"""
    got, _ = run(context, line)
    assert [delta.lines for _, delta in got] == [("first",)]


@pytest.mark.parametrize("profile", ProfileName)
@pytest.mark.parametrize("inherited", [{}, {"PYTHONUNBUFFERED": ""}, {"PYTHONUNBUFFERED": "x"}])
def test_a_setting_of_the_user_for_that_stays(
    context: ToolContext, inherited: dict[str, str], profile: ProfileName
) -> None:
    environment = shell_environment(inherited, context.workspace.root, profile)
    assert environment["PYTHONUNBUFFERED"] == inherited.get("PYTHONUNBUFFERED", "1")
