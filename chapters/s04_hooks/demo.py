"""Hooks: seven wishes of a team, and not one line of the loop changes for them."""

import ast
from pathlib import Path

from chapters.course import DemoSession
from harness.hooks import Hook, HookAnswer, HookCall, HookPoint, hook
from harness.permissions import commands_of

WRITES = "write_file|edit_file"
FORCE = {"--force", "--force-with-lease", "-f"}


@hook("prompt_submit")
def house_rules(call: HookCall) -> HookAnswer:
    """Context: the model reads it beside the prompt."""
    return HookAnswer(context="Rule of this house: what you write is run once before you say that it is done.")


@hook("before_tool", tools="bash", required=True)
def no_force_push(call: HookCall) -> HookAnswer | None:
    """Block: the call does not run, and the model reads why. The line is read as a shell reads it, as in s03."""
    for words in commands_of(call.input["command"]):
        if words[0] == "git" and "push" in words and FORCE.intersection(words):
            return HookAnswer(block="force pushes are not allowed here; push to a branch of your own")
    return None


@hook("before_tool", tools="write_file")
def ends_with_newline(call: HookCall) -> HookAnswer | None:
    """Change the input: the call runs, but not quite as the model wrote it."""
    content = str(call.input["content"])
    if content.endswith("\n"):
        return None
    return HookAnswer(input={**call.input, "content": content + "\n"})


no_network = Hook("no_network", HookPoint.BEFORE_TOOL, "python3 guards/no_network.py", tools="bash")
"""A hook can be any program. This one is a file of the workspace; see there."""


@hook("after_tool", tools=WRITES)
def python_parses(call: HookCall) -> HookAnswer | None:
    """After the tool: check the written file. The model reads the remark."""
    path = Path(call.workspace, str(call.input["path"]))
    if path.suffix != ".py" or call.outcome != "ok":
        return None
    try:
        ast.parse(path.read_text("utf-8"))
    except SyntaxError as error:
        return HookAnswer(context=f"{path.name} is no Python, line {error.lineno}: {error.msg}")
    return None


@hook("after_tool")
def audit(call: HookCall) -> None:
    """A hook with a mistake: the folder of its log does not exist. Only this hook fails, not the turn."""
    with Path(call.workspace, "audit", "log.txt").open("a", encoding="utf-8") as log:
        log.write(f"{call.tool} {call.outcome}\n")


class Unrun:
    """Remembers which programs were written and not run since."""

    def __init__(self) -> None:
        self.paths: list[str] = []

    def note(self, call: HookCall) -> None:
        """After a tool: keep track of what went well."""
        if call.outcome == "ok" and call.tool == "bash":
            ran = {
                Path(word) for words in commands_of(call.input["command"]) for word in words if words[0] == "python3"
            }
            self.paths = [path for path in self.paths if Path(path) not in ran]
        elif call.outcome == "ok" and str(call.input["path"]).endswith(".py"):
            self.paths.append(str(call.input["path"]))

    def objection(self, call: HookCall) -> HookAnswer | None:
        """At the end of a turn: send the model back to work, once."""
        if self.paths and call.objections == 0:
            return HookAnswer(block=f"{self.paths[-1]} was written and never run; run it first")
        return None


async def demo(session: DemoSession) -> None:
    """An agent that may do nearly everything, held by hooks."""
    unrun = Unrun()
    hooks = [
        house_rules,
        no_force_push,
        no_network,
        ends_with_newline,
        python_parses,
        audit,
        hook("after_tool", tools=f"{WRITES}|bash", name="note_unrun")(unrun.note),
        hook("stop", name="run_it_first")(unrun.objection),
    ]
    settings = session.settings(permission_mode="edits", permissions_allow=("bash(python3 *)",))
    async with session.agent(settings, hooks=hooks) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
