"""A user who answers as a test says."""

from collections.abc import Sequence

from harness.engine.permissions.asker import NoAsker, WaitChoice
from harness.events import LoopAsked, LoopChoice, PermissionAsked, WaitOffered
from harness.permissions import PermissionAnswer, PermissionRequest


class AnsweringUser(NoAsker):
    """Answers permission questions with these in turn; the last one repeats."""

    present = True

    def __init__(
        self,
        *answers: PermissionAnswer,
        wait: WaitChoice = "stop",
        loops: Sequence[LoopChoice] = (),
    ) -> None:
        self.asked: list[tuple[str, PermissionRequest]] = []
        """The reason and subject of each question."""
        self._answers = list(answers) or [PermissionAnswer("once")]
        self._wait = wait
        self._loops = list(loops)

    @property
    def requests(self) -> list[PermissionRequest]:
        """The calls that the questions were about."""
        return [request for _, request in self.asked]

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """The next answer."""
        self.asked.append((asked.why, request))
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """The choice."""
        return self._wait

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """The next choice."""
        return self._loops.pop(0)
