"""Frames of a session or of a chapter, drawn by the app without a terminal."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from chapters.course import Language, Lesson, Moment, Recording, WireExchange
from chapters.course.plain import messages
from chapters.course.plain.narration import exchanged_line
from chapters.course.plain.position import LessonPosition
from chapters.course.site.writer import neutral
from harness.events import Event, decode, encode
from harness.journal import Record
from harness.ui.app.panel_view import PanelView, SplitView
from harness.ui.app.snapshot import SnapshotApp
from harness.ui.app.status_line import Status, StatusLine
from harness.ui.app.views import EntryRenderer
from harness.ui.transcript.entries import NoteEntry
from tests.ui.app.screens import screen_rows, settled
from tests.ui.pictures.film import Frame, Look, Row, Run, digest_of, film_svg

COLUMNS, ROWS = 100, 22
PANEL = 33
"""Columns of the panel."""
SPLITS = (COLUMNS - PANEL, COLUMNS - PANEL + 1)
"""The border of the panel."""
CAPTION_ROWS = 4
CAPTION, QUIET, GROUND, CAPTION_GROUND = "#ffffff", "#a8b0bb", "#121212", "#2a3038"
SHORTEST_S, LONGEST_S = 0.7, 2.5
"""How long a frame of a session is shown."""
_PIECES = re.compile(r"[\x21-\x7e]+[、。」）：・ー]* *|[^\x21-\x7e][、。」）：・ー]* *")
"""Units that are not broken: a word, or one other sign with the punctuation after it."""


class FilmApp(SnapshotApp):
    """Conversation and panel; the caller adds events."""

    def __init__(self, name: str) -> None:
        super().__init__((), name, theme="", panel_only=False)

    def on_mount(self) -> None:
        self.query_one(PanelView).set_renderer(self._drawn)
        chat = self.query_one(SplitView).chat
        chat.set_renderer(EntryRenderer(lambda: self._fold.now.at))

    def add(self, moments: Iterable[Moment]) -> None:
        """Add events and requests, and draw."""
        for moment in moments:
            if isinstance(moment.fact, WireExchange):
                self._transcript.show(NoteEntry(exchanged_line(moment.fact)))
            else:
                self._transcript.on_event(moment.fact, moment.at)
                self._fold.on_event(moment.fact, moment.at)
        panel = self._fold.now
        self.query_one(SplitView).chat.update(self._transcript.entries)
        self.query_one(PanelView).redraw()
        self.query_one(StatusLine).show(Status((self._session, f"turn {panel.turn}", f"step {panel.step}")))


async def session_film(records: Sequence[Record], name: str, title: str) -> str:
    """A recorded session, drawn again at every change."""
    frames: list[Frame] = []
    app = FilmApp(name)
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        for record, following in zip(records, (*records[1:], None), strict=True):
            app.add([Moment(record.seq, record.at, record.event)])
            seconds = LONGEST_S if following is None else min(LONGEST_S, following.at - record.at)
            if following is not None and seconds < 0.005:
                continue
            await settled(pilot)
            rows = rows_of(screen_rows(app))
            if frames and frames[-1].rows == rows:
                frames[-1] = Frame(rows, min(LONGEST_S, frames[-1].seconds + seconds))
            else:
                frames.append(Frame(rows, max(SHORTEST_S, seconds)))
    frames[-1] = Frame(frames[-1].rows, 2 * LONGEST_S)
    return film_svg(frames, COLUMNS, splits=SPLITS, background=ground(frames), title=title)


async def chapter_films(lesson: Lesson) -> dict[Language, str]:
    """A run of a chapter: a frame for each step, with its sentence below, in each language."""
    async with Recording(lesson, scripted_only=True) as recording:
        await recording.finished()
    position = LessonPosition(recording)
    app = FilmApp(lesson.id)
    screens: list[tuple[Row, ...]] = []
    async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
        for place in range(1, position.last):
            position.place = place
            app.add(neutral_moments(position.present, recording.workspace))
            await settled(pilot)
            screens.append(rows_of(screen_rows(app)))
    return {language: _with_sentences(recording, screens, language) for language in ("en", "ja")}


def inputs_of(lesson: Lesson) -> str:
    """The digest of the files that a film of a chapter depends on."""
    names = ("lesson.toml", "script.toml", "demo.py", "workspace/**/*")
    files = sorted({file for name in names for file in lesson.folder.glob(name) if _is_source(file)})
    return digest_of(*(part for file in files for part in (file.name.encode(), file.read_bytes())))


def _is_source(file: Path) -> bool:
    return file.is_file() and "__pycache__" not in file.parts


def _with_sentences(recording: Recording, screens: Sequence[tuple[Row, ...]], language: Language) -> str:
    lesson, count = recording.lesson, len(screens)
    title = f"{lesson.id} · {lesson.title.into(language)}"
    frames: list[Frame] = []
    for number, (rows, found) in enumerate(zip(screens, recording.steps, strict=True), 1):
        sentence = neutral(found.step.said(found.moment.fact, language), recording.workspace)
        where = messages.STEP_OF.into(language).format(number=number, count=count)
        frames.append(Frame((*rows, *_caption(f"{title} · {where}", sentence)), _reading_s(sentence)))
    return film_svg(
        frames,
        COLUMNS,
        splits=SPLITS,
        background=ground(frames),
        title=title,
        digest=inputs_of(lesson),
    )


def _reading_s(sentence: str) -> float:
    return min(7.0, 3.0 + cell_len(sentence) / 50)


def _caption(heading: str, sentence: str) -> Iterator[Row]:
    lines = wrapped(sentence, COLUMNS - 2)
    most = CAPTION_ROWS - 1
    if len(lines) > most:
        lines = [*lines[: most - 1], lines[most - 1] + "…"]
    yield _full_row(heading, Look(QUIET, CAPTION_GROUND))
    for line in [*lines, *[""] * (most - len(lines))]:
        yield _full_row(line, Look(CAPTION, CAPTION_GROUND, bold=True))


def wrapped(text: str, columns: int) -> list[str]:
    """The text in lines of at most `columns` cells. Japanese breaks anywhere but before closing punctuation."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if cell_len(lines[-1] + piece.rstrip()) > columns:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


def _full_row(text: str, look: Look) -> Row:
    return (Run(0, f" {text}" + " " * (COLUMNS - 1 - cell_len(text)), look),)


def neutral_moments(moments: Sequence[Moment], workspace: Path) -> Iterator[Moment]:
    """The moments without the temporary folder of their recording."""
    for moment in moments:
        if isinstance(moment.fact, Event):
            event = decode(json.loads(neutral(json.dumps(encode(moment.fact)), workspace)))
            yield Moment(moment.number, moment.at, event)
        else:
            exchange = replace(moment.fact, text=neutral(moment.fact.text, workspace))
            yield Moment(moment.number, moment.at, exchange)


def rows_of(lines: Iterable[Sequence[Segment]]) -> tuple[Row, ...]:
    """A screen as runs."""
    return tuple(_row(line) for line in lines)


def _row(line: Sequence[Segment]) -> Row:
    runs: list[Run] = []
    column = 0
    for segment in line:
        look = _look(segment.style or Style())
        for text in _split(segment.text, column):
            if runs and runs[-1].look == look and column not in SPLITS:
                runs[-1] = Run(runs[-1].column, runs[-1].text + text, look)
            else:
                runs.append(Run(column, text, look))
            column += cell_len(text)
    return tuple(runs)


def _split(text: str, column: int) -> Iterator[str]:
    """The text that begins at `column` in pieces that do not cross a split."""
    piece = ""
    for character in text:
        if piece and column in SPLITS:
            yield piece
            piece = ""
        piece += character
        column += cell_len(character)
    if piece:
        yield piece


def _look(style: Style) -> Look:
    colour = style.color.get_truecolor().hex if style.color and not style.color.is_default else CAPTION
    back = style.bgcolor.get_truecolor().hex if style.bgcolor and not style.bgcolor.is_default else GROUND
    if style.reverse:
        colour, back = back, colour
    if style.dim:
        colour = _between(colour, back)
    return Look(colour, back, bool(style.bold), bool(style.italic), bool(style.underline))


def _between(one: str, other: str) -> str:
    pairs = ((int(one[at : at + 2], 16), int(other[at : at + 2], 16)) for at in (1, 3, 5))
    return "#" + "".join(f"{(2 * a + b) // 3:02x}" for a, b in pairs)


def ground(frames: Sequence[Frame]) -> str:
    """The most common background."""
    cells = Counter[str]()
    for frame in frames:
        for run in (run for row in frame.rows for run in row):
            cells[run.look.background] += cell_len(run.text)
    return cells.most_common(1)[0][0]
