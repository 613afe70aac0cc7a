"""What a chapter has to say at each place, in lines."""

import io
from collections.abc import Iterable, Sequence
from typing import TextIO

from harness.base.errors import HarnessError
from harness.events import Event
from harness.lessons import (
    Exchanged,
    Language,
    Lesson,
    LessonError,
    Moment,
    Section,
    Text,
    difference,
    readme,
    source,
)
from harness.ui.lessons import texts
from harness.ui.lessons.code_excerpt import numbered, places
from harness.ui.lessons.run_facts import MOST_CHARACTERS, came_text, exchanged_line, panel_line, panel_of, sent_text
from harness.ui.lessons.walk import Walk
from harness.ui.lines.line import Line, Tone
from harness.ui.plain.plain import Plain
from harness.ui.plain.recorded_lines import RecordedLines

READ_FIRST = 2
"""Parts of the text that a learner reads before the first beat: the problem and the idea."""
READ_BEFORE_THE_END = 3
"""Parts that come before the last beat; the third, how it works, is what the beats show."""


class Telling:
    """Tells one chapter to one output, in the language that is set."""

    def __init__(self, lesson: Lesson, language: Language, out: TextIO, *, colours: bool = False) -> None:
        self.lesson = lesson
        self.language = language
        self.lines = Plain(out, colours=colours)
        """Where what happens now is written."""
        self._out = out
        self._colours = colours
        self._code_shown = (-1, 0)
        """The place at which code was shown last, and how many pieces of it."""

    # ── places ──────────────────────────────────────────────────────────────────────────────────

    def opening(self) -> None:
        """Title, idea, and what to read before the first beat."""
        self.title()
        self.text(slice(READ_FIRST))

    def title(self) -> None:
        """Title and idea."""
        self.lines.say(f"{self.lesson.id} · {self.lesson.title.into(self.language)}")
        self.lines.say(self.lesson.idea.into(self.language))

    def beat(self, walk: Walk) -> None:
        """A beat: what happened up to it, the panel, where the code is, and what it all means."""
        found = walk.take.beats[walk.place - 1]
        self.heading(texts.BEAT_OF.into(self.language).format(number=walk.place, count=len(self.lesson.beats)))
        self.moments(walk.present, before=walk.past)
        self.lines.line(panel_line(panel_of(walk.shown)))
        if found.beat.code:
            code = source(found.beat.code)
            where = texts.CODE_AT.into(self.language).format(place=code.place, line=code.first_line)
            self.lines.line(Line("≡", where))
        self.lines.say(f"\n▸ {found.beat.said(found.moment.fact, self.language)}\n")

    def end(self, walk: Walk) -> None:
        """The end: what happened after the last beat, and what to read then."""
        self.heading(texts.END.into(self.language))
        self.moments(walk.present, before=walk.past)
        self.text(slice(READ_BEFORE_THE_END, None))
        self.say(texts.LIVE)

    def moments(self, moments: Iterable[Moment], *, before: Iterable[Moment]) -> None:
        """What happened, in lines; what was before tells who a line is about."""
        written = io.StringIO()
        lines = RecordedLines(written, colours=self._colours)
        for moment in before:
            tell(lines, moment)
        lines.end_line()
        written.seek(0)
        written.truncate()
        for moment in moments:
            tell(lines, moment)
        lines.end_line()
        self.lines.end_line()
        if not self.lines.gone:
            self._out.write(written.getvalue())
            self._out.flush()

    # ── on request ──────────────────────────────────────────────────────────────────────────────

    def code(self, walk: Walk) -> None:
        """The next piece of code at this place; after the last one the first again. Raises LessonError."""
        beat = self.lesson.beats[walk.place - 1] if walk.on_beat else None
        known = places(self.lesson, beat)
        place, shown = self._code_shown
        number = shown % len(known) if place == walk.place else 0
        self._code_shown = walk.place, number + 1
        code = source(known[number])
        self.heading(f"{code.place} ({number + 1}/{len(known)})")
        self.lines.say(numbered(code))

    def difference(self) -> None:
        """What the demo has that the one before has not. Raises LessonError."""
        self.lines.say(difference(self.lesson))

    def wire(self, walk: Walk) -> None:
        """Requests and replies of this place."""
        exchanges = walk.exchanges()
        if not exchanges:
            self.say(texts.NO_WIRE)
        for one in exchanges:
            self.heading(texts.SENT.into(self.language).format(number=one.number))
            self.lines.say(sent_text(one, MOST_CHARACTERS))
            self.heading(texts.CAME.into(self.language).format(number=one.number))
            self.lines.say(came_text(one, MOST_CHARACTERS))

    def text(self, part: slice = slice(None)) -> None:
        """Some parts of the chapter's text, or that they cannot be read."""
        try:
            self.sections(readme(self.lesson, self.language)[part])
        except LessonError as error:
            self.complain(error)

    def keys(self) -> None:
        """What can be typed."""
        for key, text in texts.KEYS.items():
            self.lines.say(f"  {key:<12} {text.into(self.language)}")

    # ── words ───────────────────────────────────────────────────────────────────────────────────

    def say(self, text: Text, **values: object) -> None:
        """A line in the learner's language."""
        self.lines.line(Line("·", text.into(self.language).format(**values)))

    def complain(self, error: HarnessError) -> None:
        """Tell of an error in a line."""
        self.lines.line(Line("!", str(error), Tone.BAD))

    def heading(self, text: str) -> None:
        """What the following is."""
        self.lines.say(f"\n── {text} ──")

    def sections(self, sections: Sequence[Section]) -> None:
        """Parts of a text."""
        for section in sections:
            self.heading(section.title)
            self.lines.say(section.text)


def tell(lines: Plain, moment: Moment) -> None:
    """Print what a moment has to say."""
    match moment.fact:
        case Exchanged() as exchange:
            lines.line(exchanged_line(exchange))
        case Event() as event:
            lines.show(event)
