"""Questions in lines, and the parsing of their answers."""

import asyncio
import os
import re
import unicodedata
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from harness.events import (
    LoopAsked,
    LoopChoice,
    PermissionAsked,
    ProposedPlan,
    QuestionAsked,
    QuestionOption,
    WaitOffered,
)
from harness.session import LOOP_CHOICES, PermissionAnswer, PermissionRequest, UserAnswer, WaitChoice, unified_diff
from harness.ui.editor import EditorError, edited
from harness.ui.lines.diff import diff_lines, path_of_diff
from harness.ui.lines.line import Line, Tone
from harness.ui.permission_choices import (
    asked_by,
    has_detail,
    permission_answer,
    permission_choices,
    permission_reasons,
    permission_title,
)
from harness.ui.plain.printer import LinePrinter

NO = ("n", "no")
OTHER = ("w", "words")
"""Introduces a free answer."""
HOST_KEYS = ("y", "s", "a")
"""For the options of a question about hosts: this command, this session, always."""
LONGEST_WORD = 12
"""Characters of a mistyped answer; longer words, or several words, were meant as a prompt."""


T = TypeVar("T")
C = TypeVar("C", bound=str)


Away = Callable[[Coroutine[None, None, ProposedPlan]], Awaitable[ProposedPlan]]
"""Leaves the terminal to the editing of a plan."""


def at_once(work: Coroutine[None, None, ProposedPlan]) -> Awaitable[ProposedPlan]:
    """The work as it is, where the terminal is free."""
    return work


STEPS = "<!-- The steps of the checklist, one a line: -->"
_MARK = re.compile(r"(?m)^<!-- The steps of the checklist.*$")


async def edited_plan(plan: ProposedPlan, environment: Mapping[str, str]) -> ProposedPlan:
    """The plan after the user has edited it, with its steps in a list at the end. Raises EditorError."""
    steps = "\n".join(f"- {step}" for step in plan.steps)
    text = await edited(f"{plan.text}\n\n{STEPS}\n{steps}", environment)
    listed, marks = steps, list(_MARK.finditer(text))
    if marks:  # the last one: the plan of the model may have such a line, too
        text, listed = text[: marks[-1].start()], text[marks[-1].end() :]
    if not text.strip():
        raise EditorError("There is nothing left of the plan; it is unchanged.")
    lines = (line.strip().removeprefix("-").strip() for line in listed.splitlines())
    return ProposedPlan(text.strip(), tuple(dict.fromkeys(filter(None, lines))))


class LineSource(Protocol):
    """A source of typed lines."""

    async def settled(self) -> bool:
        """Return once nothing was typed for a moment. Lines typed by then are not answers.

        True: a line was begun.
        """
        ...

    async def answer(self) -> str | None:
        """The next line; None at the end of input."""
        ...

    def keep(self, line: str) -> str:
        """Keep a line that is not an answer as the next prompt; returns the prompt, empty if it is not kept."""
        ...


class PlainAsker:
    """Asks in lines.

    A question is printed once nothing was typed for a moment, and only text typed below it answers it. A line that
    reads like a prompt is kept as one.
    """

    present = True

    def __init__(self, printer: LinePrinter, typist: LineSource, away: Away = at_once) -> None:
        """`away` leaves the terminal to an editor."""
        self._away = away
        self._printer = printer
        self._typist = typist

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Show the command or the diff, the reason and the choices; the end of input means no."""
        await self._settled()
        title, *more = permission_title(asked, request).split("\n")
        self._printer.line(Line("?", title, Tone.TROUBLE))
        for text in (*(f"  {line}" for line in more), *_detail_lines(asked, request)):
            self._printer.say(text)
        for reason in permission_reasons(asked, request):
            self._printer.say(f"  {reason}")
        choices = permission_choices(request)
        for choice in choices[1:-1]:
            self._printer.say(f"  {choice.key} {choice.label}{f' ({choice.note})' if choice.note else ''}")
            for line in choice.lines:
                self._printer.say(f"      {line}")
        keys = _listed([choice.key for choice in choices])
        answer = await self._asked(
            "  allow it? y once, " + ", ".join([*(one.key for one in choices[1:-1]), "n no (you may add why)"]) + ": ",
            lambda line: permission_in(line, request),
            f"  please answer {keys}",
        )
        if answer is None:
            return PermissionAnswer("no", "the input ended before an answer", by="default")
        if answer.choice != "no" or answer.why:
            return answer
        self._printer.ask("  why not? (Enter: no reason) ")
        return PermissionAnswer("no", (await self._typist.answer() or "").strip())

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask about a long wait; the end of input means stop."""
        choices: tuple[WaitChoice, ...] = ("wait", "switch", "stop") if offered.can_switch else ("wait", "stop")
        words = {"wait": "wait", "switch": "ask the other model", "stop": "stop"}
        return await self._choice(choices, [words[choice] for choice in choices]) or "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask about a loop; the end of input means stop."""
        return await self._choice(asked.choices, [LOOP_CHOICES[one] for one in asked.choices]) or LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer:
        """Show a question and its options; the end of input declines it."""
        if asked.plan is not None:
            return await self._plan(asked, asked.plan)
        if asked.hosts:
            return await self._hosts(asked)
        await self._settled()
        title, *more = f"{asked_by(asked)}{asked.question}".splitlines()
        self._printer.line(Line("?", title, Tone.TROUBLE))
        for text in (*more, *(f"{number} {option_line(one)}" for number, one in enumerate(asked.options, 1))):
            self._printer.say(f"  {text}")
        if not asked.options:
            answer = await self._asked("  your answer (Enter: none): ", free_answer_in, "  please answer in words")
            return answer or UserAnswer("declined")
        numbers = f"1 to {len(asked.options)}"
        answer = await self._asked(
            f"  {numbers}, w and words of your own, n no answer: ",
            lambda line: answer_in(line, asked.options),
            f"  please answer {numbers}, w and words of your own, or n",
        )
        if answer is not None and answer.how == "text" and not answer.text:
            self._printer.ask("  your answer (Enter: none): ")
            return free_answer(await self._typist.answer() or "")
        return answer or UserAnswer("declined")

    async def _hosts(self, asked: QuestionAsked) -> UserAnswer:
        """Ask whether a command may reach hosts; the end of input is a no."""
        await self._settled()
        title, *more = f"{asked_by(asked)}{asked.question}".splitlines()
        self._printer.line(Line("?", title, Tone.TROUBLE))
        for text in more:
            self._printer.say(f"  {text}")
        offered = ", ".join(f"{key} {one.label}" for key, one in zip(HOST_KEYS, asked.options, strict=False))
        try:
            answer = await self._asked(
                f"  {offered}, n no (you may add why): ",
                lambda line: host_answer_in(line, asked.options),
                f"  please answer {_listed([*HOST_KEYS, 'n'])}",
            )
        except asyncio.CancelledError:  # the command did not wait for the answer
            self._printer.leave_question()
            raise
        return answer or UserAnswer("declined")

    async def _plan(self, asked: QuestionAsked, proposed: ProposedPlan) -> UserAnswer:
        """Ask about a plan, which is printed above; the end of input refuses it."""
        plan = proposed
        while True:
            await self._settled()
            self._printer.line(Line("?", asked.question, Tone.TROUBLE))
            for number, option in enumerate(asked.options, 1):
                self._printer.say(f"  {number} {option_line(option)}")
            answer = await self._asked(
                f"  1 to {len(asked.options)}, e edits it first, n no (you may add what to change): ",
                lambda line: plan_answer_in(line, asked.options),
                f"  please answer 1 to {len(asked.options)}, e, or n and what to change",
            )
            if answer != EDIT:
                return replace(answer or UserAnswer("text"), plan=None if plan == proposed else plan)
            try:
                plan = await self._away(edited_plan(plan, os.environ))
                self._printer.say(plan_changes(proposed, plan))
            except EditorError as error:
                self._printer.say(f"  {error}")

    async def pause(self) -> str | None:
        """Ask how to continue after a pause: the tool to reset first, empty for none; None means stop."""
        await self._settled()
        question = "  continue? c with a fresh budget, r TOOL (or all) resets it first, s stops: "
        found = await self._asked(question, pause_in, "  please answer c, r and the name of a tool, or s")
        return found[0] if found else None

    async def _settled(self) -> None:
        if await self._typist.settled():
            self._printer.in_a_line()
        else:
            self._printer.leave_question()

    async def _choice(self, choices: Sequence[C], words: Sequence[str]) -> C | None:
        await self._settled()
        numbered = ", ".join(f"{number} {word}" for number, word in enumerate(words, start=1))
        hint = f"  please answer with a number from 1 to {len(choices)}"
        return await self._asked(f"  {numbered}: ", lambda line: choice_in(line, choices), hint)

    async def _asked(self, question: str, parse: Callable[[str], T | None], hint: str) -> T | None:
        """Ask until an answer is understood; None at the end of input."""
        while True:
            self._printer.ask(question)
            line = await self._typist.answer()
            if line is None:
                self._printer.say("")
                return None
            self._printer.entered()
            if (answer := parse(line)) is not None:
                return answer
            if _is_prompt(line) and (kept := self._typist.keep(line)):
                self._printer.line(Line("·", f"not an answer; kept for the model: {kept.strip()}"))
            else:
                self._printer.say(hint)
            await self._settled()


def _is_prompt(line: str) -> bool:
    words = line.split()
    return len(words) > 1 or any(len(word) > LONGEST_WORD or word[:1] in "/!" for word in words)


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def permission_in(line: str, request: PermissionRequest) -> PermissionAnswer | None:
    """The typed answer, also in full-width letters of an input method. None: not understood.

    Only "no" may be followed by words: a sentence that begins with "a" or "yes" allows nothing.
    """
    word, _, rest = unicodedata.normalize("NFKC", line.strip()).partition(" ")
    rest = rest.strip()
    word = word.rstrip(",.:;").lower()
    if word in NO:
        return PermissionAnswer("no", rest)
    typed = {"yes": "y", "once": "y", "always": "a", "family": "f", "edits": "e"}.get(word, word)
    choice = next((one for one in permission_choices(request) if one.key == typed), None)
    return None if choice is None or rest else permission_answer(choice.value, "", request)


def pause_in(line: str) -> tuple[str | None] | None:
    """In a tuple the tool to reset first, empty for none, or None to stop. None: not understood."""
    word, _, tool = unicodedata.normalize("NFKC", line.strip()).partition(" ")
    tool = tool.strip()
    match word.lower():
        case "c" | "continue" | "y" | "yes" if not tool:
            return ("",)
        case "r" | "reset" if tool and len(tool.split()) == 1:
            return (tool,)
        case "s" | "stop" | "n" | "no" if not tool:
            return (None,)
    return None


def choice_in(line: str, choices: Sequence[C]) -> C | None:
    """The choice typed as its number, its name or the beginning of its name. None: not understood."""
    typed = unicodedata.normalize("NFKC", line.strip()).lower()
    if typed.isdigit() and 1 <= int(typed) <= len(choices):
        return choices[int(typed) - 1]
    named = [choice for choice in choices if typed and choice.startswith(typed)]
    return named[0] if len(named) == 1 else None


def option_line(option: QuestionOption) -> str:
    """An option with its description."""
    return f"{option.label}: {option.description}" if option.description else option.label


def answer_in(line: str, options: Sequence[QuestionOption]) -> UserAnswer | None:
    """The typed answer: the number or the label of an option, w with or without words, n for none.

    None: not understood. Words without a w are not understood, since they may be meant as a prompt.
    """
    typed = unicodedata.normalize("NFKC", line.strip())
    if typed.isdecimal() and 1 <= int(typed) <= len(options):
        return UserAnswer("option", options[int(typed) - 1].label)
    if (named := next((one for one in options if one.label.casefold() == typed.casefold()), None)) is not None:
        return UserAnswer("option", named.label)
    word, rest = [*line.split(maxsplit=1), "", ""][:2]
    if unicodedata.normalize("NFKC", word).rstrip(",.:;").lower() in OTHER:
        return UserAnswer("text", rest.strip())
    return UserAnswer("declined") if typed.lower() in NO else None


def host_answer_in(line: str, options: Sequence[QuestionOption]) -> UserAnswer | None:
    """The typed answer about hosts: one of `HOST_KEYS`, or n with or without the reason. None: not understood."""
    word, _, rest = unicodedata.normalize("NFKC", line.strip()).partition(" ")
    word = word.rstrip(",.:;").lower()
    if word in NO:
        return UserAnswer("text", rest.strip())
    return UserAnswer("option", options[HOST_KEYS.index(word)].label) if word in HOST_KEYS and not rest else None


EDIT = UserAnswer("option")
"""Not an answer yet: the user wants to edit the plan first."""


def plan_answer_in(line: str, options: Sequence[QuestionOption]) -> UserAnswer | None:
    """The typed answer about a plan: the number of an option, e to edit it, n with or without what to change.

    None: not understood. A sentence that begins with "yes" or with a number approves nothing.
    """
    typed = unicodedata.normalize("NFKC", line.strip())
    if typed.isdecimal() and 1 <= int(typed) <= len(options):
        return UserAnswer("option", options[int(typed) - 1].label)
    word, rest = [*line.split(maxsplit=1), "", ""][:2]
    first = unicodedata.normalize("NFKC", word).rstrip(",.:;").lower()
    if first in ("e", "edit") and not rest:
        return EDIT
    return UserAnswer("text", rest.strip()) if first in NO else None


def plan_changes(before: ProposedPlan, after: ProposedPlan) -> str:
    """What the user has changed in a plan, as a diff; empty: nothing."""
    old, new = ("\n".join((one.text, *(f"- {step}" for step in one.steps))) + "\n" for one in (before, after))
    return str(unified_diff(old, new, "plan.md"))


def free_answer(text: str) -> UserAnswer:
    """An answer in free text; an empty text declines."""
    return UserAnswer("text", text.strip()) if text.strip() else UserAnswer("declined")


def free_answer_in(line: str) -> UserAnswer | None:
    """A free answer typed below the question; None for a command, such as /help."""
    return None if line.lstrip()[:1] in ("/", "!") else free_answer(line)


def _detail_lines(asked: PermissionAsked, request: PermissionRequest) -> Iterator[str]:
    """The diff with line numbers, or what else belongs to the call and is not in its title."""
    if path_of_diff(request.detail) is not None:
        shown: Iterable[str] = diff_lines(request.detail)
    else:
        shown = request.detail.rstrip().splitlines() if has_detail(asked, request) else ()
    return (f"  │ {line}".rstrip() for line in shown)
