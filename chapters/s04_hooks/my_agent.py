"""An agent of your own. Chapter s04: rules of your own at fixed points of the loop.

    python my_agent.py "How many lines does notes.txt have?"

Without a prompt it reads prompts line by line. It asks the server at ANTHROPIC_BASE_URL with the key ANTHROPIC_API_KEY
and works in the current folder. Answers go to standard output, everything else to standard error.
"""

import ast
import asyncio
import inspect
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from anthropic import APIError, AsyncAnthropic

from harness.hooks import Hook, HookAnswer, HookCall, HookPoint, hook
from harness.permissions import Allow, Ask, Deny, Mode, PermissionRequest, Permissions, RuleBook, Surroundings
from harness.tools.tool import ArgumentError, Tool, ToolContext
from harness.tools.toolbox import standard_tools
from harness.tools.workspace import Workspace

MODEL = os.environ.get("MY_AGENT_MODEL", "claude-sonnet-5-5")
MAX_TOKENS = 8_000
FLAGS = ("--yolo", "--continue")
ALLOW_ALL = "--yolo" in sys.argv[1:]
OUTPUTS = Path(tempfile.gettempdir(), "my_agent")
"""Files for results too long for the history."""


def note(text: str) -> None:
    """A line for the user, outside of the answer."""
    print(text, file=sys.stderr, flush=True)


def permissions_here() -> Permissions:
    """Reading is allowed, everything else is asked about; `--yolo` allows all."""
    around = Surroundings(str(Path.cwd().resolve()), str(Path.home().resolve()))
    return Permissions(Mode.YOLO if ALLOW_ALL else Mode.ASK, book=RuleBook(around))


def ask_user(question: str) -> bool:
    """Whether the user allows it; without a terminal the answer is no."""
    if not sys.stdin.isatty():
        return False
    print(f"? {question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


@hook("before_tool", tools="write_file|edit_file", required=True)
def keys_stay(call: HookCall) -> HookAnswer | None:
    """Block writes to the file with the keys."""
    return HookAnswer(block=".env holds keys; leave it alone") if Path(call.input["path"]).name == ".env" else None


@hook("after_tool", tools="write_file|edit_file")
def python_parses(call: HookCall) -> HookAnswer | None:
    """Context: the written file is checked at once."""
    path = Path(call.workspace, str(call.input["path"]))
    if path.suffix == ".py" and call.outcome == "ok":
        try:
            ast.parse(path.read_text("utf-8"))
        except SyntaxError as error:
            return HookAnswer(context=f"{path.name} is no Python, line {error.lineno}: {error.msg}")
    return None


HOOKS: tuple[Hook, ...] = (keys_stay, python_parses)


class Agent:
    """One conversation."""

    def __init__(self) -> None:
        self.client = AsyncAnthropic(api_key=os.environ.get("ANTHROPIC_API_KEY") or "none")
        self.messages: list[Any] = []
        self.permissions = permissions_here()
        self.tools = {tool.name: tool for tool in self.own_tools()}

    def own_tools(self) -> tuple[Tool, ...]:
        """What the model may ask for: files, search and a shell."""
        return standard_tools()

    async def run(self, prompt: str) -> str:
        """Ask the model until it asks for no more tools; returns its last text."""
        self.add("user", [{"type": "text", "text": prompt}])
        while True:
            reply = await self.ask()
            self.add("assistant", reply)
            calls = [block for block in reply if block["type"] == "tool_use"]
            if not calls:
                return "".join(block["text"] for block in reply if block["type"] == "text")
            self.add("user", [await self.result(call) for call in calls])

    def add(self, role: str, content: list[Any]) -> None:
        """Append a message to the history."""
        self.messages.append({"role": role, "content": content})

    async def ask(self) -> list[Any]:
        """The blocks of the model's reply to the history."""
        tools: Any = [tool.spec() for tool in self.tools.values()]
        reply = await self.client.messages.create(
            model=MODEL, max_tokens=MAX_TOKENS, tools=tools, messages=self.messages
        )
        return [block.model_dump(mode="json", exclude_none=True) for block in reply.content]

    async def result(self, call: Any) -> Any:
        """The block that answers a tool call. A mistake of the model gets an error result."""
        note(f"○ {call['name']} {call['input']}")
        text, failed = await self.called(call)
        return {"type": "tool_result", "tool_use_id": call["id"], "content": text, "is_error": failed}

    async def called(self, call: Any) -> tuple[str, bool]:
        """The text of a call's result, and whether it failed."""
        tool = self.tools.get(call["name"])
        if tool is None:
            return f"There is no tool {call['name']}; there are {', '.join(self.tools)}.", True
        try:
            arguments = tool.parse(call["input"])
        except ArgumentError as error:
            return str(error), True
        if (denied := await self.denied(tool, call)) is not None:
            return denied, True
        before = await self.hooked(HookPoint.BEFORE_TOOL, call)
        if blocked := " ".join(answer.block for answer in before if answer.block):
            return f"A hook refused this call: {blocked}.", True
        text, failed = await self.use(tool, call, arguments)
        after = await self.hooked(HookPoint.AFTER_TOOL, call, outcome="error" if failed else "ok", result=text)
        return "\n\n".join([text, *(answer.context for answer in after if answer.context)]), failed

    async def hooked(self, point: HookPoint, call: Any, outcome: str = "", result: str = "") -> list[HookAnswer]:
        """The answers of all hooks of a point. A failed hook is ignored unless it is required."""
        about = HookCall(
            point, str(Path.cwd()), 1, tool=call["name"], input=call["input"], outcome=outcome, result=result
        )
        answers: list[HookAnswer] = []
        for one in HOOKS:
            if one.concerns(about) and callable(one.action):
                try:
                    answer = one.action(about)
                    answers.append((await answer if inspect.isawaitable(answer) else answer) or HookAnswer())
                except Exception as error:  # noqa: BLE001 (one hook must not end the turn)
                    note(f"! the hook {one.name} failed: {error}")
                    answers += [HookAnswer(block="it failed, and is required")] if one.required else []
        return answers

    async def denied(self, tool: Tool, call: Any) -> str | None:
        """Why a call may not run, as a sentence for the model; None: it may run."""
        line = tool.summarise(call["input"])
        request = PermissionRequest(call["id"], tool.name, tool.effect, line, line, call["input"])
        match self.permissions.decide(request):
            case Allow():
                return None
            case Deny() as no:
                return no.message
            case Ask(why=why):
                allowed = await asyncio.to_thread(ask_user, f"{tool.name} {line} ({why})")
                return None if allowed else f"The user did not allow this call: {why}."

    async def use(self, tool: Tool, call: Any, arguments: Any) -> tuple[str, bool]:
        """Run a tool."""
        result = await tool.run(ToolContext(Workspace(Path.cwd()), OUTPUTS, call["id"]), arguments)
        return result.content, result.outcome != "ok"


async def main(arguments: list[str]) -> int:
    """Answer the prompt of the command line, or the lines of standard input; returns the exit code."""
    agent, code = Agent(), 0
    arguments = [word for word in arguments if word not in FLAGS]
    for prompt in [" ".join(arguments)] if arguments else sys.stdin:
        try:
            if prompt.strip():
                print(await agent.run(prompt.strip()), flush=True)
        except APIError as error:
            code = 1
            note(f"my_agent: {error}")
    return code


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
