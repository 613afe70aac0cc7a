"""Each chapter runs, its narration matches its events, and its text shows the current code."""

import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from chapters.course import LANGUAGES, Lesson, Recording, difference, lessons, readme, source
from chapters.course.catalogue import FILES, HEADINGS
from chapters.course.refresh import MARK, refreshed, texts
from harness.practice.script import Script
from tests.chapters.answers import did

CHAPTERS = pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)
AT_ONCE = 6
MOST_LINES = 150
"""The most lines of a demo."""
ASKING = ("s01", "s02", "s03", "s04", "s06", "s25")
ASKING_TWICE = ("s08", "s11", "s12", "s13", "s14", "s15", "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24")


@pytest.mark.anyio
@pytest.mark.timeout(300)  # all chapters in one test
async def test_each_runs_does_what_its_sentences_say_and_answers_its_questions_as_the_file_does() -> None:
    """Several at once, because most of their time is waiting; not all, because their limits of silence are short."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def run(chapter: Lesson) -> None:
        async with slots:
            await _run(chapter)

    await asyncio.gather(*map(run, lessons()))


async def _run(chapter: Lesson) -> None:
    async with Recording(chapter, scripted_only=True) as recording:
        await recording.finished()
        facts = [moment.fact for moment in recording.moments]
        for number, found in enumerate(recording.steps, 1):
            for language in LANGUAGES:
                assert found.step.said(found.moment.fact, language).strip(), chapter.id
            if (asked := found.step.question) is not None:
                past, following = facts[: found.moment.number], facts[found.moment.number :]
                done = [option.value for option in asked.options if did(asked.about, past, following, option.value)]
                assert (chapter.id, number, done) == (chapter.id, number, [asked.answer.value])
    assert [(number, found.failed) for number, found in recording.failed] == [], chapter.id
    assert len(recording.steps) == len(chapter.steps), chapter.id
    assert not recording.workspace.exists(), chapter.id


def test_chapters_with_a_policy_ask() -> None:
    counts = Counter(chapter.id for chapter in lessons() for step in chapter.steps if step.question)
    assert counts >= Counter({**dict.fromkeys(ASKING, 1), **dict.fromkeys(ASKING_TWICE, 2)})


@CHAPTERS
def test_its_code_and_script_are_there_and_its_program_is_short(chapter: Lesson) -> None:
    for place in (chapter.demo, *chapter.code, *(step.code for step in chapter.steps if step.code)):
        assert source(place).text.strip()
    assert all(source(step.code).deciding for step in chapter.steps), "each names its deciding line"
    assert all(source(step.question.rule).text.strip() for step in chapter.steps if step.question)
    assert difference(chapter).strip()
    assert len(source(chapter.demo, imports=True).text.splitlines()) <= MOST_LINES
    Script.load(chapter.folder / "script.toml")


@CHAPTERS
@pytest.mark.parametrize("language", LANGUAGES)
def test_its_text_is_whole(chapter: Lesson, language: str) -> None:
    [known] = [one for one in LANGUAGES if one == language]
    assert tuple(section.title for section in readme(chapter, known)) == HEADINGS[known]
    file = chapter.folder / FILES[known]
    text = file.read_text("utf-8")
    assert MARK.search(text), "a text shows code of the program"
    assert re.match(rf"# {chapter.id} · {re.escape(chapter.title.into(known))}\n", text)
    row = f"| [{chapter.id}]({chapter.name}/{file.name}) | {chapter.title.into(known)} | {chapter.idea.into(known)} |\n"
    assert row in (chapter.folder.parent / FILES[known]).read_text("utf-8"), "the list of chapters has its idea"


@pytest.mark.parametrize("page", texts(), ids=lambda page: f"{page.parent.name}/{page.name}")
def test_a_page_shows_code_and_values_as_they_are_now(page: Path) -> None:
    text = page.read_text("utf-8")
    assert refreshed(text) == text, f"python -m chapters.course.refresh writes {page.name} again"


@CHAPTERS
def test_a_step_names_the_same_values_and_words_of_the_run_in_both_languages(chapter: Lesson) -> None:
    for step in chapter.steps:
        for pattern in (r"`[^`]+`", r"\{[\w.]+"):
            [en, ja] = [set(re.findall(pattern, step.say.into(language))) for language in LANGUAGES]
            assert en == ja, step
    recorded = {*chapter.prompts, "some work is left"}
    for step in chapter.steps:
        quoted = [words for words in recorded if words in step.say.en]
        assert [words for words in quoted if words not in step.say.ja] == []


OF_A_MODEL = re.compile(
    r"[Nn]o ?(one|body) (programmed|wrote) this|it guessed|prefers to|[Ii]t helps:|書いた人はいません|効き目が"
)


@CHAPTERS
def test_no_sentence_says_of_a_scripted_reply_that_a_model_chose_it(chapter: Lesson) -> None:
    """Each request is marked as a scripted reply; a sentence may say what it holds, not that someone decided it."""
    said = [step.say.into(language) for step in chapter.steps for language in LANGUAGES]
    assert [text for text in said if OF_A_MODEL.search(text)] == []


@CHAPTERS
@pytest.mark.parametrize("language", LANGUAGES)
def test_files_names_and_code_in_its_text_are_there(chapter: Lesson, language: str) -> None:
    """A path exists, a name beside a path is defined in that file, and a statement beside it occurs in it."""
    [known] = [one for one in LANGUAGES if one == language]
    text = re.sub(r"(?ms)^```.*?^```$", "", (chapter.folder / FILES[known]).read_text("utf-8"))
    root = chapter.folder.parent.parent
    for paragraph in re.split(r"\n\n|\n(?=[-|])", text):
        named = re.findall(r"`((?:harness|chapters)/[\w/.]+)`", paragraph)
        assert [name for name in named if not (root / name).exists()] == []
        code = "".join((root / name).read_text("utf-8") for name in named if name.endswith(".py"))
        if len(named) == 1 and code:
            for path in re.findall(r"`([A-Z]\w+\.\w+)`", paragraph):
                assert all(re.search(rf"\b(?:class|def) {part}\b|^\s*{part}\b", code, re.M) for part in path.split("."))
            for statement in re.findall(r"`((?:while|for|if|return|raise|await) [^`]+)`", paragraph):
                assert statement in code


@CHAPTERS
def test_links_of_its_text_lead_somewhere(chapter: Lesson) -> None:
    for file in FILES.values():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", (chapter.folder / file).read_text("utf-8")):
            assert (chapter.folder / Path(target)).exists(), target
