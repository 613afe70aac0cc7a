"""A chapter as lines of text."""

import io
from collections.abc import Iterable, Sequence
from typing import TextIO

from chapters.course import (
    CodeExcerpt,
    Language,
    Lesson,
    LessonError,
    LessonStep,
    LocalizedText,
    LocatedStep,
    Moment,
    ReadmeSection,
    WireExchange,
    difference,
    readme,
    source,
)
from chapters.course.plain import messages
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.wire_text import exchange_lines
from chapters.course.sources import parts_of
from harness.base.errors import HarnessError
from harness.base.external_text import counted, visible
from harness.events import BreakerState, Event
from harness.policies.breakers.failure_budget import budget_used
from harness.ui.lines.line import Line, Tone, dollars, priced
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel
from harness.ui.plain.printer import LinePrinter, RecordedPrinter

READ_FIRST = 2
"""Sections to read before the first step: the problem and the idea."""
READ_BEFORE_THE_END = 3
"""Sections before the end; the third, how it works, accompanies the steps."""


class Narration:
    """Writes one chapter to one output."""

    def __init__(self, lesson: Lesson, language: Language, out: TextIO, *, colours: bool = False) -> None:
        self.lesson = lesson
        self.language = language
        self.lines = LinePrinter(out, colours=colours)
        """Writer of live events."""
        self._out = out
        self._colours = colours
        self._code_shown = (-1, 0)
        """The place of the code shown last, and the number of pieces shown."""

    # ── places ──────────────────────────────────────────────────────────────────────────────────

    def opening(self) -> None:
        """Title, idea, and the first sections."""
        self.title()
        self.text(slice(READ_FIRST))

    def title(self) -> None:
        """Title and idea."""
        self.lines.say(title_of(self.lesson, self.language))
        self.lines.say(self.lesson.idea.into(self.language))

    def step(self, position: LessonPosition) -> None:
        """Events of a step, the panel, the place of the code, and the sentence."""
        found = position.recording.steps[position.place - 1]
        self.heading(messages.STEP_OF.into(self.language).format(number=position.place, count=len(self.lesson.steps)))
        self.moments(position.present, before=position.past)
        self.lines.line(panel_line(panel_of(position.shown)))
        code = source(found.step.code)
        where = messages.CODE_AT.into(self.language).format(place=code.place, line=code.deciding or code.first_line)
        self.lines.line(Line("≡", where))
        if code.deciding:
            self.lines.say(f"  {deciding_line(code)}")
        self.lines.say(f"\n▸ {found.step.said(found.moment.fact, self.language)}\n")
        for denial in denials(found, self.language):
            self.lines.line(Line("✗", denial, Tone.BAD))

    def end(self, position: LessonPosition) -> None:
        """Events after the last step, and the last sections."""
        self.heading(messages.END.into(self.language))
        self.moments(position.present, before=position.past)
        self.text(slice(READ_BEFORE_THE_END, None))
        self.say(messages.LIVE)

    def moments(self, moments: Iterable[Moment], *, before: Iterable[Moment]) -> None:
        """Events as lines. Earlier events provide the context."""
        written = io.StringIO()
        lines = RecordedPrinter(written, colours=self._colours)
        for moment in before:
            write_moment(lines, moment)
        lines.end_line()
        written.seek(0)
        written.truncate()
        for moment in moments:
            write_moment(lines, moment)
        lines.end_line()
        self.lines.end_line()
        if not self.lines.gone:
            self._out.write(written.getvalue())
            self._out.flush()

    # ── on request ──────────────────────────────────────────────────────────────────────────────

    def code(self, position: LessonPosition) -> None:
        """The next piece of code at this place, in a cycle. Raises LessonError."""
        step = self.lesson.steps[position.place - 1] if position.on_step else None
        known = places(self.lesson, step)
        place, shown = self._code_shown
        number = shown % len(known) if place == position.place else 0
        self._code_shown = position.place, number + 1
        code = source(known[number])
        self.heading(f"{code.place} ({number + 1}/{len(known)})")
        self.lines.say(numbered(code))

    def difference(self) -> None:
        """What is new in my_agent.py. Raises LessonError."""
        self.lines.say(difference(self.lesson))

    def wire(self, position: LessonPosition) -> None:
        """Requests and replies of this place."""
        exchanges = position.compared()
        if not exchanges:
            self.say(messages.NO_WIRE)
        for one, before in exchanges:
            for line in exchange_lines(one, before, self.language, MOST_CHARACTERS):
                if line.kind == "heading":
                    self.heading(line.text)
                else:
                    self.lines.say(f"{'+' if line.new else ' '} {line.text}")

    def text(self, part: slice = slice(None)) -> None:
        """Some sections of the README, or an error."""
        try:
            self.sections(readme(self.lesson, self.language)[part])
        except LessonError as error:
            self.error(error)

    def keys(self) -> None:
        """The keys."""
        for key, text in messages.KEYS.items():
            self.lines.say(f"  {key:<12} {text.into(self.language)}")

    # ── output ───────────────────────────────────────────────────────────────────────────────────

    def say(self, text: LocalizedText, **values: object) -> None:
        """A message."""
        self.lines.line(Line("·", text.into(self.language).format(**values)))

    def error(self, error: HarnessError) -> None:
        """An error."""
        self.lines.line(Line("!", str(error), Tone.BAD))

    def heading(self, text: str) -> None:
        """A heading."""
        self.lines.say(f"\n── {text} ──")

    def sections(self, sections: Sequence[ReadmeSection]) -> None:
        """Sections of a text."""
        for section in sections:
            self.heading(section.title)
            self.lines.say(section.text)


def title_of(lesson: Lesson, language: Language) -> str:
    """Id and title, and the file of the learner if that runs."""
    own = [] if lesson.solution is None else [messages.WITH.into(language).format(file=visible(lesson.solution.name))]
    return " · ".join((lesson.id, lesson.title.into(language), *own))


def denials(found: LocatedStep, language: Language) -> tuple[str, ...]:
    """What makes the sentence of a step false in this run."""
    return tuple(messages.NOT_SO.into(language).format(condition=one) for one in found.failed)


def write_moment(lines: LinePrinter, moment: Moment) -> None:
    """Write a moment as a line."""
    match moment.fact:
        case WireExchange() as exchange:
            lines.line(exchanged_line(exchange))
        case Event() as event:
            lines.show(event)


SAID = 60
"""Characters of a reply to quote in a line."""
MOST_CHARACTERS = 600
"""Longest text within a shown request."""


def exchanged_line(one: WireExchange) -> Line:
    """A request and its reply."""
    sent = f"{counted(one.messages, 'message')}, {counted(one.tools, 'tool')}, at most {one.max_tokens:,} tokens"
    said = " ".join(one.text.split())
    quoted = f'"{said[:SAID]}{"…" if len(said) > SAID else ""}"' if said else ""
    script = f"scripted reply {one.scripted}" if one.scripted else ""
    came = ", ".join(part for part in (script, one.answer, one.stop_reason, one.calls, quoted) if part)
    return Line("⇄", f"request {one.number}: {sent} → {came}", Tone.QUIET if one.answer == "200" else Tone.TROUBLE)


def panel_of(moments: Iterable[Moment]) -> Panel:
    """The panel after some moments."""
    fold = PanelFold()
    for moment in moments:
        if isinstance(moment.fact, Event):
            fold.on_event(moment.fact, moment.at)
    return fold.now


def panel_line(panel: Panel) -> Line:
    """The panel in one line."""
    facts = [f"turn {panel.turn}", f"step {panel.step}"] if panel.turn else ["nothing yet"]
    if panel.window:
        facts.append(f"context {panel.context_tokens:,} of {panel.window:,} tokens")
    if panel.spend.requests:
        facts.append(
            f"{counted(panel.spend.requests, 'request')}, {priced(panel.spend.cost_usd, panel.spend.unpriced)}"
        )
    if panel.spend.retry_cost_usd:
        facts.append(f"{dollars(panel.spend.retry_cost_usd)} on retries")
    facts += [f"{row.tool} {row.state.value}" for row in panel.rows if row.state is not BreakerState.CLOSED]
    if panel.consumed:
        facts.append(f"failures {budget_used(panel.consumed, panel.budget)}")
    return Line("▤", f"panel: {' · '.join(facts)}")


def places(lesson: Lesson, step: LessonStep | None) -> tuple[str, ...]:
    """Code to show: of the step, the demo, and what else the lesson names."""
    known: dict[tuple[str, str], str] = {}
    own = () if step is None else (step.code,)
    for place in (*own, lesson.demo, *lesson.code):
        known.setdefault(parts_of(place)[:2], place)
    return tuple(known.values())


def deciding_line(source: CodeExcerpt) -> str:
    """The line that decides, without its indentation."""
    return source.text.splitlines()[source.deciding - source.first_line].strip()


def numbered(source: CodeExcerpt) -> str:
    """Code with line numbers; ▸ marks the line that decides."""
    lines = source.text.splitlines()
    width = len(str(source.first_line + len(lines)))
    return "\n".join(
        f"{number:>{width}} {'▸' if number == source.deciding else ' '}{line}".rstrip()
        for number, line in enumerate(lines, source.first_line)
    )
