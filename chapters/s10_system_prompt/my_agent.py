"""An agent of your own. Chapter s10: a system prompt of parts whose bytes stay the same, so that it is cached.

    python my_agent.py "How many lines does notes.txt have?"

Without a prompt it reads prompts line by line. It asks the server at ANTHROPIC_BASE_URL with the key ANTHROPIC_API_KEY
and works in the current folder. Answers go to standard output, everything else to standard error.
"""

import ast
import asyncio
import inspect
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.events import Fault, Message, PlanItem, Reply
from harness.hooks import Hook, HookAnswer, HookCall, HookPoint, hook
from harness.memory import MemoryBook, MemoryOwner, MemoryStore, keeping_tools, recall_tool
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked
from harness.model.prompt import standard_sections, system_blocks, with_breakpoints
from harness.permissions import Allow, Ask, Deny, Mode, PermissionRequest, Permissions, RuleBook, Surroundings
from harness.tools.tool import ArgumentError, Effect, Tool, ToolContext, tool
from harness.tools.toolbox import standard_tools
from harness.tools.workspace import Workspace

ADDRESS = os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
MODEL = os.environ.get("MY_AGENT_MODEL", "claude-sonnet-5-5")
MAX_TOKENS = 8_000
FLAGS = ("--yolo", "--continue")
GO_ON = "--continue" in sys.argv[1:]
JOURNAL = Path(".my_agent", "messages.jsonl")
MOST_STEPS = 30
"""Replies that a subagent may take for its task."""
SKILLS = Path(".skills")
"""A folder for each skill, with a file SKILL.md that begins with `description: …`."""
COMPACT_AT = 400_000
"""Characters of the history, about 100,000 tokens, at which it is summarised."""
SUMMARISE = (
    "Summarise the conversation so far for yourself: the requests, the work done, the findings "
    "(names, numbers, paths), and the next steps. Write only the summary."
)
REMIND_AFTER_STEPS = 8
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


def skills() -> dict[str, str]:
    """The text of each skill by its name."""
    found = sorted(SKILLS.glob("*/SKILL.md"))
    return {path.parent.name: path.read_text("utf-8", "replace") for path in found}


def catalogue(found: dict[str, str]) -> str:
    """One line for each skill; the model reads the rest when it needs it."""
    said = {name: re.search(r"^description: *(.+)$", text, re.MULTILINE) for name, text in found.items()}
    return "\n".join(f"- {name}: {match[1] if match else '(no description)'}" for name, match in said.items())


def text_of(blocks: Sequence[Any]) -> str:
    """The text among the blocks of a message."""
    return "".join(block["text"] for block in blocks if block["type"] == "text")


def size(messages: Sequence[Message]) -> int:
    """Characters of a history."""
    return sum(len(json.dumps(message.content)) for message in messages)


def shortened(messages: Sequence[Message]) -> list[Message]:
    """A history with shortened tool results, for a summary request."""

    def cut(block: Any) -> Any:
        long = block["type"] == "tool_result" and isinstance(block["content"], str)
        return {**block, "content": block["content"][:2_000]} if long else block

    return [Message(one.role, tuple(map(cut, one.content))) for one in messages]


def client() -> ModelClient:
    """Sends each request once; returns the reply, or raises the fault."""
    return ModelClient(
        checked(ADDRESS, api_key=os.environ.get("ANTHROPIC_API_KEY") or None, origin="ANTHROPIC_BASE_URL")
    )


def instructions() -> str:
    """Instructions of the project for agents."""
    file = Path("AGENTS.md")
    return file.read_text("utf-8", "replace") if file.exists() else ""


class Failed(Exception):  # noqa: N818
    """The turn has ended without an answer."""


class Agent:
    """One conversation; `parent` is the agent that started this one."""

    def __init__(self, parent: "Agent | None" = None) -> None:
        self.parent = parent
        self.client: ModelClient = parent.client if parent else client()
        self.steps = 0
        self.messages: list[Message] = []
        self.plan: tuple[PlanItem, ...] = ()
        self.quiet_steps = 0
        if GO_ON and parent is None:
            self.load()
        elif parent is None:
            JOURNAL.unlink(missing_ok=True)
        self.permissions = permissions_here()
        self.skills = skills()
        self.memory = MemoryBook(
            MemoryStore({MemoryOwner.PROJECT: Path(".my_agent", "memory").resolve()}, now=time.time)
        )
        self.tools = {tool.name: tool for tool in self.own_tools()}
        self.prompt = self.system()

    def own_tools(self) -> tuple[Tool, ...]:
        """The tools: files, search, a shell, and subagents that cannot start further ones."""
        tools = (*standard_tools(), recall_tool(self.memory), *([self.skill_tool()] if self.skills else []))
        return tools if self.parent else (*tools, *keeping_tools(self.memory), self.agent_tool())

    def system(self) -> tuple[Any, ...]:
        """The system prompt, made once: a cache breakpoint on its last block covers tools and system prompt."""
        listed = catalogue(self.skills)
        sections = standard_sections(
            Path.cwd(),
            sys.platform,
            instructions=instructions(),
            skills=f"Read one with the tool skill before you do such work:\n{listed}" if listed else "",
            memory=self.memory.index(keeps=self.parent is None),
            subagent=self.parent is not None,
        )
        return system_blocks(sections)

    def skill_tool(self) -> Tool:
        """The tool that reads a skill. Only names found at the start are known, so no path leads elsewhere."""

        @tool(effect=Effect.READ)
        def skill(name: str) -> str:
            """Read a skill."""
            return self.skills.get(name) or f"There is no skill {name!r}; there are {', '.join(self.skills)}."

        return skill

    def agent_tool(self) -> Tool:
        """The tool that gives a task to a subagent."""

        @tool(effect=Effect.DELEGATE, parallel=True)
        async def agent(prompt: str) -> str:
            """Let another agent with an empty history do a part of the work; returns its answer."""
            try:
                return await Agent(self).run(prompt)
            except Failed as error:
                return f"The agent did not finish: {error}. This is no answer."

        return agent

    async def run(self, prompt: str) -> str:
        """Ask the model until it asks for no more tools; returns its last text."""
        self.add("user", [{"type": "text", "text": prompt}])
        while True:
            self.steps += 1
            if self.parent and self.steps > MOST_STEPS:
                raise Failed(f"it was stopped after {MOST_STEPS} steps")
            if size(self.messages) > COMPACT_AT:
                await self.compact()
            reply = await self.ask(self.messages)
            self.add("assistant", reply)
            calls = [block for block in reply if block["type"] == "tool_use"]
            if not calls:
                return text_of(reply)
            self.add("user", [*await self.results(calls), *self.reminder()])

    async def results(self, calls: list[Any]) -> list[Any]:
        """The results of the calls of one reply; independent calls run side by side."""
        found = [self.tools.get(call["name"]) for call in calls]
        if all(one is not None and one.parallel for one in found):
            return await asyncio.gather(*map(self.result, calls))
        return [await self.result(call) for call in calls]

    def reminder(self) -> list[Any]:
        """The open items of the plan, if the model has not updated it for a while."""
        self.quiet_steps += 1
        if self.quiet_steps < REMIND_AFTER_STEPS or not any(item.is_open for item in self.plan):
            return []
        self.quiet_steps = 0
        plan = "\n".join(item.line for item in self.plan)
        return [{"type": "text", "text": f"Your plan, as you last wrote it:\n{plan}\nUse todo_write to update it."}]

    def add(self, role: Any, content: list[Any]) -> None:
        """Append a message to the history and to the journal, before anything is done about it."""
        if self.parent is None:
            self.record(role, content)
        self.append(role, content)

    def record(self, role: str, content: list[Any]) -> None:
        """Write a message to the journal."""
        JOURNAL.parent.mkdir(exist_ok=True)
        with JOURNAL.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"role": role, "content": content}) + "\n")

    def append(self, role: Any, content: list[Any]) -> None:
        """Append to the history; what follows a message of the same role joins it."""
        if self.messages and self.messages[-1].role == role:
            content = [*self.messages.pop().content, *content]
        self.messages.append(Message(role, tuple(content)))

    def load(self) -> None:
        """Take the conversation up again: a torn line is left out, a call without a result gets one."""
        text = JOURNAL.read_text("utf-8", "replace") if JOURNAL.exists() else ""
        for line in text.splitlines():
            try:
                message = json.loads(line)
            except ValueError:
                continue
            self.append(message["role"], message["content"])
        if text and not text.endswith("\n"):
            JOURNAL.write_text(text + "\n", "utf-8")
        last = self.messages[-1].content if self.messages and self.messages[-1].role == "assistant" else ()
        lost = {
            "type": "tool_result",
            "content": "Stopped before it ended; check before you repeat it.",
            "is_error": True,
        }
        if calls := [block["id"] for block in last if block["type"] == "tool_use"]:
            self.add("user", [lost | {"tool_use_id": id} for id in calls])

    async def compact(self) -> None:
        """Replace all but the newest exchange by a summary, and repeat the newest request word for word."""
        note("· the history is summarised")
        kept = 2 if any(block["type"] == "tool_result" for block in self.messages[-1].content) else 1
        older, tail = self.messages[:-kept], self.messages[-kept:]
        if not older:
            raise Failed("the newest message alone is too long; ask for less at once")
        question = Message("user", ({"type": "text", "text": SUMMARISE},))
        summary = text_of(await self.ask([*shortened(older), question]))
        request = next(
            (text_of(one.content) for one in reversed(older) if one.role == "user" and text_of(one.content)), ""
        )
        self.messages = []
        start = f"Summary of the conversation so far:\n{summary}\n\nThe latest request, word for word: {request}"
        JOURNAL.unlink(missing_ok=True)
        self.add("user", [{"type": "text", "text": start}])
        for message in tail:
            self.add(message.role, list(message.content))

    async def ask(self, history: list[Message]) -> list[Any]:
        """The blocks of the model's reply to a history."""
        outcome = await self.send(history)
        if isinstance(outcome, Fault):
            raise Failed(outcome.message)
        return list(outcome.content)

    async def send(self, history: list[Message]) -> Reply | Fault:
        """One request, with a second cache breakpoint on the newest message."""
        specs = tuple(tool.spec() for tool in self.tools.values())
        request = ModelRequest(
            MODEL, MAX_TOKENS, self.prompt, specs, with_breakpoints(history), estimated_tokens=size(history) // 4
        )
        return await self.client.send(request, emit=lambda event: None, interrupt=asyncio.Event())

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
        if result.plan is not None:
            self.plan, self.quiet_steps = result.plan, 0
        return result.content, result.outcome != "ok"


async def main(arguments: list[str]) -> int:
    """Answer the prompt of the command line, or the lines of standard input; returns the exit code."""
    agent, code = Agent(), 0
    arguments = [word for word in arguments if word not in FLAGS]
    for prompt in [" ".join(arguments)] if arguments else sys.stdin:
        try:
            if prompt.strip():
                print(await agent.run(prompt.strip()), flush=True)
        except Failed as error:
            code = 1
            note(f"my_agent: {error}")
    return code


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
