"""The person at the screen, as the agent sees one: questions go up, answers come back."""

from collections.abc import Awaitable, Callable, Sequence

from textual.content import Content

from harness.base.terminal_text import visible
from harness.events import LoopAsked, LoopChoice, PauseReport, PermissionAsked, QuestionAsked, WaitOffered
from harness.session import LOOP_CHOICES, Answer, PermissionRequest, UserAnswer, WaitChoice, loop_question
from harness.ui.app.question import Choice, Question
from harness.ui.lines.events import seconds
from harness.ui.plain.questions import asked_by, free_answer, offered, permission_lines
from harness.ui.transcript.call_lines import detail_content

WIDEST = 400
"""Characters of a line of what is asked about; nothing of a command may be out of sight."""
MOST_LINES = 2_000

LOOP_KEYS = {LoopChoice.CONTINUE: "c", LoopChoice.OFF: "o", LoopChoice.ROLL_BACK: "b", LoopChoice.STOP: "s"}

Put = Callable[[Question], Awaitable[tuple[str, str]]]
"""Shows a question and gives the value and the text of its answer; cancelled when nobody wants it any more."""


class ScreenAsker:
    """Asks inside the screen."""

    present = True

    def __init__(self, put: Put) -> None:
        self._put = put

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """Show the command or the diff and ask."""
        always = "always, for this command" if request.effect == "run" else f"always, for {request.tool}"
        lasting = (Choice("a", f"yes, {always}", "always"), *_keeping(request.offers))
        choices = (
            Choice("y", "yes, once", "once"),
            *(lasting if not request.dangers else ()),
            Choice("n", "no, and say why", "no", asks="why not? Enter alone gives no reason"),
        )
        title = "\n".join(permission_lines(asked, request))
        preselected = "no" if request.dangers else "once"
        value, text = await self._put(Question(title, choices, _detail(asked, request), preselected=preselected))
        match value:
            case "once" | "always" as choice:
                return Answer(choice)
            case "keep":
                return Answer("always", rules=(text,) if text else request.offers, keep=True)
            case _:
                return Answer("no", text)

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask about a long wait."""
        choices = [Choice("w", f"wait {seconds(offered.seconds)}", "wait")]
        if offered.can_switch:
            choices.append(Choice("m", "ask the other model", "switch"))
        choices.append(Choice("s", "stop", "stop"))
        title = f"The server asks for a wait of {seconds(offered.seconds)}: {offered.detail}"
        value, _ = await self._put(Question(title, choices))
        match value:
            case "wait" | "switch" as choice:
                return choice
            case _:
                return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask about an agent that goes in circles."""
        choices = tuple(Choice(LOOP_KEYS[choice], LOOP_CHOICES[choice], choice) for choice in asked.choices)
        value, _ = await self._put(Question(loop_question(asked.loop), choices))
        return next((choice for choice in asked.choices if choice == value), LoopChoice.STOP)

    async def question(self, asked: QuestionAsked) -> UserAnswer:
        """Ask a question of the model or of the program. Escape declines."""
        title = f"{asked_by(asked)}{asked.question}"
        value, text = await self._put(
            Question(title, _answers(asked), preselected="text" if asked.fan_out else "", escape="declined")
        )
        match value:
            case "text":
                return free_answer(text)
            case "declined":
                return UserAnswer("declined")
            case number:
                return UserAnswer("option", asked.options[int(number)].label)

    async def pause(self, report: PauseReport, troubled: Sequence[str]) -> str | None:
        """Ask how to go on after a pause: the tool to reset before, empty for none; None means stop.

        `troubled` are the tools that are not closed.
        """
        resets = [Choice("r", f"go on, and reset {tool} first", tool) for tool in troubled[:1]]
        resets += [Choice(str(number), f"go on, and reset {tool} first", tool) for number, tool in _numbered(troubled)]
        if len(troubled) > 1:
            resets.append(Choice("x", "go on, and reset them all first", "all"))
        choices = (Choice("c", "go on with a fresh budget", "go"), *resets, Choice("s", "stop", "stop"))
        value, _ = await self._put(Question(f"Paused: {report.reason}", choices))
        return {"go": "", "stop": None}.get(value, value)


def _answers(asked: QuestionAsked) -> tuple[Choice, ...]:
    """The answers on offer by their numbers, one in other words, and none."""
    if asked.fan_out is not None:
        yes, no = asked.options
        words = "what to do instead? Enter alone gives no reason"
        return (Choice("y", yes.label, "0"), Choice("n", f"{no.label}, and say what instead", "text", asks=words))
    options = (Choice("", one.label, str(number), note=one.description) for number, one in enumerate(asked.options))
    other = "something else" if asked.options else "write an answer"
    return (
        *options,
        Choice("w", other, "text", asks="your answer; Enter alone gives none"),
        Choice("n", "no answer", "declined"),
    )


def _keeping(offers: Sequence[str]) -> tuple[Choice, ...]:
    """The choice to keep the rules on offer; a single one can be changed before."""
    if not offers:
        return ()
    label = f"yes, and keep for later sessions: {visible(offered(offers))}"
    if len(offers) > 1:
        return (Choice("k", label, "keep"),)
    return (Choice("k", label, "keep", asks="the rule to keep", text=offers[0]),)


def _numbered(troubled: Sequence[str]) -> list[tuple[int, str]]:
    """The tools after the first, with the number their choice has: go on is 1, the first tool 2."""
    return list(enumerate(troubled[1:6], start=3))


def _detail(asked: PermissionAsked, request: PermissionRequest) -> Content | str:
    """The diff or the command, unless the title has said it already."""
    if not request.detail.strip() or request.detail.strip() == asked.summary.strip():
        return ""
    return detail_content(request.detail, WIDEST, MOST_LINES)
