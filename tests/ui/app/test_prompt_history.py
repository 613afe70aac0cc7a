"""The file of earlier prompts."""

import json
import stat
import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.prompt_history import COMPACTED_ABOVE, MOST_CHARACTERS, MOST_PROMPTS, PromptHistory


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "state" / "prompts.jsonl"


def lines_in(file: Path) -> int:
    return file.read_bytes().count(b"\n")


def test_prompts_of_one_run_are_there_in_the_next_whole_and_in_order(file: Path) -> None:
    history = PromptHistory(file)
    for prompt in ("first", "two\nlines", "天気 \ud800 \x00"):
        history.add(prompt)
    assert list(PromptHistory(file).prompts) == ["first", "two\nlines", "天気 \ud800 \x00"]
    assert history.problem() is None


@given(st.lists(st.sampled_from(["a", "b", " hidden", "", "\n", "c\nd"]), max_size=12))
def test_what_is_kept_is_what_was_said_without_repetitions(said: list[str]) -> None:
    history = PromptHistory(None)
    for prompt in said:
        history.add(prompt)
    kept = [prompt for prompt in said if prompt.strip() and not prompt.startswith(" ")]
    assert list(history.prompts) == [prompt for prompt, _ in groupby(kept)]


def test_only_the_owner_may_read_the_file(file: Path) -> None:
    PromptHistory(file).add("private")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_damaged_lines_are_skipped(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(
        b'{"prompt": "good"}\n\xff\xfe\n{"prompt": 3}\n[]\n\n' + b"[" * 100_000 + b'\n{"prompt": "better"}\n'
    )
    assert list(PromptHistory(file).prompts) == ["good", "better"]


def test_a_line_that_was_cut_off_does_not_swallow_the_next_one(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b'{"prompt": "good"}\n{"prom')
    PromptHistory(file).add("next")
    assert list(PromptHistory(file).prompts) == ["good", "next"]


def test_the_newest_prompts_are_kept_and_the_file_is_written_anew_when_it_is_long(file: Path) -> None:
    history = PromptHistory(file)
    for number in range(COMPACTED_ABOVE + 1):
        history.add(f"prompt {number}")
    assert lines_in(file) == MOST_PROMPTS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    newest = [f"prompt {number}" for number in range(COMPACTED_ABOVE + 1 - MOST_PROMPTS, COMPACTED_ABOVE + 1)]
    assert list(history.prompts) == list(PromptHistory(file).prompts) == newest
    assert [entry.name for entry in file.parent.iterdir()] == [file.name]


def test_a_long_file_is_written_anew_when_it_is_read(file: Path) -> None:
    file.parent.mkdir()
    file.write_text("".join(json.dumps({"prompt": str(n)}) + "\n" for n in range(COMPACTED_ABOVE + 5)))
    assert len(PromptHistory(file).prompts) == MOST_PROMPTS
    assert lines_in(file) == MOST_PROMPTS


def test_a_very_long_prompt_is_known_in_this_run_alone(file: Path) -> None:
    history = PromptHistory(file)
    history.add("x" * (MOST_CHARACTERS + 1))
    assert len(history.prompts) == 1
    assert list(PromptHistory(file).prompts) == []


def test_two_programs_append_to_one_file_and_no_prompt_is_lost(file: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from harness.ui.app.prompt_history import PromptHistory\n"
        "history = PromptHistory(Path(sys.argv[1]))\n"
        "for number in range(200): history.add(f'{sys.argv[2]} {number}')"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(file), name]) for name in ("one", "two")]
    assert [process.wait() for process in running] == [0, 0]
    prompts = PromptHistory(file).prompts
    for name in ("one", "two"):
        assert [prompt for prompt in prompts if prompt.startswith(name)] == [f"{name} {n}" for n in range(200)]


def test_a_file_that_cannot_be_used_is_reported_once_and_the_run_continues(tmp_path: Path) -> None:
    history = PromptHistory(tmp_path)
    history.add("a")
    assert str(tmp_path) in (history.problem() or "")
    history.add("b")
    assert history.problem() is None
    assert list(history.prompts) == ["a", "b"]
