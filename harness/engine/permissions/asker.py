"""The person, as the executor sees one: someone who can be asked."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from harness.engine.conversation import Conversation
from harness.engine.signals import unless
from harness.events import LoopAsked, LoopChoice, PermissionAnswered, PermissionAsked, QuestionAsked, WaitOffered
from harness.permissions import Allow, Answer, Ask, Decision, PermissionRequest

WaitChoice = Literal["wait", "switch", "stop"]


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """The user's answer to a question."""

    how: Literal["option", "text", "declined"]
    text: str = ""
    """The label of the option, or the words; empty where declined."""


class Asker(Protocol):
    """Answers questions. A front end implements this; a question may be cancelled while it waits."""

    @property
    def present(self) -> bool:
        """Somebody is there to answer."""
        ...

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """May this tool call run?"""
        ...

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """The server wants a long wait: sleep it, use another model, or stop?"""
        ...

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """The agent goes in circles: let it, switch the mechanism off, go back, or stop?"""
        ...

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The answer to a question of the model, or of the program; None: no user is present."""
        ...


class Nobody:
    """Answers for a program that runs alone: no, and stop."""

    present = False
    remedy = 'permission_mode="yolo", or a rule in permissions_allow, allows'
    """How what is refused can be allowed, before the name of the tool."""

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """No."""
        return Answer("no", f"nobody is there to ask; {self.remedy} {request.tool}", by="default")

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Stop."""
        return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop."""
        return LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """No user is present."""
        return None


class OneAtATime:
    """Lets one question stand at a time, whoever asks: there is one person and one terminal.

    What an answer has decided for others as well ("always"), they are not asked any more.
    """

    def __init__(self, asker: Asker, decide: Callable[[PermissionRequest], Decision]) -> None:
        """`decide` says whether a call still has to be asked for when its turn comes."""
        self._asker = asker
        self._decide = decide
        self._turn = asyncio.Lock()

    @property
    def present(self) -> bool:
        """Somebody is there to answer."""
        return self._asker.present

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """Ask when the questions before this one are answered."""
        of_permissions = self._wants_to_know(asked, request)
        async with self._turn:
            decision = self._decide(request)
            if of_permissions and not isinstance(decision, Ask):
                choice: Literal["once", "no"] = "once" if isinstance(decision, Allow) else "no"
                return Answer(choice, decision.why, decision.by if decision.by != "hook" else "rule")
            return await self._asker.permission(asked, request)

    def _wants_to_know(self, asked: PermissionAsked, request: PermissionRequest) -> bool:
        """The question is that of the permissions; what a hook wants asked is asked, whatever was answered before."""
        decision = self._decide(request)
        return isinstance(decision, Ask) and decision.why == asked.why

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask when the questions before this one are answered."""
        async with self._turn:
            return await self._asker.wait(offered)

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask when the questions before this one are answered."""
        async with self._turn:
            return await self._asker.loop(asked)

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Ask when the questions before this one are answered."""
        async with self._turn:
            return await self._asker.question(asked)


class OnBehalf:
    """Asks the user on behalf of a subagent, and only what nobody else may decide: whether a call may run, and what
    the subagent itself asks.

    A long wait and a circle end the agent instead; whoever asked for it decides what then.
    """

    present = False

    def __init__(self, asker: Asker, agent: str) -> None:
        self._asker = asker
        self._agent = agent

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """Ask, and say whose call it is."""
        return await self._asker.permission(replace(asked, agent=self._agent), request)

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Stop."""
        return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop."""
        return LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Ask, and say who asks."""
        return await self._asker.question(replace(asked, agent=self._agent))


async def ask_permission(
    asker: Asker, conversation: Conversation, interrupt: asyncio.Event, request: PermissionRequest, why: str
) -> Answer | None:
    """Ask, and leave question and answer behind as events; None: it was interrupted before an answer came."""
    asked = PermissionAsked(request.call_id, request.tool, request.summary, why)
    conversation.emit(asked)
    answer = await unless(interrupt, asker.permission(asked, request))
    if answer is not None:
        conversation.emit(PermissionAnswered(request.call_id, request.tool, answer.choice, answer.by, answer.why))
    return answer
