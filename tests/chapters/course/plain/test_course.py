"""A chapter in lines: through it without waiting, and step by step with every key."""

import io
import re
from pathlib import Path

import pytest

from chapters.course import Language, Lesson, LessonError, Progress, lesson
from chapters.course.plain.course import TypedLines, play, play_stepwise
from chapters.course.plain.narration import Narration
from tests.chapters.course.plain.chapter import (
    first,
    with_a_failing_demo,
    with_a_step_that_never_comes,
    with_its_mistake_corrected,
)

pytestmark = pytest.mark.anyio


def progress(folder: Path) -> Progress:
    return Progress(folder / "course.json")


async def typed(
    folder: Path, *lines: str, lesson: Lesson | None = None, language: Language = "en", questions: bool = False
) -> str:
    """The output for a learner who types these lines."""
    keys = folder / "typed.txt"
    keys.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    out = io.StringIO()
    with keys.open(encoding="utf-8") as source:
        narration = Narration(lesson or first(), language, out)
        await play_stepwise(narration, TypedLines(source), progress(folder), questions=questions)
    return out.getvalue()


def steps(said: str) -> list[int]:
    """The numbers of the shown steps, in order."""
    return [int(number) for number in re.findall(r"── step (\d+) of", said)]


async def test_a_chapter_plays_to_its_end_and_shows_everything() -> None:
    out = io.StringIO()
    await play(Narration(first(), "en", out))
    said = out.getvalue()
    count = len(first().steps)
    assert steps(said) == list(range(1, count + 1))
    assert said.startswith("s01 · The agent loop\n")
    for heading in ("The problem", "The idea", "How it works", "Try it", "Break it", "Next"):
        assert f"── {heading} ──" in said
    assert f"All {count} steps happened." in said
    assert "> Which files are here" in said


async def test_a_missing_step_is_named() -> None:
    out = io.StringIO()
    with pytest.raises(LessonError, match=r"s01_agent_loop: step \d+ did not happen: CompactionEnded"):
        await play(Narration(with_a_step_that_never_comes(), "en", out))
    assert steps(out.getvalue()) == list(range(1, len(first().steps) + 1))


@pytest.mark.parametrize(
    ("language", "marked"),
    [("en", "✗ This does not hold in this run: summary has"), ("ja", "✗ この実行では成り立っていません: summary has")],
)
async def test_a_sentence_that_is_false_is_marked_below_it_and_its_step_named(
    tmp_path: Path, language: Language, marked: str
) -> None:
    out = io.StringIO()
    with pytest.raises(LessonError, match=r"these steps do not hold in this run: 6, 7\."):
        await play(Narration(with_its_mistake_corrected(tmp_path), language, out))
    said = out.getvalue()
    assert f'{marked} "Traceback"; it is "23 words …".' in said or f'{marked} "Traceback"; it is "23 words …"。' in said
    assert "All 10 steps happened" not in said


async def test_a_demo_that_fails_is_named_with_its_error(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match=r"demo\.py failed in line \d+: KeyError"):
        await play(Narration(with_a_failing_demo(tmp_path), "en", io.StringIO()))


async def test_a_missing_step_is_reported_and_the_learner_continues(tmp_path: Path) -> None:
    lesson = with_a_step_that_never_comes()
    said = await typed(tmp_path, *["n"] * (len(lesson.steps)), "b", lesson=lesson)
    assert "! s01_agent_loop: step 11 did not happen: CompactionEnded." in said
    assert steps(said)[-2:] == [10, 9]


async def test_enter_continues_b_goes_back_without_running_anything_again_and_r_restarts(tmp_path: Path) -> None:
    said = await typed(tmp_path, "", "ｎ", "b", "b", "b", "", "r", "", "ｑ", "n")
    assert steps(said) == [1, 2, 1, 1, 1]
    assert said.count("This is the beginning.") == 1
    assert "The chapter starts again." in said
    shown = [part.partition("1/10 >")[0] for part in said.split("── step ") if part.startswith("1 of")]
    assert len(shown) == 4
    assert len(set(shown[:3])) == 1


async def test_the_position_is_remembered_until_the_chapter_is_done(tmp_path: Path) -> None:
    await typed(tmp_path, "", "", "", "q", "")
    assert progress(tmp_path).step("s01") == 3
    said = await typed(tmp_path, *[""] * len(first().steps))
    assert "Continuing at step 3" in said
    assert steps(said)[:2] == [3, 4]
    assert progress(tmp_path).done("s01")
    assert steps(await typed(tmp_path, "")) == [1]


async def test_every_key_shows_its_page(tmp_path: Path) -> None:
    said = await typed(tmp_path, "w", "t", "d", "?", "x", "/nonsense", "", "w", "c", "c", "c", "l", "")
    assert "No requests so far." in said
    for words in (
        "── What production systems add ──",
        "async def demo(session: DemoSession)",
        "anything else is a prompt",
    ):
        assert words in said
    assert "Unknown command x;" in said
    assert "Unknown command /nonsense;" in said
    sent = said.partition("── request 1: sent ──")[2]
    assert '"model": "practice-1"' in sent
    assert '"stop_reason": "tool_use"' in sent.partition("── request 1: received · scripted reply 1 of 8 ──")[2]
    own, demo, again = (part.split(" ──")[0] for part in said.split("── chapters/")[-3:])
    assert own == again
    assert own.startswith("s01_agent_loop/demo.py:")
    assert demo == "s01_agent_loop/demo.py (2/2)"
    assert re.search(r"^ *12  MODEL = ", said, re.MULTILINE)
    assert re.search(r"^ *\d+ ▸ {4}\"description\": \"Run a command line", said, re.MULTILINE)
    assert '  "description": "Run a command line and read' in said  # below the sentence of the step, too
    assert "これからは日本語で表示します。" in said
    assert "── 場面 2/10 ──" in said
    assert progress(tmp_path).language == "ja"


async def test_any_other_text_is_a_prompt_to_the_agent_of_the_chapter_and_moves_no_cursor(tmp_path: Path) -> None:
    said = await typed(tmp_path, "", "list the files", "b", "say \x1b[2J hello")
    assert "Going to the end of the chapter first" in said
    assert "There are 3 files in this folder" in said.partition("list the files\n")[2]
    assert steps(said) == [1, 10]
    assert "\x1b" not in said


async def test_commands_that_texts_and_reports_name_work_in_a_chapter(tmp_path: Path) -> None:
    commands = ("/reset delivery", "/retry", "/checklist", "/agents", "/clear", "/retry", "/reset nonsense")
    said = await typed(tmp_path, *commands, lesson=lesson("s21"))
    done = said.partition("delivery is reset.")[2]
    assert "⇄ request 18:" in done
    assert "1 of 3 done" in done
    assert "No subagent has run" in done
    after = done.partition("Conversation cleared.")[2]
    assert "There is nothing to try again yet" in after
    assert "There is no tool called nonsense" in after


async def test_the_model_is_broken_on_purpose(tmp_path: Path) -> None:
    said = await typed(tmp_path, "/fault 529", "list the files", "/fault", "/toolfault bash timeout", "/fault nonsense")
    assert "On purpose, for the next request: the model is overloaded." in said
    assert "529 overloaded_error" in said.rpartition("list the files\n")[2]
    assert "/fault KIND [n]" in said
    assert "The tools of this chapter cannot be broken from here" in said
    assert "nonsense" in said.rpartition("! ")[2]


async def test_e_says_when_there_is_no_exercise_and_what_to_type_when_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = await typed(tmp_path, "e")
    assert "harness check harness-exercises/s01-" in said
    assert list((tmp_path / "harness-exercises").glob("s01-*/TASK.md"))
