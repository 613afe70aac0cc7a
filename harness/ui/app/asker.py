"""Asks the user on the screen on behalf of the agent."""

import os
from collections.abc import Awaitable, Callable, Sequence

from textual.content import Content

from harness.base.errors import HarnessError
from harness.events import (
    LoopAsked,
    LoopChoice,
    PauseReport,
    PermissionAsked,
    ProposedPlan,
    QuestionAsked,
    WaitOffered,
)
from harness.session import LOOP_CHOICES, PermissionAnswer, PermissionRequest, UserAnswer, WaitChoice, loop_question
from harness.ui.app.question import Detail, KeyRules, Question
from harness.ui.choices import Choice
from harness.ui.lines.diff import diff_rows, path_of_diff, with_changed_words
from harness.ui.lines.line import seconds
from harness.ui.permission_choices import (
    asked_by,
    has_detail,
    missing_choices,
    permission_answer,
    permission_choices,
    permission_reasons,
    permission_title,
)
from harness.ui.plain.questions import HOST_KEYS, Away, at_once, edited_plan, free_answer, plan_changes
from harness.ui.transcript.content import detail_content
from harness.ui.transcript.diff import diff_content

WIDEST = 400
"""Characters per line of the detail. A command is shown in full."""
MOST_LINES = 2_000

LOOP_KEYS = {LoopChoice.CONTINUE: "c", LoopChoice.OFF: "o", LoopChoice.ROLL_BACK: "b", LoopChoice.STOP: "s"}

Ask = Callable[[Question], Awaitable[tuple[str, str]]]
"""Shows a question and returns the value and the text of the answer."""


class ScreenAsker:
    """An asker that shows questions above the prompt."""

    present = True

    def __init__(self, ask: Ask, away: Away = at_once) -> None:
        """`away` leaves the terminal to an editor."""
        self._ask = ask
        self._away = away

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Ask for a permission, showing the command or the diff."""
        dangerous = bool(request.dangers)
        question = Question(
            permission_title(asked, request),
            permission_choices(request),
            _detail_of(asked, request),
            reason="\n".join(permission_reasons(asked, request)),
            preselected="no" if dangerous else "once",
            keys=KeyRules(dangerous=dangerous, missing=missing_choices(request)),
        )
        value, text = await self._ask(question)
        return permission_answer(value, text, request)

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask what to do about a long wait."""
        choices = [Choice("w", f"wait {seconds(offered.seconds)}", "wait")]
        if offered.can_switch:
            choices.append(Choice("m", "use the fallback model", "switch"))
        choices.append(Choice("s", "stop", "stop"))
        title = f"The server requests a wait of {seconds(offered.seconds)}: {offered.detail}"
        value, _ = await self._ask(Question(title, choices))
        match value:
            case "wait" | "switch" as choice:
                return choice
            case _:
                return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask what to do about a loop."""
        choices = tuple(Choice(LOOP_KEYS[choice], LOOP_CHOICES[choice], choice) for choice in asked.choices)
        value, _ = await self._ask(Question(loop_question(asked.loop), choices))
        return next((choice for choice in asked.choices if choice == value), LoopChoice.STOP)

    async def question(self, asked: QuestionAsked) -> UserAnswer:
        """Ask a question of the model or of the program; Escape declines."""
        if asked.plan is not None:
            return await self._plan(asked, asked.plan)
        title = f"{asked_by(asked)}{asked.question}"
        preselected, keys = "text" if asked.fan_out else "0" if asked.hosts else "", KeyRules(escape="declined")
        value, text = await self._ask(Question(title, _answers(asked), preselected=preselected, keys=keys))
        match value:
            case "text":
                return free_answer(text)
            case "declined":
                return UserAnswer("declined")
            case number:
                return UserAnswer("option", asked.options[int(number)].label)

    async def _plan(self, asked: QuestionAsked, proposed: ProposedPlan) -> UserAnswer:
        """Ask about a plan, which the conversation shows; Escape stops the turn."""
        plan, detail = proposed, ""
        while True:
            value, text = await self._ask(Question(asked.question, _about_plan(asked), _detail(detail)))
            if value == "edit":
                try:
                    plan = await self._away(edited_plan(plan, os.environ))
                    detail = plan_changes(proposed, plan)
                except HarnessError as error:
                    detail = str(error)
                continue
            edited = None if plan == proposed else plan
            if value == "text":
                return UserAnswer("text", text, edited)
            return UserAnswer("option", asked.options[int(value)].label, edited)

    async def pause(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        """Ask how to continue after a pause. Returns the tool to reset first, "all", or "" for none; None: stop."""
        resets = [Choice("r", f"reset {tool} and continue", tool) for tool in open_tools[:1]]
        numbered = enumerate(open_tools[1:6], start=3)  # continue is 1, the first tool 2
        resets += [Choice(str(number), f"reset {tool} and continue", tool) for number, tool in numbered]
        if len(open_tools) > 1:
            resets.append(Choice("x", "reset all of them and continue", "all"))
        choices = (Choice("c", "continue with a fresh failure budget", "go"), *resets, Choice("s", "stop", "stop"))
        value, _ = await self._ask(Question(f"Paused: {report.reason}", choices))
        return {"go": "", "stop": None}.get(value, value)


def _answers(asked: QuestionAsked) -> tuple[Choice, ...]:
    if asked.fan_out is not None:
        yes, no = asked.options
        words = "what to do instead? (Enter: no reason)"
        return (Choice("y", yes.label, "0"), Choice("n", f"{no.label}, and say what instead", "text", asks=words))
    if asked.hosts:
        refusal = Choice("n", "no, and say why", "text", asks="why not? (Enter: no reason)")
        keys = zip(HOST_KEYS, asked.options, strict=False)
        return (*(Choice(key, one.label, str(at)) for at, (key, one) in enumerate(keys)), refusal)
    options = (Choice("", one.label, str(number), note=one.description) for number, one in enumerate(asked.options))
    other = "another answer" if asked.options else "write an answer"
    return (
        *options,
        Choice("w", other, "text", asks="your answer (Enter: none)"),
        Choice("n", "no answer", "declined"),
    )


def _about_plan(asked: QuestionAsked) -> tuple[Choice, ...]:
    keys = ("y", "a", "c", "l") if len(asked.options) == 4 else ("y", "a", "x", "c", "l")
    options = [Choice(key, one.label, str(at)) for at, (key, one) in enumerate(zip(keys, asked.options, strict=True))]
    edit = Choice("e", "edit the plan first, in your editor", "edit")
    no = Choice("n", "no, and say what to change", "text", asks="what to change? (Enter: no reason)")
    return (*options[:-1], edit, no, options[-1])


def _detail_of(asked: PermissionAsked, request: PermissionRequest) -> Detail:
    return _detail(request.detail) if has_detail(asked, request) else ""


def _detail(text: str) -> Detail:
    """A diff or a command."""
    if (path := path_of_diff(text)) is not None:
        rows = with_changed_words(diff_rows(text))
        return lambda width: Content("\n").join(diff_content(rows, path, width))
    return detail_content(text, WIDEST, MOST_LINES) if text.strip() else ""
