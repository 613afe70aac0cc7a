"""The page of one chapter: its text, and the steps of a recorded run."""

import io
import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePosixPath

from textual.content import Content

from chapters.course import (
    CodeExcerpt,
    Language,
    Lesson,
    LocalizedText,
    LocatedStep,
    ReadmeSection,
    Recording,
    WireExchange,
    before,
    lessons,
    new_lines,
    readme,
    source,
)
from chapters.course.plain import messages
from chapters.course.plain.narration import (
    READ_BEFORE_THE_END,
    Narration,
    panel_of,
    places,
)
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.wire_text import FIRST, cut_texts, response_heading, response_lines
from chapters.course.site import words
from chapters.course.site.markup import code_html, content_html, markdown_html, scrollable, sentence_html
from chapters.course.site.request_changes import RequestChanges, request_changes
from chapters.course.site.sequence import arrows_of, sequence_svg
from harness.ui.panel.sections import panel_rows

MOST_TEXT = 1_200
"""Longest text within a shown request or reply."""
MOST_DESCRIPTION = 160
"""The same for the tools, which are many."""
PANEL_COLUMNS = 48
PANEL_ROWS = 40


class ChapterPage:
    """Writes the page of a finished recording in one language."""

    def __init__(self, recording: Recording, language: Language, *, picture: str | None = None) -> None:
        """`picture` is the address of the animation of the run."""
        self.lesson = recording.lesson
        self._recording = recording
        self._language: Language = language
        self._picture = picture

    def title(self) -> str:
        """Number and name of the chapter."""
        return chapter_title(self.lesson, self._language)

    def html(self) -> str:
        """The content of the page."""
        sections = readme(self.lesson, self._language)
        contents = [(f"part-{number}", section.title) for number, section in enumerate(sections, 1)]
        run = self._word(words.RUN_IN).format(count=len(self.lesson.steps))
        contents.insert(READ_BEFORE_THE_END, ("run", run))
        links = "".join(f'<li><a href="#{id}">{escape(title)}</a></li>' for id, title in contents)
        texts = [self._section(number, section) for number, section in enumerate(sections, 1)]
        texts.insert(READ_BEFORE_THE_END, self._run())
        return (
            f"<h1>{escape(self.title())}</h1>\n"
            f'<p class="idea">{sentence_html(self.lesson.idea.into(self._language))}</p>\n{self._drawn()}'
            f'<nav class="contents" aria-label="{self._word(words.CONTENTS)}"><ul>{links}</ul></nav>\n'
            + "\n".join(texts)
        )

    def _word(self, text: LocalizedText) -> str:
        return text.into(self._language)

    def _drawn(self) -> str:
        if self._picture is None:
            return ""
        label = self._word(words.PICTURE).format(id=self.lesson.id)
        return f'<img class="run" src="{escape(self._picture)}" alt="{escape(label)}">\n'

    def _section(self, number: int, section: ReadmeSection) -> str:
        text = markdown_html(section.text, self._address, self._word(words.CODE))
        return f'<section id="part-{number}" class="text"><h2>{escape(section.title)}</h2>\n{text}</section>'

    def _address(self, target: str) -> str | None:
        """The page of a chapter, or an address of the web; None for another file of the repository."""
        if target.startswith(("https://", "http://", "#")):
            return target
        names = {one.name: one.id for one in lessons()}
        found = next((names[part] for part in PurePosixPath(target).parts if part in names), None)
        return f"{found}.html" if found and target.partition("#")[0].endswith(".md") else None

    # ── the run ───────────────────────────────────────────────────────────────────────────────────

    def _run(self) -> str:
        count = len(self.lesson.steps)
        command = f"harness learn {self.lesson.id}"
        steps = "\n".join(self._step(place) for place in range(1, count + 1))
        return (
            f'<section id="run"><h2>{self._word(words.RUN)}</h2>\n'
            f"<p>{self._word(words.PRACTICE)}</p><p>{self._word(words.LIVE)} <code>{command}</code></p>\n"
            f"{self._sequence()}"
            f'<div class="bar" hidden>'
            f'<button type="button" class="previous" aria-label="{self._word(words.PREVIOUS)}">←</button>'
            f'<input type="range" min="1" max="{count}" value="1" step="1" aria-label="{self._word(words.SLIDER)}">'
            f'<button type="button" class="next" aria-label="{self._word(words.NEXT)}">→</button>'
            f'<output aria-live="polite"></output>'
            f'<label><input type="checkbox" class="all">{self._word(words.ALL)}</label>'
            f'<span class="hint">{self._word(words.HOW)}</span></div>\n'
            f"{steps}\n{self._more_code()}</section>"
        )

    def _sequence(self) -> str:
        recorded = self._recording
        steps = {found.moment.number: place for place, found in enumerate(recorded.steps, 1)}
        known = {number: place for number, place in steps.items() if number is not None}
        title = self._word(words.SEQUENCE)
        drawn = sequence_svg(arrows_of(recorded.moments, known), self._language, title)
        return f'<details open><summary>{title}</summary><div class="map" tabindex="0">{drawn}</div></details>\n'

    def _step(self, place: int) -> str:
        position = LessonPosition(self._recording, place)
        found = self._recording.steps[place - 1]
        where = self._word(messages.STEP_OF).format(number=place, count=len(self.lesson.steps))
        panel = panel_of(position.shown)
        drawn = scrollable(
            self._word(words.PANEL),
            content_html(Content("\n").join(panel_rows(panel, PANEL_COLUMNS, PANEL_ROWS, found.moment.at))),
            kind="panel",
        )
        return (
            f'<section class="step" id="step-{place}" aria-labelledby="title-{place}">\n'
            f'<h3 id="title-{place}"><a href="#step-{place}">{escape(where)}</a></h3>\n'
            f'<p class="say">{sentence_html(found.step.said(found.moment.fact, self._language))}</p>\n'
            f'<div class="sides"><div>{self._code(found)}</div>\n'
            f"<div><h4>{self._word(words.PANEL)}</h4>{drawn}</div></div>\n"
            f"{self._events(position)}{self._wire(position)}</section>"
        )

    def _code(self, found: LocatedStep) -> str:
        code = source(places(self.lesson, found.step)[0])
        listing = self._listing(code, marked_lines(code, found))
        return f"<h4>{self._word(words.CODE)} · {escape(code.place)}</h4>{listing}"

    def _listing(self, code: CodeExcerpt, marked: Sequence[int] = ()) -> str:
        language = PurePosixPath(code.path).suffix.removeprefix(".")
        inner = code_html(code.text, language, first_line=code.first_line, marked=marked)
        return scrollable(code.place, inner, kind="listing")

    def _events(self, position: LessonPosition) -> str:
        written = io.StringIO()
        Narration(self.lesson, self._language, written).moments(position.present, before=position.past)
        title = self._word(words.EVENTS)
        inner = scrollable(title, escape(written.getvalue().rstrip("\n")), kind="events")
        return f"<details><summary>{title}</summary>{inner}</details>\n"

    def _more_code(self) -> str:
        shown = [
            f"<details><summary>{escape(place)}</summary>{self._listing(source(place))}</details>"
            for place in places(self.lesson, None)
        ]
        if (earlier := before(self.lesson)) is not None:
            title = self._word(words.DIFFERENCE).format(id=earlier.id)
            changed = self._listing(source(self.lesson.agent, imports=True), new_lines(self.lesson))
            shown.insert(1, f"<details><summary>{escape(title)}</summary>{changed}</details>")
        return f'<div class="more"><h3>{self._word(words.MORE_CODE)}</h3>{"".join(shown)}</div>'

    # ── the wire ──────────────────────────────────────────────────────────────────────────────────

    def _wire(self, position: LessonPosition) -> str:
        exchanges = [moment.fact for moment in position.present if isinstance(moment.fact, WireExchange)]
        earlier = [moment.fact for moment in position.past if isinstance(moment.fact, WireExchange)]
        if not exchanges:
            return f'<p class="note">{self._word(words.NOTHING_SENT)}{self._last(earlier)}</p>\n'
        shown: list[str] = []
        for one in exchanges:
            shown.append(self._exchange(one, request_changes(one, earlier)))
            earlier.append(one)
        return f"<h4>{self._word(words.WIRE)}</h4>{''.join(shown)}\n"

    def _last(self, earlier: Sequence[WireExchange]) -> str:
        if not earlier:
            return ""
        number = earlier[-1].number
        return f' <a href="#request-{number}">{self._word(words.LAST).format(number=number)}</a>'

    def _exchange(self, one: WireExchange, changes: RequestChanges) -> str:
        sent = self._word(messages.SENT).format(number=one.number)
        answered = response_heading(one, self._language)
        arrived = "\n".join(line.text for line in response_lines(one, self._language, MOST_TEXT))
        reply = scrollable(answered, escape(arrived), kind="wire")
        return (
            f'<div class="exchange" id="request-{one.number}"><h5>{escape(sent)}</h5>{self._sent(changes)}'
            f"<h5>{escape(answered)}</h5>{reply}</div>"
        )

    def _sent(self, changes: RequestChanges) -> str:
        note = self._word(words.FIRST)
        if changes.before is not None:
            kept = [self._word(words.MESSAGES).format(count=changes.kept)] if changes.kept else []
            same = ", ".join([*changes.same, *kept]) or self._word(words.NOTHING)
            note = self._word(words.AS_IN).format(number=changes.before.number, same=same)
        if changes.gone:
            note += " " + self._word(words.GONE).format(count=changes.gone)
        if not changes.new:
            note += " " + self._word(words.NOTHING_NEW)
        fields = {name: changes.new[name] for name in FIRST if name in changes.new} | dict(changes.new)
        offered = fields.pop("tools", None)
        new = scrollable(self._word(words.NEW), _json(_as_json(fields, MOST_TEXT)), kind="wire new") if fields else ""
        return f'<p class="note">{escape(note)}</p>{new}{self._tools(offered)}'

    def _tools(self, offered: object) -> str:
        if not isinstance(offered, list | tuple) or not offered:
            return ""
        names = ", ".join(str(tool.get("name", "")) for tool in offered if isinstance(tool, Mapping))
        title = self._word(words.TOOLS).format(count=len(offered), names=names)
        inner = scrollable(title, escape(_as_json(offered, MOST_DESCRIPTION)), kind="wire new")
        return f"<details><summary>{escape(title)}</summary>{inner}</details>"


def chapter_title(lesson: Lesson, language: Language) -> str:
    """Number and name of a chapter."""
    return f"{lesson.id} · {lesson.title.into(language)}"


def marked_lines(code: CodeExcerpt, found: LocatedStep) -> tuple[int, ...]:
    """The lines to highlight: the one that decides; else those that name the event of a step or a required value; else
    the definition."""
    if code.deciding:
        return (code.deciding,)
    names = [value for value in found.step.where.values() if isinstance(value, str) and value.isidentifier()]
    word = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join([found.step.on, *names])})(?![A-Za-z0-9])", re.IGNORECASE)
    lines = list(enumerate(code.text.splitlines(), code.first_line))
    if named := tuple(number for number, line in lines if word.search(line)):
        return named
    defined = (number for number, line in lines if ":" in code.place and line and not line.startswith("@"))
    return tuple(number for number in defined)[:1]


def _as_json(value: object, most: int) -> str:
    return json.dumps(cut_texts(value, most), indent=2, ensure_ascii=False)


def _json(text: str) -> str:
    return code_html(text, "json")
