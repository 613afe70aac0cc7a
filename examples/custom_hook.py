"""A hook of your own: `git push --force` never runs, whatever the permissions say."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import Agent, HookAnswer, HookCall, hook
from harness.events import HookRan, TurnEnded
from harness.permissions import commands_of

SCRIPT = """
[[reply]]
tools = [{ name = "bash", input = { command = "git push --force" } }]

[[reply]]
text = "I left the branch as it is."
"""


@hook("before_tool", tools="bash", required=True)
def no_force_push(call: HookCall) -> HookAnswer | None:
    """Block a forced push, in any spelling; a line that cannot be read raises, which counts as a no."""
    for words in commands_of(call.input["command"]):
        if words[0] == "git" and "push" in words and {"--force", "--force-with-lease", "-f"} & set(words):
            return HookAnswer(block="force pushes are not allowed here")
    return None


async def main() -> None:
    """Let the practice model try a forced push."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / "push.toml"
        script.write_text(SCRIPT)
        async with Agent(hooks=[no_force_push], practice_script=script, permission_mode="yolo") as agent:
            async for event in agent.run("Push the branch."):
                match event:
                    case HookRan():
                        print(f"{event.name} {event.outcome}: {event.detail}")
                    case TurnEnded():
                        print(event.answer)


if __name__ == "__main__":
    asyncio.run(main())
