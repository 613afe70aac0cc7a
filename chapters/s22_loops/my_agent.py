"""An agent of your own. Chapter s22: an agent that repeats itself gets a message, and is then stopped.

    python my_agent.py "How many lines does notes.txt have?"

Without a prompt it reads prompts line by line. It asks the server at ANTHROPIC_BASE_URL with the key ANTHROPIC_API_KEY
and works in the current folder. Answers go to standard output, everything else to standard error.
The tasks are in .my_agent/board.sqlite; every program that runs in this folder works on the same ones.
So is the schedule: .my_agent/schedule.sqlite; its times are in the time zone TZ, or UTC.
With --work it claims tasks from the board, until none is left that can be done.
With --worktree=NAME it works in a worktree of that name.
With --tokens=NUMBER it stops when all its agents together have used that many tokens.
The MCP servers of .mcp.json are started if the user says yes.
"""

import ast
import asyncio
import inspect
import itertools
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from harness.events import Failure, Fault, Message, PlanItem, Reply, TransitionCode
from harness.events.tasks import TaskChanged
from harness.events.team import Address, MailKind, RequestChanged, RequestKind, RequestMade
from harness.hooks import Hook, HookAnswer, HookCall, HookPoint, hook
from harness.mcp.config import from_file, of_folder
from harness.mcp.connection import Callbacks
from harness.mcp.servers import McpServers
from harness.mcp.tools import ForeignTools
from harness.memory import MemoryBook, MemoryOwner, MemoryStore, keeping_tools, recall_tool
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked
from harness.model.notices import mail_text, plan_first, request_changed, request_text, scheduled_prompt
from harness.model.prompt import standard_sections, system_blocks, with_breakpoints
from harness.permissions import Allow, Ask, Deny, Mode, PermissionRequest, Permissions, RuleBook, Surroundings
from harness.policies import recovery
from harness.policies.breakers.decisions import CallPermit, Finish, PauseTurn, Skip
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.repeat_detector import RepeatTail
from harness.policies.protocols.requests import Request, RequestFold, RequestRefused, digest_of, move, role_of
from harness.policies.protocols.table import RequestEffect, RequestMessage
from harness.policies.recovery import RecoveryLimits, Situation, Stop, TurnState
from harness.policies.recovery.cut_replies import cap_for
from harness.policies.schedule.decisions import Fire, look, taken
from harness.policies.schedule.job import JobKind, ScheduledJob, ScheduleLimits
from harness.policies.tasks.decisions import Changes
from harness.policies.tasks.task import Actor, Role
from harness.policies.team.mail import MailDraft, MailRefused, name_problem
from harness.processes import Processes
from harness.schedule.recurrence import CronTimes, WhenError, parse_when, passed, preview, until_next
from harness.schedule.store import ScheduleStore
from harness.tasks import TaskBoard, this_process
from harness.tasks.tools import board_tools
from harness.tasks.work import TaskWork
from harness.team.mail import SqliteMail
from harness.tools.tool import ArgumentError, Effect, Tool, ToolContext, tool
from harness.tools.toolbox import standard_tools
from harness.tools.workspace import Workspace
from harness.worktrees import WorktreeError, Worktrees

ADDRESS = os.environ.get("ANTHROPIC_BASE_URL") or "https://api.anthropic.com"
MODEL = os.environ.get("MY_AGENT_MODEL", "claude-sonnet-5-5")
FALLBACKS = tuple(filter(None, [os.environ.get("MY_AGENT_FALLBACK_MODEL")]))
WINDOW, MOST_OUTPUT = 200_000, 64_000
LIMITS = RecoveryLimits()
GO_ON_TEXT = "Continue exactly where you stopped, without repeating anything and without a remark."
FLAGS = ("--yolo", "--continue", "--work")
GO_ON = "--continue" in sys.argv[1:]
WORKS = "--work" in sys.argv[1:]
LOOK_S = 2.0
"""Seconds between two looks at a board whose tasks others have."""
CLAIMED = """You have claimed this task of the board:

{}

Work on it now. End it with task_update: completed with what you checked, or failed with why."""
STATE = Path(".my_agent").resolve()
WORKTREE = "--worktree="
TREE = next((word.removeprefix(WORKTREE) for word in sys.argv[1:] if word.startswith(WORKTREE)), "")
"""Name of the worktree to work in; empty: none."""
TOKENS = "--tokens="
MOST_TOKENS = sum(int(word.removeprefix(TOKENS)) for word in sys.argv[1:] if word.startswith(TOKENS))
"""Tokens that all agents together may use; 0: no limit."""
JOURNAL = STATE / "messages.jsonl"
MOST_STEPS = 30
"""Replies that a subagent may take for its task."""
BOARD = STATE / "board.sqlite"
"""Tasks that outlive the conversation. A task claimed by one program is closed to all others."""
JOBS = STATE / "schedule.sqlite"
MAIL = STATE / "mail.sqlite"
ZONE = ZoneInfo(os.environ.get("TZ") or "UTC")
NUMBERS = itertools.count(1)
START_S, CALL_S, LONGEST_CALL_S = 20.0, 60.0, 600.0
"""Seconds for the start of an MCP server, for a call without a sign of life, and for a call in all."""
NOT_TYPED = "A notification of the program; the user has not typed anything:"
SKILLS = Path(".skills")
"""A folder for each skill, with a file SKILL.md that begins with `description: …`."""
COMPACT_AT = 400_000
"""Characters of the history, about 100,000 tokens, at which it is summarised."""
SUMMARISE = (
    "Summarise the conversation so far for yourself: the requests, the work done, the findings "
    "(names, numbers, paths), and the next steps. Write only the summary."
)
REMARK_AFTER, STOP_AFTER = 4, 6
"""Copies of the same calls with the same results, in a row."""
LONGEST_CYCLE = 8
"""Calls in the longest loop that is searched for."""
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


def board_changed(event: object) -> None:
    """Show a change of the board."""
    if isinstance(event, TaskChanged):
        note(f"· {event.task} {event.what}: {event.subject} {event.text}".rstrip())


def looked_at(job: ScheduledJob) -> ScheduledJob:
    """A job after a look at the clock; `waiting` is the fire to be answered."""
    times, now = parse_when(job.when, ZONE, 0.0), time.time()
    found = look(job, passed(times, job.done_until, now, 0.0), now, resumed=False, limits=ScheduleLimits())
    return found.job if isinstance(found, Fire) else job


async def declined(server: str, form: Any) -> Any:
    """The answer to a server that wants the user to fill in a form."""
    from mcp.types import ElicitResult

    return ElicitResult(action="decline")


def servers() -> McpServers:
    """The MCP servers of the folder, if there are any and the user says yes."""
    found = from_file(Path(".mcp.json"), own=False)
    agreed = bool(found.servers) and (ALLOW_ALL or ask_user(f"start the MCP servers {found}, as .mcp.json says?"))
    return McpServers(
        of_folder(found, agreed),
        processes=Processes(),
        workspace=Path.cwd(),
        state=BOARD.parent.resolve(),
        callbacks=Callbacks(elicit=declined, roots=lambda: (Path.cwd(),)),
        tools=ForeignTools(characters=40_000, idle_s=CALL_S, longest_s=LONGEST_CALL_S, waiting=lambda: False),
        connect_s=START_S,
    )


class Failed(Exception):  # noqa: N818
    """The turn has ended without an answer."""


class Agent:
    """One conversation; `parent` is the agent that started this one, `member` its name in the team."""

    def __init__(
        self, parent: "Agent | None" = None, foreign: tuple[Tool, ...] = (), member: str = "", gated: bool = False
    ) -> None:
        self.parent, self.gated = parent, gated
        self.foreign: tuple[Tool, ...] = parent.foreign if parent else foreign
        self.client: ModelClient = parent.client if parent else client()
        self.steps = 0
        self.spent: Counter[str] = parent.spent if parent else Counter()
        self.messages: list[Message] = []
        self.plan: tuple[PlanItem, ...] = ()
        self.quiet_steps = 0
        if GO_ON and parent is None:
            self.load()
        elif parent is None:
            JOURNAL.unlink(missing_ok=True)
        self.permissions = permissions_here()
        self.skills = skills()
        self.memory = MemoryBook(MemoryStore({MemoryOwner.PROJECT: STATE / "memory"}, now=time.time))
        self.name: str = f"{parent.name}/{next(NUMBERS)}" if parent else f"my_agent-{os.getpid()}"
        self.board: TaskBoard = parent.board if parent else TaskBoard(BOARD.resolve(), this_process(self.name))
        self.work = TaskWork(self.board, Actor(self.name, Role.AGENT if parent else Role.LEAD), emit=board_changed)
        self.jobs: ScheduleStore = parent.jobs if parent else ScheduleStore(JOBS.resolve(), this_process(self.name))
        self.fired: tuple[int, str] | None = None
        self.mail: SqliteMail = parent.mail if parent else SqliteMail(MAIL.resolve())
        self.address = self.mail.begin(member) if member else Address("lead", 0)
        self.members: dict[str, Agent] = parent.members if parent else {}
        self.requests: RequestFold = parent.requests if parent else RequestFold()
        self.processes = Processes()
        self.running: dict[str, asyncio.Task[None]] = parent.running if parent and member else {}
        self.ends: list[str] = []
        self.tools = {tool.name: tool for tool in self.own_tools()}
        self.prompt = self.system()
        self.breakers = BreakerRegistry(self.tools)
        self.step = 0
        self.calls = RepeatTail(LONGEST_CYCLE)

    def own_tools(self) -> tuple[Tool, ...]:
        """The tools: files, search, a shell, and subagents that cannot start further ones."""
        tools = (
            *standard_tools(),
            *self.foreign,
            recall_tool(self.memory),
            *([self.skill_tool()] if self.skills else []),
        )
        tools = (*tools, *board_tools(self.work), *self.team_tools(), *(() if self.parent else (self.schedule_tool(),)))
        return (
            tools if self.parent else (*tools, *keeping_tools(self.memory), self.agent_tool(), self.background_tool())
        )

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

    def background_tool(self) -> Tool:
        """The tool that starts a command in the background."""

        @tool(effect=Effect.RUN)
        async def background(command: str) -> str:
            """Start a shell command and return at once. You are notified when it ends; do not wait or poll."""
            id, shell = f"b{next(NUMBERS)}", ["bash", "-c", command]
            output = OUTPUTS / f"{self.name}-{id}.txt"
            child = await self.processes.start(shell, cwd=Path.cwd(), environment=os.environ, output=output)
            self.running[id] = asyncio.create_task(self.watch(id, command, child, output))
            return f"{id} runs; its output goes to {output}."

        return background

    async def watch(self, id: str, command: str, child: Any, output: Path) -> None:
        """Wait for the end of a command and keep its notice for the next request."""
        result = await child.wait()
        end = output.read_text("utf-8", "replace")[-2_000:]
        self.ends.append(f"{id} ended with exit code {result.exit_code}: {command}\n{end}")
        del self.running[id]

    def notifications(self) -> list[Any]:
        """The ends that the model has not read yet, each once."""
        ends, self.ends = self.ends, []
        if mails := self.mail.unread(self.address) if self.address.generation else ():
            self.mail.read(self.address, mails[-1].id)
        ends += [mail_text(mail.id, mail.sender.name, mail.kind, mail.body) for mail in mails]
        return [{"type": "text", "text": "\n".join([NOT_TYPED, *ends])}] if ends else []

    async def next_end(self) -> str:
        """Wait until a command in the background has ended, or mail has come; "": nothing runs and nobody works."""
        while not (found := text_of(self.notifications())) and self.running:
            await asyncio.wait(self.running.values(), return_when=asyncio.FIRST_COMPLETED)
        return found

    def team_tools(self) -> tuple[Tool, ...]:
        """The tools of the lead and of members. A member keeps its history; mail begins its next task."""

        @tool(effect=Effect.DELEGATE)
        async def member(name: str, task: str, plans_first: bool = False) -> str:
            """Start a member with its first task. It works beside you, and its answer arrives as mail."""
            if problem := name_problem(name, self.members):
                return problem
            self.address = self.address if self.members else self.mail.begin("lead")
            self.members[name] = Agent(self, member=name, gated=plans_first)
            return self.write(name, task)

        @tool(effect=Effect.READ)
        async def message(to: str, text: str) -> str:
            """Write to a member, or to the lead. The answer arrives as mail; do not wait for it."""
            return self.write(to, text)

        @tool(effect=Effect.READ)
        async def plan(text: str) -> str:
            """Ask the lead to approve a plan, before you write or run anything. The answer arrives as mail."""
            for earlier in self.requests.plans(self.address):
                self.say(earlier.id, RequestMessage.WITHDRAW)
            id, lead = self.requests.next_id, (self.parent or self).address
            self.requests.on_event(RequestMade(id, RequestKind.PLAN, self.address, lead, text, digest_of(text)))
            return self.bring(self.requests.plans(self.address)[-1])

        @tool(effect=Effect.READ)
        async def answer(id: str, say: Literal["agree", "decline"], text: str = "", digest: str = "") -> str:
            """Answer a request that reached you as mail."""
            return self.say(id, RequestMessage(say), text, digest)

        return (message, plan) if self.address.generation else () if self.parent else (member, message, answer)

    def bring(self, plan: Request, state: str = "") -> str:
        """Write a plan of this member to the lead; `state`: it was brought before."""
        text = request_text(plan.id, plan.kind, f"{plan.asker.name} to lead", state, plan.text, plan.digest)
        return self.write("lead", text, MailKind.REQUEST)

    def say(self, id: str, message: RequestMessage, text: str = "", digest: str = "", role: Any = None) -> str:
        """Say something about a request, as this agent or in another role. What is not in the table changes nothing."""
        if (plan := self.requests.get(id)) is None:
            return f"There is no request {id!r}."
        done = move(plan, message, role or role_of(plan, self.address), digest)
        if isinstance(done, RequestRefused):
            return done.reason
        self.requests.on_event(RequestChanged(plan.id, done.to, role or self.address.name, text))
        match done.effects:
            case (RequestEffect.TELL_ASKER,):
                self.write(plan.asker.name, f"{request_changed(plan.id, plan.kind, done.to)} {role or 'lead'}: {text}")
            case (RequestEffect.REMIND,):
                self.members[plan.asker.name].bring(plan, done.to)
            case (RequestEffect.ASK_USER,):
                self.say(id, RequestMessage("agree" if ask_user(plan.text) else "decline"), "", plan.digest, "user")
        return f"{plan.id} is {done.to}."

    async def late(self) -> str:
        """Nobody works: that is the deadline of each request that waits. Returns the next prompt."""
        for plan in self.requests.waiting:
            self.say(plan.id, RequestMessage.DEADLINE_OF_LEAD, role="program")
        return await self.next_end()

    def write(self, to: str, text: str, kind: MailKind = MailKind.MESSAGE) -> str:
        """Append a message. The sender is this agent, whatever the text says; an idle member begins to work."""
        sent = self.mail.send(MailDraft(self.address, (to,), text, kind))
        if isinstance(sent, MailRefused):
            return sent.reason
        if to in self.members and to not in self.running and sent[0].begins_work:
            self.running[to] = asyncio.create_task(self.members[to].work_on_mail())
        return f"Message {sent[0].id} is in the mailbox of {to}."

    async def work_on_mail(self) -> None:
        """The tasks of a member, until it has no mail; the lead gets its last words."""
        while mail := text_of(self.notifications()):
            self.steps = 0
            try:
                words = await self.run(mail)
            except Failed as error:
                words = f"I did not finish: {error}."
            self.write("lead", words)
        del self.running[self.address.name]

    async def answer(self, prompt: str) -> str:
        """Answer a prompt, then wait for the commands that it started."""
        answer = await self.run(prompt)
        while end := await self.next_end() or await self.late() or await self.next_fire():
            answer += "\n" + await self.run(end)
        return answer

    def schedule_tool(self) -> Tool:
        """The tool that schedules a prompt."""

        @tool(effect=Effect.RUN)
        def schedule(when: str, prompt: str) -> str:
            """Schedule a prompt: `in 3 minutes`, `at 09:30`, or five cron fields."""
            now = time.time()
            try:
                times = parse_when(when, ZONE, now)
            except WhenError as error:
                return str(error)
            kind = JobKind.RECURRING if isinstance(times, CronTimes) else JobKind.ONCE
            job = ScheduledJob(0, str(times), ZONE.key, prompt, kind, lasting=True, done_until=now)
            return f"{self.jobs.add(job).id} fires at {', '.join(preview(times, now))}; now: {time.ctime(now)}"

        return schedule

    async def next_fire(self) -> str:
        """The next due prompt, recorded as begun; waits for jobs that fire once. "": nothing is planned."""
        if self.fired:
            self.jobs.change(self.fired[0], partial(taken, fire_id=self.fired[1]))
        while JOBS.exists() and self.jobs.own():
            planned = self.jobs.jobs().values()
            for job in filter(None, [self.jobs.change(job.number, looked_at) for job in planned]):
                if fire := job.waiting:
                    self.fired = job.number, fire.id
                    note(f"· {job.id} fires: {job.prompt}")
                    due, now = time.ctime(fire.due), time.ctime()
                    return scheduled_prompt(job.prompt, fire=fire.id, due=due, now=now, missed=fire.missed, last=False)
            once = [parse_when(job.when, ZONE, 0.0) for job in planned if job.kind is JobKind.ONCE]
            if not (due_at := [at for times in once if (at := until_next(times, time.time(), 0.0))]):
                return ""
            await asyncio.sleep(min(due_at) - time.time())
        return ""

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
            other = Agent(self)
            try:
                return await other.run(prompt)
            except Failed as error:
                return f"The agent did not finish: {error}. This is no answer."
            finally:
                await other.work.aclose()

        return agent

    async def run(self, prompt: str) -> str:
        """Ask the model until it asks for no more tools; returns its last text."""
        self.add("user", [{"type": "text", "text": prompt}])
        self.breakers.begin_cycle()
        self.calls.clear()
        state, answer = TurnState(MODEL, FALLBACKS, attended=False), ""
        while True:
            if size(self.messages) > COMPACT_AT:
                await self.compact()
            self.step += 1
            self.breakers.begin_step(self.step)
            outcome = await self.send(self.messages, state)
            decision = recovery.decide(state, outcome, LIMITS, self.situation(self.messages))
            state = decision.state
            if decision.reason:
                note(f"· {decision.reason}")
            match decision:
                case recovery.RunTools(keep=keep, calls=calls, cut_calls=cut):
                    broken = [{"type": "tool_use", "id": one.id, "name": one.name, "input": {}} for one in cut]
                    self.add("assistant", [*keep, *broken])
                    whole = [{"id": one.id, "name": one.name, "input": one.input} for one in calls]
                    refused = [
                        self.refusal(one.id, f"Not run: the call arrived incomplete ({one.why}).") for one in cut
                    ]
                    self.add(
                        "user",
                        [
                            *await self.results(whole),
                            *refused,
                            *self.reminder(),
                            *self.notifications(),
                            *self.repetition(),
                        ],
                    )
                    answer = ""
                    self.steps += 1
                    if self.parent and self.steps > MOST_STEPS:
                        raise Failed(f"it was stopped after {MOST_STEPS} steps")
                case recovery.Continue(keep=keep):
                    self.add("assistant", list(keep))
                    answer += text_of(keep)
                    self.add("user", [{"type": "text", "text": GO_ON_TEXT}])
                case recovery.Compact() | recovery.Drain():
                    await self.compact()
                case recovery.Resend() | recovery.SwitchModel():
                    pass  # the same request again, perhaps with a larger cap or to another model
                case Stop(code=TransitionCode.COMPLETED, keep=keep):
                    self.add("assistant", list(keep))
                    return answer + text_of(keep)
                case Stop() | recovery.Repair():
                    print(answer, end="", flush=True)
                    raise Failed(decision.reason)
            if (wait := getattr(decision, "wait", None)) is not None:
                await asyncio.sleep(wait.seconds)

    def repetition(self) -> list[Any]:
        """A remark about a repetition; raises Failed if the model ignored the first."""
        copies, period = max((self.calls.copies(period), -period) for period in range(1, LONGEST_CYCLE + 1))
        if copies >= STOP_AFTER:
            raise Failed(f"stopped: the same {-period} calls with the same results, {copies} times in a row")
        if copies < REMARK_AFTER:
            return []
        text = f"The same {-period} calls were made {copies} times with the same results. Try something else or answer."
        note(f"· {text}")
        return [{"type": "text", "text": text}]

    def situation(self, history: list[Message]) -> Situation:
        """The facts that a decision needs besides the outcome."""
        return Situation(random.random(), time.time(), WINDOW, MOST_OUTPUT, size(history) // 4)

    def refusal(self, call_id: str, why: str) -> Any:
        """The result of a call that did not run."""
        return {"type": "tool_result", "tool_use_id": call_id, "content": why, "is_error": True}

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
        outcome = await self.send(history, TurnState(MODEL))
        if isinstance(outcome, Fault):
            raise Failed(outcome.message)
        return list(outcome.content)

    async def send(self, history: list[Message], state: TurnState) -> Reply | Fault:
        """One request, if the budget of all agents together allows it."""
        if MOST_TOKENS and self.spent.total() >= MOST_TOKENS:
            raise Failed(f"all of its {MOST_TOKENS} tokens are used")
        outcome = await self.ask_model(history, state)
        self.spent.update(input=outcome.usage.prompt, output=outcome.usage.output)
        return outcome

    async def ask_model(self, history: list[Message], state: TurnState) -> Reply | Fault:
        """One request, with a second cache breakpoint on the newest message."""
        cap = cap_for(state, LIMITS, self.situation(history))
        specs = tuple(tool.spec() for tool in self.tools.values())
        request = ModelRequest(
            state.model, cap, self.prompt, specs, with_breakpoints(history), estimated_tokens=size(history) // 4
        )
        return await self.client.send(request, emit=lambda event: None, interrupt=asyncio.Event())

    async def result(self, call: Any) -> Any:
        """The block that answers a tool call. A mistake of the model gets an error result."""
        note(f"○ {call['name']} {call['input']}")
        text, failed = await self.called(call)
        self.calls.push(json.dumps([call["name"], call["input"], text], sort_keys=True, default=str))
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
        decision = self.breakers.decide(tool.name)
        if isinstance(decision, PauseTurn):
            raise Failed("too many tool calls have failed; look at the notes above before you continue")
        if isinstance(decision, Skip):
            others = "; ".join(route.tool for route in decision.routes if route.tool) or "nothing"
            return f"Not run: {tool.name} has failed three times and rests for a few steps. Use: {others}.", True
        text, failed = await self.use(tool, call, arguments, decision.permit)
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
        if tool.effect is not Effect.READ and (why := self.requests.blocked(self.address, plans_first=self.gated)):
            return plan_first(tool.name, why)
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

    async def use(self, tool: Tool, call: Any, arguments: Any, permit: CallPermit) -> tuple[str, bool]:
        """Run a tool and record the outcome in its breaker: a failed test is not a failure of the shell."""
        result = await tool.run(ToolContext(Workspace(Path.cwd()), OUTPUTS, call["id"]), arguments)
        failure = None if result.category is None else Failure(result.category, result.summary)
        self.breakers.record(permit, failure or Finish.OK, time.time())
        for event in self.breakers.drain_events():
            note(f"· {event}")
        if result.plan is not None:
            self.plan, self.quiet_steps = result.plan, 0
        return result.content, result.outcome != "ok"


async def prompts(agent: Agent, arguments: list[str]) -> AsyncIterator[str]:
    """The prompt of the command line, or the lines of standard input; with --work the tasks that the agent claims."""
    if not WORKS:
        for prompt in [" ".join(arguments)] if arguments else sys.stdin:
            yield prompt
    while WORKS:
        claimed = await agent.work.claim()
        if isinstance(claimed, Changes):
            yield CLAIMED.format(await agent.work.described(claimed.tasks[0].id))
            await agent.work.give_back("its turn ended without a result")
        elif any(task.claim for task in (await agent.work.tasks()).values()):
            await asyncio.sleep(LOOK_S)  # another program has a task, and may give it back
        else:
            return


async def main(arguments: list[str]) -> int:
    """Answer the prompt of the command line, or the lines of standard input; returns the exit code."""
    foreign = servers()
    foreign.start()
    await foreign.settle(START_S)
    agent, code = Agent(foreign=tuple(foreign.tools.values())), 0
    arguments = [word for word in arguments if word not in FLAGS]
    async for prompt in prompts(agent, arguments):
        try:
            if prompt.strip():
                print(await agent.answer(prompt.strip()), flush=True)
        except Failed as error:
            code = 1
            note(f"my_agent: {error}")
            await agent.work.give_back(f"its turn ended without an answer: {error}")
            if WORKS:
                break  # the fault may be its own: the others go on
    await foreign.aclose()
    await agent.processes.aclose()
    await agent.work.aclose()
    agent.board.close()
    agent.mail.close()
    agent.jobs.close()
    return code


async def in_worktree(arguments: list[str]) -> int:
    """Work in the worktree TREE, if one is asked for; it goes away at the end if nothing is in it."""
    arguments = [word for word in arguments if not word.startswith((WORKTREE, TOKENS))]
    if not TREE:
        return await main(arguments)
    here, processes = Path.cwd(), Processes()
    trees = Worktrees(processes, here, Path.home() / ".my_agent", f"my_agent-{os.getpid()}")
    try:
        tree = await trees.enter(TREE)
        os.chdir(trees.workspace_in(tree))
        note(f"· works in {tree.path} on {tree.branch}; {await trees.uncommitted()} uncommitted files are not in it")
        try:
            return await main(arguments)
        finally:
            os.chdir(here)
            left = await trees.leave(TREE)
            note("\n".join(f"· {tree.path} stays: {line}" for line in left.lines) if left else "· the worktree is gone")
    except WorktreeError as error:
        note(f"my_agent: {error}")
        return 1
    finally:
        await processes.aclose()


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(in_worktree(sys.argv[1:])))
    except KeyboardInterrupt:
        sys.exit(130)
