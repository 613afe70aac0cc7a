"""The final exam over real processes: a bare loop, the program itself, and command-line errors."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from chapters.course.exam.command import NAMES, folded
from chapters.course.exam.judgement import NEEDED
from chapters.course.exam.player import PARTS
from chapters.course.exam.rows import ROWS, RowKind
from chapters.course.exam.scratch import ExamLimits
from harness.cli.main import main

NAIVE = """
import json, os, subprocess, sys, urllib.request

messages = [{"role": "user", "content": sys.argv[-1]}]
schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
tools = [{"name": "bash", "description": "Run a command", "input_schema": schema}]
while True:
    body = {"model": os.environ["MY_AGENT_MODEL"], "max_tokens": 8000, "messages": messages, "tools": tools}
    headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "anthropic-version": "2023-06-01"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers | {"content-type": "application/json"})
    reply = json.load(urllib.request.urlopen(request))
    messages.append({"role": "assistant", "content": reply["content"]})
    if reply["stop_reason"] != "tool_use":
        break
    results = []
    for block in reply["content"]:
        if block["type"] == "tool_use":
            done = subprocess.run(block["input"]["command"], shell=True, capture_output=True, text=True)
            results.append({"type": "tool_result", "tool_use_id": block["id"], "content": done.stdout or "nothing"})
    messages.append({"role": "user", "content": results})
print("".join(block["text"] for block in reply["content"] if block["type"] == "text"))
"""
WHOLE = "harness --yolo --team --trust-folder --model $MY_AGENT_MODEL --fallback-model $MY_AGENT_FALLBACK_MODEL -p"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the bare loop in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "naive.py").write_text(NAIVE)
    return tmp_path


def test_a_bare_loop_is_shown_what_it_lacks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--final", "naive.py", "--parts", "one tool/500/max_tokens once/kill/SIGTERM"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "✓ one tool call, then the answer · requests: 2, exit code 0, answer once on stdout"
    failed = {
        line: next(lines[at + more] for more in (2, 3) if "→" in lines[at + more]) for at, line in failures(lines)
    }
    assert failed["✗ 500"] == "    → no retry with growing waits: s11"
    assert failed["✗ max_tokens once, then the rest"] == "    → no escalation of max_tokens: s11"
    assert failed["✗ kill -9 in a turn, then continue"].startswith("    → messages are not saved")
    assert failed["✗ SIGTERM while a command runs"].startswith("    → commands outlive the program")
    assert any(re.match(r"    ended after \d", line) for line in lines)
    assert any("left running:" in line and "sleep" in line for line in lines)
    assert "0 of 2 recoverable faults survived; 2 are needed." in lines


def test_a_server_that_fails_needs_a_client_and_is_not_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--final", "naive.py", "--parts", "one tool/never answers a call"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "✗ an MCP server never answers a call" in lines
    assert "MCP servers: 0 of 1 as expected; not counted." in lines
    own = f"{Path(__file__).parents[4]}/chapters/s19_mcp/my_agent.py --yolo"
    assert main(["check", "--final", own, "--parts", "one tool/ends in a call"]) == 0
    assert "MCP servers: 1 of 1 as expected; not counted." in capsys.readouterr().out


def test_members_and_worktrees_need_a_program_that_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    parts = "one tool/hears of it/unchanged worktree/no branch in a worktree"
    assert main(["check", "--final", "naive.py", "--parts", parts]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert {"✗ a member fails, and the lead hears of it", "✗ an unchanged worktree goes away"} < set(lines)
    assert {
        "Members: 0 of 1 as expected; not counted.",
        "Worktrees: 0 of 2 as expected; not counted.",
    } < set(lines)
    own = f"{Path(__file__).parents[4]}/chapters/s18_worktrees/my_agent.py --yolo"
    assert main(["check", "--final", own, "--parts", parts]) == 0


def failures(lines: list[str]) -> list[tuple[int, str]]:
    return [(at, line) for at, line in enumerate(lines) if line.startswith("✗")]


@pytest.mark.stories
def test_the_program_itself_passes(capsys: pytest.CaptureFixture[str]) -> None:
    parts = "one tool/max_tokens once/kill/MCP server/member/worktree"
    assert main(["check", "--final", WHOLE, "--parts", parts, "--language", "ja"]) == 0
    out = capsys.readouterr().out
    assert "✗" not in out
    assert "✓ ターンの途中で kill -9、そして続行 · 6 件のメッセージのうち 0 件が欠落、" in out
    assert "回復できる障害 1 種類のうち 1 種類を乗り切りました。" in out


def test_a_program_without_an_answer_ends_the_exam_at_once(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "silent.py").write_text("print('hello')")
    assert main(["check", "--final", "silent.py"]) == 1
    out = capsys.readouterr().out
    assert out.count("✗") == 1
    assert "no request, exit code 0, not the whole answer on stdout: “hello”" in out
    assert out.endswith("The final exam is not passed yet.\n")


@pytest.mark.parametrize(
    "arguments",
    [["nothing.py"], ["'"], [""], ["naive.py", "--hint"], ["naive.py", "--parts", "nothing"]],
)
def test_a_mistake_in_the_command_line_is_one_sentence(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--final", *arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.stories
def test_ctrl_c_ends_the_exam_and_all_that_it_started(place: Path) -> None:
    command = [sys.executable, "-m", "harness", "check", "--final", "naive.py", "--parts", "stall/one tool"]
    environment = {**os.environ, "TMPDIR": str(place)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=place) as exam:
        assert exam.stdout is not None
        for line in exam.stdout:
            if line.startswith("✓ one tool call"):
                break
        exam.send_signal(signal.SIGINT)
        assert exam.wait(60) == 130
    assert not [one for one in psutil.process_iter(["cwd"]) if f"{place}/harness-exam-" in (one.info["cwd"] or "")]
    assert not list(place.glob("harness-exam-*"))


def test_every_part_has_a_name_in_japanese() -> None:
    assert set(NAMES) == set(PARTS)


@pytest.mark.parametrize(
    ("line", "width", "lines"),
    [
        ("✓ one two three", 40, ["✓ one two three"]),
        ("    one two three", 14, ["    one two", "      three"]),
        ("    stderr: " + "x" * 12, 20, ["    stderr:", "      " + "x" * 12]),
        ("  " + "x" * 20, 14, ["  " + "x" * 10, "    " + "x" * 10]),
        ("  終わりません。答え", 16, ["  終わりません。", "    答え"]),
    ],
)
def test_long_lines_are_folded_at_words_and_in_japanese_anywhere(line: str, width: int, lines: list[str]) -> None:
    assert list(folded(line, width)) == lines


def test_the_page_has_the_figures_of_the_exam() -> None:
    page = (Path(__file__).parents[4] / "docs" / "exam.md").read_text(encoding="utf-8")
    limits = ExamLimits()
    assert f"{NEEDED} of {sum(row.kind is RowKind.RECOVERABLE for row in ROWS)}" in page
    assert f"within {limits.requests} requests" in page
    assert f"within {limits.signal_s:.0f} seconds, and all its processes within {limits.left_s:.0f} more" in page


@pytest.mark.stories
def test_the_program_passes_the_whole_exam_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--final", WHOLE]) == 0
    out = capsys.readouterr().out
    assert "25 of 25 recoverable faults survived; 22 are needed." in out
    assert "✗" not in out
