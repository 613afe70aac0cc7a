"""Record the sessions of the documentation, and draw its pictures from them: python -m tests.ui.pictures.make

With `redraw`, only the pictures are made anew, from the sessions there are. The animations of the chapters are recorded
each time; `chapters` makes only these, and only for chapters that have changed.

The real command, with the scripts and faults beside this file. The journals go to `docs/sessions`, where anyone can
replay them, and the pictures to `docs/pictures`. Machine-specific values are replaced.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from chapters.course import Lesson, Progress, lesson, lessons
from chapters.course.screen.app import LessonApp
from chapters.course.site.writer import PICTURES as PICTURES_OF_RUNS
from harness.events import AgentEnd, AgentEnded, Event, ModelSwitched, RetryScheduled, StuckReported
from harness.journal import Record, read, session_folder
from harness.ui.app.snapshot import snapshot_svg
from tests.chapters.course.screen.opened import press
from tests.ui.app.screens import settled
from tests.ui.pictures.film import digest_in
from tests.ui.pictures.frames import chapter_films, inputs_of, session_film
from tests.ui.program import ROOT, Place, run

HERE = Path(__file__).parent
SESSIONS = ROOT / "docs" / "sessions"
PICTURES = ROOT / "docs" / "pictures"
FILM = "storm-film.svg"
WORKSPACE = "/home/you/project"
BEGINS_AT = 1_795_258_800.0
"""Unix time at which each recording is said to begin."""
MODELS = ("-m", "claude-opus-5-5", "--fallback-model", "claude-sonnet-5-5")
FILES = {
    "src/config.py": (
        "import json\n\n\ndef load_config(path):\n    text = path.read_text()\n    return json.loads(text)\n"
    ),
    "src/server.py": "from config import load_config\n\nsettings = load_config(HOME / 'settings.json')\n",
    "tests/test_config.py": "def test_defaults():\n    assert True\n",
}
BEAT = 8
"""Of chapter s21: the breaker is open, and one call is let through to try."""


@dataclass(frozen=True, slots=True)
class Story:
    """A session to record."""

    name: str
    prompt: str
    tool_faults: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Variables of the environment."""


@dataclass(frozen=True, slots=True)
class Moment:
    """A picture: the moment right after the first record for which something holds, or the end of a step."""

    name: str
    story: str
    at: Callable[[Event], bool] | int


STORIES = (
    Story("storm", "find where the config is read and add a timeout", str(HERE / "storm-tools.toml")),
    Story("network", "find the settings and run the tests", "network-gone"),
    Story(
        "pause",
        "build the project and publish the page",
        str(HERE / "pause-tools.toml"),
        {"HARNESS_FAILURE_BUDGET": "4"},
    ),
    Story("loop", "why does the server wait for ever?"),
    Story(
        "agents",
        "what happens when a setting is wrong?",
        settings={"HARNESS_MAX_CONCURRENT": "3", "HARNESS_FAN_OUT": "allow"},
    ),
)
MOMENTS = (
    Moment("calm", "storm", 1),
    Moment("retry", "storm", lambda event: isinstance(event, RetryScheduled)),
    Moment("open-breaker", "storm", 6),
    Moment("fallback", "storm", lambda event: isinstance(event, ModelSwitched)),
    Moment("systemic", "network", 4),
    Moment("pause", "pause", 5),
    Moment("loop", "loop", lambda event: isinstance(event, StuckReported)),
    Moment("agents", "agents", lambda event: isinstance(event, AgentEnded) and event.end is AgentEnd.FAILED),
)


async def recorded(story: Story, folder: Path) -> str:
    """The journal of a story, as it was written."""
    place = Place(folder / "project")
    for file, text in FILES.items():
        path = place.folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    faults = ("--tool-faults", story.tool_faults) if story.tool_faults else ()
    flags = ("--practice", str(HERE / f"{story.name}.toml"), *faults, "--yolo", *MODELS)
    ended = await run(place, "-p", story.prompt, *flags, env=dict(story.settings))
    print(f"{story.name}: exit code {ended.code}\n{ended.err}", file=sys.stderr)
    (journal,) = session_folder(place.folder.resolve(), place.state).glob("*.jsonl")
    return neutral(journal.read_text("utf-8"), folder)


def neutral(journal: str, folder: Path) -> str:
    """The journal without a trace of the machine, beginning at a fixed time."""
    text = journal.replace(str((folder / "project").resolve()), WORKSPACE)
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text)
    records = [json.loads(line) for line in text.splitlines()]
    shift = BEGINS_AT - records[0]["at"]
    for record in records:
        record["at"] = round(record["at"] + shift, 3)
        for moment in ("retry_at", "until"):
            if record.get(moment) is not None:
                record[moment] = round(record[moment] + shift, 3)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def until(records: Sequence[Record], moment: Moment) -> Sequence[Record]:
    """The records up to a moment."""
    if callable(moment.at):
        return records[: next(number for number, record in enumerate(records, 1) if moment.at(record.event))]
    for number, record in enumerate(records):
        if getattr(record.event, "step", 0) == moment.at + 1:
            return records[:number]
    return records


async def film() -> str:
    """The animation at the top of the README."""
    records = read(SESSIONS / "storm.jsonl").records
    return await session_film(records, "storm", "A turn under faults, from the first request to the answer")


async def of_the_course(folder: Path) -> str:
    """A chapter at one of its steps."""
    app = LessonApp(lesson("s21"), "en", Progress(folder / "course.json"), folder, questions=False)
    async with app.run_test(size=(116, 36)) as pilot:
        await settled(pilot)
        assert app.opened is not None
        await app.opened.position.recording.finished()
        await press(pilot, *["n"] * BEAT)
        svg = app.export_screenshot(title="harness learn s21")
        await app.aclose()
    return svg


def is_current(chapter: Lesson) -> bool:
    """Whether the animations of a chapter were made from the chapter as it is."""
    files = [chapter.folder / name for name in PICTURES_OF_RUNS.values()]
    return all(file.exists() and digest_in(file.read_text("utf-8")) == inputs_of(chapter) for file in files)


async def draw_chapters(chapters: Iterable[Lesson]) -> None:
    """The animations of chapters, in their folders."""
    for chapter in chapters:
        for language, svg in (await chapter_films(chapter)).items():
            (chapter.folder / PICTURES_OF_RUNS[language]).write_text(svg, "utf-8")
            print(f"{chapter.name}/{PICTURES_OF_RUNS[language]}: {len(svg):,} characters", file=sys.stderr)


async def main() -> None:
    """Write everything anew, or what the argument names."""
    if "chapters" in sys.argv:
        await draw_chapters(chapter for chapter in lessons() if not is_current(chapter))
        return
    await draw_chapters(lessons())
    SESSIONS.mkdir(parents=True, exist_ok=True)
    PICTURES.mkdir(parents=True, exist_ok=True)
    for story in STORIES if len(sys.argv) == 1 else ():
        with tempfile.TemporaryDirectory() as folder:
            (SESSIONS / f"{story.name}.jsonl").write_text(await recorded(story, Path(folder)), "utf-8")
    for moment in MOMENTS:
        records = until(read(SESSIONS / f"{moment.story}.jsonl").records, moment)
        svg = await snapshot_svg(records, moment.story, columns=116, rows=30)
        (PICTURES / f"{moment.name}.svg").write_text(svg, "utf-8")
    (PICTURES / FILM).write_text(await film(), "utf-8")
    with tempfile.TemporaryDirectory() as folder:
        (PICTURES / "course.svg").write_text(await of_the_course(Path(folder)), "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
