"""Questions to a person at a terminal, and what counts as an answer."""

import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from harness.events import LoopAsked, LoopChoice, PermissionAsked, WaitOffered
from harness.session import LOOP_CHOICES, Answer, PermissionRequest, WaitChoice
from harness.ui.line import Line, Tone
from harness.ui.plain import Plain

YES = ("y", "yes", "once", "1")
ALWAYS = ("a", "always", "2")
KEEP = ("k", "keep")
NO = ("n", "no", "3")


class PlainAsker:
    """Asks in the flow of lines."""

    present = True

    def __init__(self, plain: Plain, answer: Callable[[], Awaitable[str | None]]) -> None:
        """`answer` gives the next line typed; None when there is no more input."""
        self._plain = plain
        self._answer = answer

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """Show the command or the diff and ask; the end of input means no."""
        self._plain.line(Line("?", f"{asked_by(asked)}{asked.why}: {asked.summary}", Tone.TROUBLE))
        if request.detail.strip() and request.detail.strip() != asked.summary.strip():
            self._plain.say(_indented(request.detail))
        offers = request.offers
        if offers:
            self._plain.say(f"  k allows and keeps {offered(offers)}; or type k and another rule")
        while True:
            self._plain.ask(f"  allow it? y once, a always,{' k keep,' if offers else ''} n no (you may add why): ")
            line = await self._answer()
            if line is None:
                self._plain.say("")
                return Answer("no", "the input ended before an answer", by="default")
            if (answer := permission_in(line, offers)) is None:
                self._plain.say(f"  please answer y, a{', k' if offers else ''} or n")
                continue
            if answer.choice != "no" or answer.why:
                return answer
            self._plain.ask("  why not? (Enter: no reason) ")
            return Answer("no", (await self._answer() or "").strip())

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask about a long wait; the end of input means stop."""
        choices: tuple[WaitChoice, ...] = ("wait", "switch", "stop") if offered.can_switch else ("wait", "stop")
        words = {"wait": "wait", "switch": "ask the other model", "stop": "stop"}
        numbered = ", ".join(f"{number} {words[choice]}" for number, choice in enumerate(choices, start=1))
        while True:
            self._plain.ask(f"  {numbered}: ")
            line = await self._answer()
            if line is None:
                self._plain.say("")
                return "stop"
            if (choice := choice_in(line, choices)) is not None:
                return choice
            self._plain.say(f"  please answer with a number from 1 to {len(choices)}")

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask about an agent that goes in circles; the end of input means stop."""
        numbered = ", ".join(f"{number} {LOOP_CHOICES[choice]}" for number, choice in enumerate(asked.choices, start=1))
        while True:
            self._plain.ask(f"  {numbered}: ")
            line = await self._answer()
            if line is None:
                self._plain.say("")
                return LoopChoice.STOP
            if (choice := choice_in(line, asked.choices)) is not None:
                return choice
            self._plain.say(f"  please answer with a number from 1 to {len(asked.choices)}")

    async def pause(self) -> str | None:
        """Ask how to go on after a pause: the tool to reset before, empty for none; None means stop."""
        while True:
            self._plain.ask("  go on? c with a fresh budget, r TOOL (or all) resets it first, s stops: ")
            line = await self._answer()
            if line is None:
                self._plain.say("")
                return None
            word, _, tool = unicodedata.normalize("NFKC", line.strip()).partition(" ")
            match word.lower():
                case "c" | "continue" | "y" | "yes":
                    return ""
                case "r" | "reset" if tool.strip():
                    return tool.strip()
                case "s" | "stop" | "n" | "no":
                    return None
            self._plain.say("  please answer c, r and the name of a tool, or s")


def asked_by(asked: PermissionAsked) -> str:
    """Whose call it is, before what is asked: "agent a3: "; empty for the agent the person talks to."""
    return f"agent {asked.agent}: " if asked.agent else ""


def permission_lines(asked: PermissionAsked, request: PermissionRequest) -> list[str]:
    """What is asked about: the call, and below it a line for each of its dangers."""
    if not request.dangers:
        return [f"{asked_by(asked)}{asked.why}: {asked.summary}"]
    why = asked.why.partition(request.dangers[0])[0].rstrip(" ,;") or f"{request.tool} does something dangerous"
    return [f"{asked_by(asked)}{why}: {asked.summary}", *(f"  · {danger}" for danger in request.dangers)]


def offered(rules: Sequence[str]) -> str:
    """Rules that may be kept, as one text."""
    return ", ".join(rules)


def permission_in(line: str, offers: Sequence[str] = ()) -> Answer | None:
    """The answer that was typed; full-width letters count, as an input method gives them. None: not understood.

    With rules on offer they can be kept as they are, or another one that is typed behind the letter.
    """
    word, _, rest = unicodedata.normalize("NFKC", line.strip()).partition(" ")
    match word.rstrip(",.:;").lower():
        case yes if yes in YES:
            return Answer("once")
        case always if always in ALWAYS:
            return Answer("always")
        case keep if keep in KEEP and offers:
            return Answer("always", rules=(rest.strip(),) if rest.strip() else tuple(offers), keep=True)
        case no if no in NO:
            return Answer("no", rest.strip())
        case _:
            return None


T = TypeVar("T", bound=str)


def choice_in(line: str, choices: Sequence[T]) -> T | None:
    """The choice that was typed, as its number, its name or the beginning of its name. None: not understood."""
    typed = unicodedata.normalize("NFKC", line.strip()).lower()
    if typed.isdigit() and 1 <= int(typed) <= len(choices):
        return choices[int(typed) - 1]
    named = [choice for choice in choices if typed and choice.startswith(typed)]
    return named[0] if len(named) == 1 else None


def _indented(text: str) -> str:
    return "\n".join(f"  │ {line}".rstrip() for line in text.rstrip().splitlines())
