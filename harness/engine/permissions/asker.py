"""The user as the engine sees one: answers permissions, waits, loops and questions."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable
from weakref import WeakValueDictionary

from harness.base.clock import Clock
from harness.base.concurrency import race, unless
from harness.engine.conversation import Conversation
from harness.events import (
    LoopAsked,
    LoopChoice,
    PermissionAnswered,
    PermissionAsked,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    ToolOutcome,
    WaitOffered,
)
from harness.permissions import Allow, Ask, Decision, Deny, PermissionAnswer, PermissionRequest
from harness.tools.tool import ToolContext, ToolResult, shorten_line

PASSING_S = 1.0
"""Seconds after which a mode that decides the open question was not only passed through."""
WaitChoice = Literal["wait", "switch", "stop"]


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """The user's answer to a question."""

    how: Literal["option", "text", "declined"]
    text: str = ""
    """The label of the option, or the words; empty where declined."""
    plan: ProposedPlan | None = None
    """The plan as the user edited it, where a plan was asked about; None: unchanged."""


class Asker(Protocol):
    """Answers questions. A front end implements this; a question may be cancelled while it waits."""

    @property
    def present(self) -> bool:
        """A user is present to answer."""
        ...

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """May this tool call run?"""
        ...

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """The server wants a long wait: sleep it, use another model, or stop?"""
        ...

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """The agent repeats itself: let it, switch the mechanism off, go back, or stop?"""
        ...

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The answer to a question of the model, or of the program; None: no user is present."""
        ...


@runtime_checkable
class ManyUsers(Protocol):
    """An asker with several users: each answers the questions about their own calls."""

    def user_of(self, call_id: str) -> str:
        """A name for the user who is asked about this call."""
        ...


class NoAsker:
    """Answers for a program that runs alone: no, and stop."""

    present = False
    remedy = 'permission_mode="yolo", or a rule in permissions_allow, allows'
    """Remedy for a refusal, before the name of the tool."""
    waits_for_work = False
    """After a turn the program waits for background work and lets the model continue with it."""

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """No."""
        return PermissionAnswer("no", f"no user is present to ask; {self.remedy} {request.tool}", by="default")

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Stop."""
        return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop."""
        return LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """No user is present."""
        return None


class SerialAsker:
    """Asks one question at a time, for all agents: there is one user and one terminal. Of `ManyUsers` it asks each one
    question at a time.

    Queued questions that an earlier answer has decided ("always") are not asked, and a question on the screen is
    withdrawn when a change of the mode or of a rule decides it.
    """

    def __init__(
        self,
        asker: Asker,
        decide: Callable[[PermissionRequest], Decision],
        changed: Callable[[], Awaitable[None]],
        clock: Clock,
    ) -> None:
        """
        Args:
            decide: says whether a call still has to be asked for.
            changed: returns when that may have changed.
        """
        self._asker = asker
        self._decide = decide
        self._changed = changed
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        """By user, while any question of theirs is open."""
        self._open = 0
        """Questions on a screen."""
        self._clock = clock
        self._answered_s = 0.0
        self._asked_at: float | None = None

    @property
    def present(self) -> bool:
        """A user is present to answer."""
        return self._asker.present

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Ask when the questions before this one are answered."""
        of_permissions = self._wants_to_know(asked, request)
        async with self._asking(asked.call_id):
            if not of_permissions:
                return await self._asker.permission(asked, request)
            if not isinstance(decision := self._decide(request), Ask):
                return _answer_of(decision)
            answered, decided = await race(self._asker.permission(asked, request), self._decided(request))
            done = answered or decided
            assert done is not None
            answer: PermissionAnswer = done.result()
            if isinstance(refusal := self._decide(request), Deny):
                return _answer_of(refusal)
            return answer

    async def _decided(self, request: PermissionRequest) -> PermissionAnswer:
        """The answer of the mode and the rules, as soon as they have one.

        It counts after a moment: the key for the next mode also passes through others, and a call that one of those
        allows must not run on the way to plan mode.
        """
        while True:
            match self._decide(request):
                case Ask():
                    await self._changed()
                case decision:
                    changed, _ = await race(self._changed(), self._clock.sleep(PASSING_S))
                    if changed is None:
                        return _answer_of(decision)

    @property
    def waited_s(self) -> float:
        """Seconds that questions have waited for the user so far, including the open one."""
        open_s = 0.0 if self._asked_at is None else self._clock.now() - self._asked_at
        return self._answered_s + open_s

    @asynccontextmanager
    async def _asking(self, call_id: str = "") -> AsyncIterator[None]:
        """The next question, about this call: its user is asked until the block is left."""
        user = self._asker.user_of(call_id) if isinstance(self._asker, ManyUsers) else ""
        async with self._turns.setdefault(user, asyncio.Lock()):
            if not self._open:
                self._asked_at = self._clock.now()
            self._open += 1
            try:
                yield
            finally:
                self._open -= 1
                if not self._open:
                    self._answered_s, self._asked_at = self.waited_s, None

    def _wants_to_know(self, asked: PermissionAsked, request: PermissionRequest) -> bool:
        """The question is that of the permissions; what a hook wants asked is asked, whatever was answered before."""
        decision = self._decide(request)
        return isinstance(decision, Ask) and decision.why == asked.why

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask when the questions before this one are answered."""
        async with self._asking():
            return await self._asker.wait(offered)

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask when the questions before this one are answered."""
        async with self._asking():
            return await self._asker.loop(asked)

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Ask when the questions before this one are answered."""
        async with self._asking():
            return await self._asker.question(asked)


def _answer_of(decision: Allow | Deny) -> PermissionAnswer:
    """The answer that rules or the mode give in place of the user."""
    choice: Literal["once", "no"] = "once" if isinstance(decision, Allow) else "no"
    return PermissionAnswer(choice, decision.why, decision.by if decision.by != "hook" else "rule")


class SubagentAsker:
    """Asks the user on behalf of a subagent: permissions, and the questions of its model.

    A long wait or a loop ends the subagent instead, and its parent decides what follows.
    """

    present = False

    def __init__(self, asker: Asker, agent: str) -> None:
        self._asker = asker
        self._agent = agent

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
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
    asker: Asker,
    conversation: Conversation,
    interrupt: asyncio.Event,
    request: PermissionRequest,
    why: str,
    detail: tuple[str, ...] = (),
) -> PermissionAnswer | None:
    """Ask, and leave question and answer behind as events; None: it was interrupted before an answer came.

    `detail`: lines of the request for the event, where no event of a tool call has them.
    """
    asked = PermissionAsked(request.call_id, request.tool, request.summary, why, detail=detail)
    conversation.emit(asked)
    answer = await unless(interrupt, asker.permission(asked, request))
    if answer is not None:
        conversation.emit(PermissionAnswered(request.call_id, request.tool, answer.choice, answer.by, answer.why))
    return answer


Unattended = Literal["refuse", "first"]
"""What answers where no user is present: nothing, or the first option."""

OWN_JUDGEMENT = "Go on by your own judgement and say in your answer what you assumed."
DECLINED = f"The user declined to answer this question. Do not ask it again. {OWN_JUDGEMENT}"
REFUSED = f"No user is present to answer. {OWN_JUDGEMENT}"
CHOSEN_BY_SETTING = "No user is present; the settings take the first option"


class QuestionHandler:
    """Asks for one conversation."""

    def __init__(self, conversation: Conversation, asker: Asker, unattended: Unattended) -> None:
        self._conversation = conversation
        self._asker = asker
        self._unattended = unattended

    async def ask(self, context: ToolContext, question: str, options: tuple[QuestionOption, ...]) -> ToolResult:
        """Ask, and return the answer for the model. A cancellation takes the question back and is passed on."""
        asked = QuestionAsked(context.call_id, question, options)
        self._conversation.emit(asked)
        given = await self._asker.question(asked)
        answer = given or unattended_answer(self._unattended, options)
        by: Literal["user", "setting"] = "user" if given else "setting"
        self._conversation.emit(QuestionAnswered(context.call_id, answer.how, answer.text, by))
        return result_of(answer, by)


def unattended_answer(setting: Unattended, options: tuple[QuestionOption, ...]) -> UserAnswer:
    """The answer where no user is present. A question without options cannot be answered."""
    if setting == "first" and options:
        return UserAnswer("option", options[0].label)
    return UserAnswer("declined")


def result_of(answer: UserAnswer, by: Literal["user", "setting"]) -> ToolResult:
    """What the model reads about an answer. No answer is a failure of the tool."""
    match answer.how, by:
        case "option", "user":
            return ToolResult(f"The user chose: {answer.text}", summary=shorten_line(answer.text))
        case "option", "setting":
            return ToolResult(f"{CHOSEN_BY_SETTING}: {answer.text}", summary=shorten_line(f"{answer.text}, by setting"))
        case "text", _:
            return ToolResult(f"The user answered: {answer.text}", summary=shorten_line(answer.text))
        case _, "setting":
            return ToolResult(REFUSED, ToolOutcome.DENIED, "no user is present")
        case _:
            return ToolResult(DECLINED, summary="declined")
