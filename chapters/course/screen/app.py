"""The app of the course."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.events import Key, Resize
from textual.geometry import Size

from chapters.course import Language, Lesson, LocalizedText, Progress, lessons
from chapters.course.plain import messages
from chapters.course.plain.commands import COMMANDS
from chapters.course.plain.progress import chapter_progress, copied, next_chapter, starting_step
from chapters.course.screen.keys import key_table
from chapters.course.screen.layout import HEIGHTS, LAYOUT_CSS, CodeView, LessonFocus, LessonPanes, Part
from chapters.course.screen.panes import SentenceView
from chapters.course.screen.renderer import LessonRenderer
from chapters.course.screen.run import LessonRun
from harness.base.errors import HarnessError
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.keys import KeysScreen
from harness.ui.app.list_picker import Picker
from harness.ui.app.panel_view import FullPanel
from harness.ui.app.prompt import PromptArea
from harness.ui.app.prompt_history import PromptHistory
from harness.ui.app.prompt_text import PromptText
from harness.ui.app.question_app import QuestionApp
from harness.ui.app.status_line import StatusLine
from harness.ui.app.views import Views
from harness.ui.lines.line import Line
from harness.ui.panel.state import Panel
from harness.ui.transcript.entries import NoteEntry

COMPLETIONS = tuple(Candidate(name, insert=f"{name} ") for name in COMMANDS)
"""Completions in the prompt."""
WHILE_TYPING = frozenset({"leave", "escape", "suspend_process", "repaint"})
"""Actions that stay available during a prompt, question or list."""


class LessonApp(QuestionApp):
    """One chapter: sentence, text, code, conversation and panel. Returns an exit code."""

    CSS = QuestionApp.CSS + LAYOUT_CSS
    VERTICAL_BREAKPOINTS = HEIGHTS
    TITLE = "harness learn"
    AUTO_FOCUS = None
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n,enter,right", "next", "next", show=False),
        Binding("b", "go_back", "back", show=False),
        Binding("r", "restart", "restart", show=False),
        Binding("g", "choose", "another chapter", show=False),
        Binding("c", "code", "code", show=False),
        Binding("d", "turn_to('difference')", "difference", show=False),
        Binding("w", "turn_to('wire')", "wire", show=False),
        Binding("t", "read", "text", show=False),
        Binding("tab", "look(1)", "switch pane", show=False, priority=True),
        Binding("shift+tab", "look(-1)", "switch pane", show=False, priority=True),
        Binding("up", "line(-1)", "scroll up", show=False),
        Binding("down", "line(1)", "scroll down", show=False),
        Binding("home", "edge(-1)", "start", show=False),
        Binding("end", "edge(1)", "end", show=False),
        # With priority, because the following keys belong to the prompt.
        Binding("p,i", "prompt", "prompt", show=False, priority=True),
        Binding("f", "prompt('/fault ')", "break", show=False, priority=True),
        Binding("e", "exercise", "exercise", show=False),
        Binding("l", "language", "language", show=False),
        Binding("question_mark,f1", "keys", "keys", show=False),
        Binding("f3", "full", "full panel", show=False),
        Binding("q", "quit_untyped", "quit", show=False),
        Binding("escape", "escape", "back to the conversation", show=False),
        Binding("ctrl+c,ctrl+d,ctrl+q", "leave", "quit", show=False, priority=True),
    ]

    def __init__(
        self, lesson: Lesson | None, language: Language, progress: Progress, folder: Path, *, questions: bool = True
    ) -> None:
        """`lesson` None: choose one first. Exercises are copied to `folder`. `questions`: ask before some steps."""
        super().__init__()
        self.progress = progress
        self.opened: LessonRun | None = None
        """The open chapter."""
        self.prompt = PromptArea(PromptHistory(None), Completer(lambda: COMPLETIONS, tuple))
        self.prompt.display = False
        self._first = lesson
        self._language: Language = language
        self._folder = folder
        self._questions = questions
        self._look = LessonFocus()
        self._place = 0
        self._room = Size(80, 24)
        """Columns and rows."""

    # ── layout ──────────────────────────────────────────────────────────────────────────────────

    def compose(self) -> ComposeResult:
        saying, parts, status = SentenceView(), LessonPanes(), StatusLine()
        self.parts = parts
        self._showing = LessonRenderer(saying, parts, status)
        self._showing.language = self._language
        yield saying
        yield parts
        yield self.prompt
        yield status

    def on_mount(self) -> None:
        if self._first is None:
            self.action_choose()
        else:
            self.call_after_refresh(self.open, self._first)

    def on_resize(self, event: Resize) -> None:
        self._room = event.size
        self.changed()
        if self.opened is not None:
            self.opened.views.changed()

    # ── a chapter ───────────────────────────────────────────────────────────────────────────────

    async def open(self, lesson: Lesson, *, restart: bool = False) -> None:
        """Start a chapter, where the learner left it or at its beginning."""
        await self.aclose()
        self._look, self._place = LessonFocus(), 0
        self.opened = LessonRun(
            lesson, ScreenAsker(self.ask), self._fresh_views, self.changed, questions=self._questions
        )
        self.opened.views.enter()
        place = 0 if restart else starting_step(lesson, self.progress)
        if lesson.connection is not None:
            self.warn(messages.REAL)
            self.opened.go(self.opened.position.last)
        elif restart:
            self.warn(messages.FRESH)
        elif place:
            self.warn(messages.GOING_ON, number=place)
            self.opened.go(place)
        self.changed()

    async def aclose(self) -> None:
        """End the run."""
        run, self.opened = self.opened, None
        if run is not None:
            await run.aclose()

    def _fresh_views(self, clock: Callable[[], float], moves: Callable[[], bool]) -> Views:
        return Views(self, self.split_view, lambda panel: (), self._redrawn, clock=clock, moves=moves)

    def _redrawn(self, panel: Panel) -> None:
        self.redraw_full_panel()

    def changed(self) -> None:
        """Draw changes of the run."""
        run = self.opened
        if run is None or not self.is_running or not self.split_view.is_ready:
            return
        if run.place != self._place:
            self._place = run.place
            self._look.arrive(at_beginning=run.place == 0)
            try:
                run.predictions.arrive(run.place, self.progress)
            except HarnessError as error:
                self.warn(str(error))
            if run.position.on_step and run.lesson.solution is None:
                self.progress.reach(run.lesson.id, run.place, of=len(run.lesson.steps))
        self._showing.show(run, self._look, self._room, typing=self.prompt.display)

    def warn(self, text: LocalizedText | str, **values: object) -> None:
        """Show a message in the status line until the next key."""
        words = text if isinstance(text, str) else text.into(self._showing.language).format(**values)
        self._showing.warning = words
        self.changed()

    # ── questions and prompt ──────────────────────────────────────────────────

    @property
    def typing(self) -> bool:
        """Whether letters belong to a prompt, question or list."""
        return self.prompt.display or self.answering or len(self.screen_stack) > 1

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return action in WHILE_TYPING or not self.typing

    @property
    def widget_above_question(self) -> LessonPanes:
        return self.parts

    def on_prompt_area_submitted(self, message: PromptArea.Submitted) -> None:
        """Run a typed line. The prompt stays open until Esc."""
        self.prompt.clear()
        run = self.opened
        if run is None:
            return
        word = message.text.strip().partition(" ")[0]
        if word in COMMANDS:
            run.command(message.text)
        elif word.startswith("/"):
            self.warn(messages.NOT_UNDERSTOOD, typed=word, commands=" ".join(COMMANDS))
        else:
            run.type(message.text)

    def on_prompt_area_refused(self, message: PromptArea.Refused) -> None:
        self.warn(message.text)

    def _close_prompt(self) -> None:
        self.prompt.clear()
        self.prompt.display = False
        self.set_focus(None)

    # ── keys: the chapter ───────────────────────────────────────────────────────────────────────

    def action_next(self) -> None:
        run = self.opened
        if run is None or run.waiting:
            return
        if run.predictions.asks(run.place + 1):
            self._look.reading = False
            self.warn("")
        else:
            run.predictions.close()
            there_is = run.go(run.place + 1)
            self._look.reading = self._look.reading and not run.waiting  # show what is running
            self.warn("" if there_is else messages.NOTHING_AFTER_ON_SCREEN)

    def on_key(self, event: Key) -> None:
        """A digit answers an open question."""
        run = self.opened
        if run is None or self.typing or not event.key.isdecimal() or not run.predictions.answer(int(event.key)):
            return
        event.stop()
        self.action_next()

    def action_go_back(self) -> None:
        run = self.opened
        if run is not None and run.predictions.asked is not None:
            run.predictions.close()
            self.warn("")
        elif run is not None:
            place = run.place if run.waiting else run.place - 1
            self.warn("" if run.go(place) else messages.NOTHING_BEFORE)

    def action_restart(self) -> None:
        if self.opened is not None:
            self.call_later(self.open, self.opened.lesson, restart=True)

    def action_choose(self) -> None:
        language = self._showing.language
        found = chapter_progress(lessons(), self.progress)
        wide = max((cell_len(one.label(language)) for one in found), default=0)
        lines = [
            f"{one.lesson.id}  {set_cell_size(one.label(language), wide)}  {one.lesson.title.into(language)}"
            for one in found
        ]
        following = next_chapter(found)
        chosen = found.index(following) if following is not None else 0
        picker = Picker(messages.CHOOSE.into(language), lines, chosen=chosen)

        def open_chosen(number: int | None) -> None:
            if number is not None:
                self.call_later(self.open, found[number].lesson)
            elif self.opened is None:
                self.exit(0)

        self.push_screen(picker, open_chosen)

    def action_exercise(self) -> None:
        if (run := self.opened) is None:
            return
        try:
            lines = copied(run.lesson, "", self._folder, self._showing.language)
        except HarnessError as error:
            lines = (str(error),)
        self._look.back()
        self.warn("")
        for text in lines:
            run.views.show(NoteEntry(Line("·", text)))

    def action_language(self) -> None:
        language: Language = "en" if self._showing.language == "ja" else "ja"
        self._showing.language = language
        self.progress.set_language(language)
        self.warn(messages.LANGUAGE)

    # ── keys: views ────────────────────────────────────────────────────────────────────────

    def action_code(self) -> None:
        self._look.code()
        self.warn("")

    def action_turn_to(self, kind: str) -> None:
        self._look.turn_to(CodeView(kind))
        self.warn("")

    def action_read(self) -> None:
        self._look.read()
        self.warn("")

    def action_look(self, by: int) -> None:
        self._look.cycle(by)
        self.warn("")

    def action_line(self, by: int) -> None:
        self._scrolled.scroll_relative(y=by, animate=False)

    def action_scroll(self, direction: int) -> None:
        scrolled = self._scrolled
        (scrolled.scroll_page_down if direction > 0 else scrolled.scroll_page_up)(animate=False)

    def action_edge(self, direction: int) -> None:
        scrolled = self._scrolled
        (scrolled.scroll_end if direction > 0 else scrolled.scroll_home)(animate=False)

    @property
    def _scrolled(self) -> ScrollableContainer:
        match self._look.scrolled:
            case Part.TEXT:
                return self.parts.text.body
            case Part.CODE:
                return self.parts.code.body
            case Part.TALK:
                return self.split_view.chat

    def action_prompt(self, text: str = "") -> None:
        if self.opened is not None:
            self.prompt.display = True
            self.prompt.load(text)
            self.set_focus(self.prompt.query_one(PromptText))  # at once, before the next key
            self.warn("")

    def action_keys(self) -> None:
        self.push_screen(KeysScreen(key_table(self._showing.language)))

    def action_full(self) -> None:
        if (run := self.opened) is not None:
            self.push_screen(FullPanel(lambda: run.views))

    def action_escape(self) -> None:
        if self.prompt.display:
            self._close_prompt()
        else:
            self._look.back()
        self.warn("")

    def action_quit_untyped(self) -> None:
        self.exit(0)

    def action_leave(self) -> None:
        self.exit(0)


async def _to_its_end(app: LessonApp) -> int:
    try:
        return await app.run_to_end()
    finally:
        await app.aclose()


def learn_on_screen(
    lesson: Lesson | None, language: Language, progress: Progress, folder: Path, *, questions: bool = True
) -> int:
    """Show a chapter, or a list to choose from; returns the exit code. Raises HarnessError."""
    return asyncio.run(_to_its_end(LessonApp(lesson, language, progress, folder, questions=questions)))
