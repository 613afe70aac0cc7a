"""The agent of s22 with the learner's detection: each call with its result is one symbol of the stream."""

import json
from contextlib import aclosing
from types import ModuleType

from chapters.course import DemoSession
from chapters.s22_loops.demo import LOG, grow
from harness.events import Loop, LoopFound, LoopLeft, Projection, StepStarted, ToolEnded
from harness.hooks import HookAnswer, HookCall, hook


class Detection:
    """The stream of a session, and what the learner finds at its end."""

    def __init__(self, session: DemoSession, work: ModuleType) -> None:
        self.step = 0
        self.errors: list[Exception] = []
        self._session = session
        self._work = work
        self._stream: list[str] = []

    async def after(self, call: HookCall) -> HookAnswer | None:
        """Add a symbol; a repetition is shown, and the model reads of it."""
        shown = f"{call.tool} {' '.join(map(str, call.input.values()))}"
        self._stream.append(json.dumps([shown, call.result]))
        try:
            length = int(self._work.found(tuple(self._stream)))
        except Exception as error:
            self.errors.append(error)
            raise
        if not length:
            return None
        word = self._stream[-length:]
        summary = " → ".join(json.loads(symbol)[0] for symbol in word)
        copies = self._copies(word)
        self._session.show(
            LoopFound(
                Loop(Projection.INTERACTION, summary, length, copies, summary, (call.tool,)),
                self.step,
            )
        )
        return HookAnswer(context=f"You are repeating yourself: {summary}, {copies} times. Do something else.")

    def _copies(self, word: list[str]) -> int:
        copies = 0
        while self._stream[len(self._stream) - (copies + 1) * len(word) :] == word * (copies + 1):
            copies += 1
        return copies


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Our own detection does not intervene, and what it finds is not shown. The log grows as in the chapter."""
    detection = Detection(session, work)
    hooks = [hook("after_tool", name="found")(detection.after)]
    async with session.agent(session.settings(loop_intervention=False), hooks=hooks) as agent:
        async for prompt in session.prompts():
            async with aclosing(agent.run(prompt)) as events:
                async for event in events:
                    if detection.errors:
                        raise detection.errors[0]
                    if isinstance(event, StepStarted):
                        detection.step = event.step
                    if not isinstance(event, LoopFound | LoopLeft):
                        session.show(event)
                    if isinstance(event, ToolEnded):
                        grow(session.workspace / LOG)
