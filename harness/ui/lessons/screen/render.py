"""Puts a run, the learner's place in it and what they look at onto the widgets."""

from textual.geometry import Size

from harness.base.errors import HarnessError
from harness.lessons import Beat, Language, Section, Text, source
from harness.ui.app.status import Status, StatusLine
from harness.ui.lessons import texts
from harness.ui.lessons.code_excerpt import places
from harness.ui.lessons.narration import READ_BEFORE_THE_END, READ_FIRST
from harness.ui.lessons.screen.focus import Kind, Look
from harness.ui.lessons.screen.keys import keys_now, keys_typing
from harness.ui.lessons.screen.layout import Parts
from harness.ui.lessons.screen.pages import Page, code_page, difference_page, sections_page, text_page, wire_page
from harness.ui.lessons.screen.panes import Part, in_sight
from harness.ui.lessons.screen.run import Run
from harness.ui.lessons.screen.sentence import Saying


class Showing:
    """Draws what has changed, and leaves the rest as it was scrolled."""

    def __init__(self, saying: Saying, parts: Parts, status: StatusLine) -> None:
        self._saying = saying
        self._parts = parts
        self._status = status
        self._text_shown: tuple[object, ...] = ()
        self._sought: tuple[object, ...] = ()
        self._code_shown: tuple[object, ...] = ()
        self.language: Language = "en"
        self.warning = ""
        """Said in the line at the bottom until the next key."""

    def show(self, run: Run, look: Look, size: Size, *, typing: bool) -> None:
        """Show all of it; `typing`: letters belong to the prompt."""
        title = f"{run.lesson.id} · {run.lesson.title.into(self.language)} · {self._where(run)}"
        self._saying.say(title, self._sentence(run), run.trouble)
        parts = in_sight(size.width, size.height, look.active, reading=look.reading)
        self._parts.show(parts, reading=look.reading)
        if Part.TEXT in parts:
            self._show_text(run, look)
        if Part.CODE in parts:
            self._show_code(run, look)
        talk = self._word(texts.CONVERSATION)
        self._parts.talk_heading.say(talk, active=look.scrolled is Part.TALK)
        self.tell(run, look, crowded=len(parts) < len(Part), typing=typing)

    def tell(self, run: Run, look: Look, *, crowded: bool, typing: bool) -> None:
        """The line at the bottom."""
        facts = (f"{run.lesson.id} {run.lesson.title.into(self.language)}", self._where(run))
        busy = (self._word(texts.WORKS),) if run.busy else ()
        walking = keys_now(self.language, at_end=run.walk.at_end, crowded=crowded or look.reading)
        keys = keys_typing(self.language) if typing else walking
        self._status.tell(Status((*facts, *busy), self.warning, keys))

    # ── the sentence ────────────────────────────────────────────────────────────────────────────

    def _where(self, run: Run) -> str:
        place = run.wanted if run.waiting else run.place
        if place == 0:
            return self._word(texts.BEGINNING)
        if place == run.walk.last:
            return self._word(texts.END)
        return self._word(texts.BEAT_OF).format(number=place, count=len(run.lesson.beats))

    def _sentence(self, run: Run) -> str:
        if run.waiting:
            return self._word(texts.RUNS)
        if run.walk.on_beat:
            found = run.walk.take.beats[run.place - 1]
            return found.beat.said(found.moment.fact, self.language)
        if run.walk.at_end:
            return self._word(texts.LIVE_ON_SCREEN)
        return run.lesson.idea.into(self.language)

    # ── the pages ───────────────────────────────────────────────────────────────────────────────

    def _show_text(self, run: Run, look: Look) -> None:
        wanted = (run.lesson.id, self._parts_to_read(run, look), self.language)
        if self._text_shown != wanted:
            self._text_shown = wanted
            self._parts.text.show(text_page(run.lesson, self.language, slice(*self._parts_to_read(run, look))))
            self._sought = ()
        if run.walk.on_beat and self._sought != (sought := (*wanted, run.place)):
            self._sought = sought
            self._seek(run.lesson.beats[run.place - 1])
        self._parts.text.mark(self._word(texts.TEXT), active=look.scrolled is Part.TEXT)

    def _seek(self, beat: Beat) -> None:
        """Bring the part of the text into sight that shows the code of a beat."""
        code = source(beat.code).text.splitlines() if beat.code else []
        if line := next((line for line in code if not line.lstrip().startswith("@")), ""):
            self._parts.text.seek(line)

    def _parts_to_read(self, run: Run, look: Look) -> tuple[int | None, int | None]:
        """Which parts of the text belong to a place; the whole text where it is asked for."""
        if run.place == 0:
            return (0, READ_FIRST)
        if look.reading:
            return (0, None)
        return (READ_BEFORE_THE_END, None) if run.walk.at_end else (READ_FIRST, READ_BEFORE_THE_END)

    def _show_code(self, run: Run, look: Look) -> None:
        exchanges = run.walk.exchanges() if look.kind is Kind.WIRE else ()
        wanted = (run.lesson.id, run.place, look.kind, look.piece, self.language, len(exchanges))
        if self._code_shown != wanted:
            self._code_shown = wanted
            self._parts.code.show(self._code_page(run, look))
        self._parts.code.mark("", active=look.scrolled is Part.CODE)

    def _code_page(self, run: Run, look: Look) -> Page:
        try:
            match look.kind:
                case Kind.WIRE:
                    return wire_page(run.walk.exchanges(), self.language)
                case Kind.DIFFERENCE:
                    return difference_page(run.lesson)
                case Kind.CODE:
                    beat = run.lesson.beats[run.place - 1] if run.walk.on_beat else None
                    known = places(run.lesson, beat)
                    number = look.piece % len(known)
                    return code_page(source(known[number]), number + 1, len(known))
        except HarnessError as error:
            return sections_page((Section("", str(error)),))

    def _word(self, text: Text) -> str:
        return text.into(self.language)
