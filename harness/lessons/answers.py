"""Who answers the questions of a chapter's agent: first the course, then the learner."""

from collections import deque
from collections.abc import Callable, Sequence

from harness.engine.permissions.asker import Asker, Nobody, UserAnswer, WaitChoice
from harness.events import LoopAsked, LoopChoice, PermissionAsked, QuestionAsked, WaitOffered
from harness.permissions import Answer, PermissionRequest


class Answering:
    """Answers with what the chapter says while its prompts are played; afterwards the learner is asked."""

    present = True

    def __init__(self, answers: Sequence[str], learner: Asker | None, live: Callable[[], bool]) -> None:
        """`answers` are "once", "always", "no" and "no: why", checked; `live` says whether the learner types by now."""
        self._answers = deque(answers)
        self._learner = learner or Nobody()
        self._live = live

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> Answer:
        """The next answer of the chapter, or that of the learner."""
        if self._live():
            return await self._learner.permission(asked, request)
        if not self._answers:
            return Answer("no", "the chapter gives no answer to this question")
        match self._answers.popleft().partition(":"):
            case "once", _, _:
                return Answer("once")
            case "always", _, _:
                return Answer("always", rules=request.offers)
            case _, _, why:
                return Answer("no", why.strip())

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Wait, unless the learner decides otherwise."""
        return await self._learner.wait(offered) if self._live() else "wait"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop, unless the learner decides otherwise."""
        return await self._learner.loop(asked) if self._live() else LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The learner is asked; while the prompts are played no user is present."""
        return await self._learner.question(asked) if self._live() else None
