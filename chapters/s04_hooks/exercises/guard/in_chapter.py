"""An agent that may do everything, with the learner's hook."""

from dataclasses import replace
from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.hooks import HookCall

KEYS = "TOKEN=secret\n"


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Two files with keys, a model that writes into them, and the guard."""
    (session.workspace / "config").mkdir()
    for name in (".env", "config/.env"):
        (session.workspace / name).write_text(KEYS, "utf-8")
    errors: list[Exception] = []
    answer: Any = work.guard.action

    async def asked(call: HookCall) -> Any:
        try:
            return answer(call)
        except Exception as error:
            errors.append(error)
            raise

    settings = session.settings(permission_mode="yolo")
    async with session.agent(settings, hooks=[replace(work.guard, action=asked)]) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            if errors:
                raise errors[0]
