"""Draws a run on the widgets of the course."""

from textual.geometry import Size

from chapters.course import Language, LessonStep, LocalizedText, ReadmeSection, source
from chapters.course.plain import messages
from chapters.course.plain.narration import READ_BEFORE_THE_END, READ_FIRST, deciding_line, denials, places, title_of
from chapters.course.screen.keys import keys_now, keys_typing
from chapters.course.screen.layout import CODE_COLUMNS, WIDE, CodeView, LessonFocus, LessonPanes, Part, in_sight
from chapters.course.screen.panes import (
    LessonPage,
    SentenceView,
    code_page,
    difference_page,
    sections_page,
    text_page,
    wire_page,
)
from chapters.course.screen.run import LessonRun
from harness.base.errors import HarnessError
from harness.ui.app.status_line import Status, StatusLine


class LessonRenderer:
    """Updates changed widgets and keeps the scroll positions of the others."""

    def __init__(self, saying: SentenceView, parts: LessonPanes, status: StatusLine) -> None:
        self._saying = saying
        self._parts = parts
        self._status = status
        self._text_shown: tuple[object, ...] = ()
        self._sought: tuple[object, ...] = ()
        self._code_shown: tuple[object, ...] = ()
        self.language: Language = "en"
        self.warning = ""
        """Shown in the status line until the next key."""

    def show(self, run: LessonRun, look: LessonFocus, size: Size, *, typing: bool) -> None:
        """Update all widgets; `typing`: a prompt is being typed."""
        title = f"{title_of(run.lesson, self.language)} · {self._where(run)}"
        trouble = "\n".join(part for part in (self._denied(run), run.trouble) if part)
        self._saying.show(title, self._sentence(run), trouble)
        parts = in_sight(size.width, size.height, look.active, reading=look.reading)
        beside = Part.TALK in parts and size.width < 2 * CODE_COLUMNS
        self._parts.show(parts, reading=look.reading, code_first=beside and look.scrolled is Part.CODE)
        if Part.TEXT in parts:
            self._show_text(run, look)
        if Part.CODE in parts:
            self._show_code(run, look)
        talk = self._word(messages.CONVERSATION)
        self._parts.talk_heading.show(talk, active=look.scrolled is Part.TALK)
        crowded = len(parts) < len(Part)
        self.show_status(run, look, crowded=crowded, narrow=size.width < WIDE, typing=typing)

    def show_status(self, run: LessonRun, look: LessonFocus, *, crowded: bool, narrow: bool, typing: bool) -> None:
        """Update the status line; `narrow`: leave the room to the keys, the title is above."""
        title = run.lesson.id if narrow else f"{run.lesson.id} {run.lesson.title.into(self.language)}"
        busy = (self._word(messages.WORKS),) if run.busy else ()
        facts = (" · ".join((title, *busy)),) if narrow else (title, self._where(run), *busy)
        walking = keys_now(self.language, at_end=run.position.at_end, crowded=crowded or look.reading)
        keys = keys_typing(self.language) if typing else walking
        self._status.show(Status(facts, self.warning, keys, keys_first=narrow))

    # ── the sentence ────────────────────────────────────────────────────────────────────────────

    def _where(self, run: LessonRun) -> str:
        place = run.wanted if run.waiting else run.place
        if place == 0:
            return self._word(messages.BEGINNING)
        if place == run.position.last:
            return self._word(messages.END)
        return self._word(messages.STEP_OF).format(number=place, count=len(run.lesson.steps))

    def _sentence(self, run: LessonRun) -> str:
        if asking := run.predictions.asking(self.language):
            return asking
        if run.waiting:
            return self._word(messages.RUNS)
        if run.position.on_step:
            found = run.position.recording.steps[run.place - 1]
            outcome = run.predictions.outcome(run.place, self.language)
            said = found.step.said(found.moment.fact, self.language)
            return f"{outcome}\n{said}" if outcome else said
        if run.position.at_end:
            return "\n".join(filter(None, (run.predictions.score(self.language), self._word(messages.LIVE_ON_SCREEN))))
        return run.lesson.idea.into(self.language)

    def _denied(self, run: LessonRun) -> str:
        if run.waiting or not run.position.on_step:
            return ""
        return "\n".join(denials(run.position.recording.steps[run.place - 1], self.language))

    # ── the pages ───────────────────────────────────────────────────────────────────────────────

    def _show_text(self, run: LessonRun, look: LessonFocus) -> None:
        wanted = (run.lesson.id, self._parts_to_read(run, look), self.language)
        if self._text_shown != wanted:
            self._text_shown = wanted
            self._parts.text.show(text_page(run.lesson, self.language, slice(*self._parts_to_read(run, look))))
            self._sought = ()
        if run.position.on_step and self._sought != (sought := (*wanted, run.place)):
            self._sought = sought
            self._seek(run.lesson.steps[run.place - 1])
        self._parts.text.mark(self._word(messages.TEXT), active=look.scrolled is Part.TEXT)

    def _seek(self, step: LessonStep) -> None:
        code = source(step.code)
        first = next((line for line in code.text.splitlines() if not line.lstrip().startswith("@")), "")
        self._parts.text.seek(*([deciding_line(code)] if code.deciding else []), first)

    def _parts_to_read(self, run: LessonRun, look: LessonFocus) -> tuple[int | None, int | None]:
        if run.place == 0:
            return (0, READ_FIRST)
        if look.reading:
            return (0, None)
        return (READ_BEFORE_THE_END, None) if run.position.at_end else (READ_FIRST, READ_BEFORE_THE_END)

    def _show_code(self, run: LessonRun, look: LessonFocus) -> None:
        exchanges = run.position.exchanges() if look.kind is CodeView.WIRE else ()
        wanted = (run.lesson.id, run.place, look.kind, look.piece, self.language, len(exchanges))
        if self._code_shown != wanted:
            self._code_shown = wanted
            self._parts.code.show(self._code_page(run, look))
        self._parts.code.mark("", active=look.scrolled is Part.CODE)

    def _code_page(self, run: LessonRun, look: LessonFocus) -> LessonPage:
        try:
            match look.kind:
                case CodeView.WIRE:
                    return wire_page(run.position.compared(), self.language)
                case CodeView.DIFFERENCE:
                    return difference_page(run.lesson)
                case CodeView.CODE:
                    step = run.lesson.steps[run.place - 1] if run.position.on_step else None
                    known = places(run.lesson, step)
                    number = look.piece % len(known)
                    return code_page(source(known[number]), number + 1, len(known))
        except HarnessError as error:
            return sections_page((ReadmeSection("", str(error)),))

    def _word(self, text: LocalizedText) -> str:
        return text.into(self.language)
