"""The results that the model reads of its calls."""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from harness.engine.conversation import Conversation
from harness.engine.permissions.session_rules import SessionRules
from harness.events import CutCall, Event, OutputDelta, SandboxRefused, ToolCall, ToolEnded, ToolOutcome, ToolStarted
from harness.model import notices
from harness.permissions import Allow, Deny, Mode, PermissionAnswer, PermissionRequest, Permissions
from harness.sandbox import NOTHING_MORE, Allowance, ProfileName, SandboxDenial
from harness.sandbox.landlock import landlock_version
from harness.tools.bash import BashArguments, bash_tool
from harness.tools.tool import Effect, Tool, ToolContext, ToolError, ToolResult, tool
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace
from tests.engine.cores import core_in
from tests.engine.hookless import tool_calls

pytestmark = pytest.mark.anyio


@tool(effect=Effect.READ)
def greet(name: str) -> str:
    """Greet a user by name."""
    return f"Hello, {name}."


def line(conversation: list[Event], *kinds: type[Event]) -> list[tuple[str, str]]:
    """The events of these kinds, by name and call."""
    return [(type(event).__name__, event.call_id) for event in conversation if isinstance(event, kinds)]  # type: ignore[attr-defined]


class Together:
    """Two tools whose calls wait until two of them run: one that may run beside others, and one that may not."""

    def __init__(self) -> None:
        self.most = self.running = 0

    def tools(self) -> list[Tool]:
        """Both."""

        async def run() -> str:
            self.running += 1
            self.most = max(self.most, self.running)
            for _ in range(3):
                await asyncio.sleep(0)
            self.running -= 1
            return "ran"

        @tool(effect=Effect.READ, parallel=True)
        async def beside() -> str:
            """Run beside others."""
            return await run()

        @tool(effect=Effect.READ, parallel=False)
        async def alone() -> str:
            """Run alone."""
            return await run()

        return [beside, alone]


class Unasked(Permissions):
    """Every call runs without a question."""

    def __init__(self, profile: ProfileName) -> None:
        super().__init__(Mode.ASK)
        self.profile = profile

    def decide(self, request: PermissionRequest) -> Allow:
        return Allow("as the test wants it", profile=self.profile)


@dataclass(frozen=True)
class Rules:
    """Rules that no user sees."""

    permissions: Permissions
    workspace: Workspace

    def workspace_at(self, folder: Path | None) -> Workspace:
        """There is one."""
        return self.workspace

    def remember(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow | Deny:
        """Nothing is asked."""
        return self.permissions.remember(request, answer)


async def test_a_call_that_ran_keeps_its_result_beside_a_cut_one_of_the_same_id(tmp_path: Path) -> None:
    calls, _ = tool_calls(core_in(tmp_path, permission_mode="ask"), Toolbox([greet]))
    cut = CutCall("call_1", "greet", "its id was already used by another call of the same reply")
    results = await calls.answer([ToolCall("call_1", "greet", {"name": "Ada"})], [cut], asyncio.Event())
    ran, refused = results.blocks
    assert (ran["content"], ran.get("is_error")) == ("Hello, Ada.", None)
    assert refused["content"].startswith("Not run")
    assert refused["is_error"]


class Held(Permissions):
    """Every call runs as the sandbox holds it, with what the line was refused before."""

    def __init__(self, profile: ProfileName) -> None:
        super().__init__(Mode.ASK)
        self.profile = profile
        self.requests: list[PermissionRequest] = []

    def decide(self, request: PermissionRequest) -> Allow:
        self.requests.append(request)
        looks = self.profile is not ProfileName.WORK
        return Allow("as the test wants it", profile=self.profile, allowance=request.refused, looks=looks)


@pytest.mark.parametrize("profile", ProfileName)
async def test_what_the_sandbox_refused_is_known_at_the_next_call_of_the_same_line(
    profile: ProfileName, tmp_path: Path
) -> None:
    core, gate, contexts = (
        core_in(tmp_path, Conversation((seen := list[Event]()).append)),
        Held(profile),
        list[ToolContext](),
    )

    async def run(context: ToolContext, arguments: BashArguments) -> ToolResult:
        contexts.append(context)
        (tmp_path / str(len(contexts))).mkdir()
        denials = (SandboxDenial("host", "localhost:1"), SandboxDenial("path", f"{tmp_path}/{len(contexts)}/new"))
        return ToolResult("refused", denials=denials)

    rules = cast("SessionRules", Rules(gate, core.shared.rules.workspace))
    tool = replace(bash_tool(), run=run)
    calls, _ = tool_calls(replace(core, shared=replace(core.shared, rules=rules)), Toolbox([tool]))
    for number, line in enumerate(("make", "make", "other")):
        await calls.answer([ToolCall(f"call_{number}", "bash", {"command": line})], [], asyncio.Event())
    expected = [NOTHING_MORE, Allowance((f"{tmp_path}/1",), ("localhost:1",)), NOTHING_MORE]
    free = profile is ProfileName.FREE
    assert [request.refused for request in gate.requests] == ([NOTHING_MORE] * 3 if free else expected)
    assert [context.terms.allowance for context in contexts] == [request.refused for request in gate.requests]
    assert {context.profile for context in contexts} == {profile}
    assert {context.unasked for context in contexts} == {profile is not ProfileName.WORK}
    both = [
        (f"call_{one}", what, profile.value)
        for one in range(3)
        for what in ("localhost:1", f"{tmp_path}/{one + 1}/new")
    ]
    refused = [] if free else both
    reported = (event for event in seen if isinstance(event, SandboxRefused))
    assert [(event.call_id, event.subject, event.profile) for event in reported] == refused


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
@pytest.mark.parametrize("profile", [ProfileName.LOOK, ProfileName.FREE])
async def test_a_call_is_held_to_looking_only_where_that_is_why_no_question_was_asked(
    profile: ProfileName, tmp_path: Path
) -> None:
    core = core_in(tmp_path, sandbox="auto")
    rules = cast("SessionRules", Rules(Unasked(profile), core.shared.rules.workspace))
    calls, _ = tool_calls(replace(core, shared=replace(core.shared, rules=rules)), Toolbox([bash_tool()]))
    try:
        await calls.answer([ToolCall("call_1", "bash", {"command": "touch new"})], [], asyncio.Event())
    finally:
        await core.shared.processes.aclose()
    assert (core.settings.workspace / "new").exists() is (profile is ProfileName.FREE)


@pytest.mark.parametrize(("name", "at_once"), [("beside", 3), ("alone", 1)])
async def test_calls_of_one_reply_run_together_only_if_their_tool_says_so(
    tmp_path: Path, name: str, at_once: int
) -> None:
    together, seen = Together(), list[Event]()
    toolbox, conversation = Toolbox(together.tools()), Conversation(seen.append)
    calls, _ = tool_calls(core_in(tmp_path, conversation, permission_mode="ask"), toolbox)
    asked = [ToolCall(f"c{number}", name, {}) for number in range(3)]
    results = await calls.answer(asked, [], asyncio.Event())
    assert [block["content"] for block in results.blocks] == ["ran"] * 3
    assert together.most == at_once
    started, ended = line(seen, ToolStarted), line(seen, ToolEnded)
    assert [id for _, id in started] == [id for _, id in ended] == ["c0", "c1", "c2"]


async def test_a_call_that_must_run_alone_waits_for_those_before_it_and_holds_those_after(tmp_path: Path) -> None:
    together, seen = Together(), list[Event]()
    toolbox, conversation = Toolbox(together.tools()), Conversation(seen.append)
    calls, _ = tool_calls(core_in(tmp_path, conversation, permission_mode="ask"), toolbox)
    names = ["beside", "beside", "alone", "beside", "unheard_of", "beside"]
    asked = [ToolCall(f"c{number}", name, {}) for number, name in enumerate(names)]
    results = await calls.answer(asked, [], asyncio.Event())
    assert [block["tool_use_id"] for block in results.blocks] == [call.id for call in asked]
    assert together.most == 2
    order = [(kind.removeprefix("Tool"), id) for kind, id in line(seen, ToolStarted, ToolEnded)]
    assert order.index(("Started", "c2")) > max(order.index(("Ended", "c0")), order.index(("Ended", "c1")))
    assert order.index(("Started", "c3")) > order.index(("Ended", "c2"))


@pytest.mark.parametrize(
    ("call", "says_so"),
    [
        (ToolCall("c1", "greets", {"name": "Ada"}), "There is no tool called greets; did you mean greet?"),
        (ToolCall("c1", "xyz", {}), "There is no tool called xyz; there are greet."),
        (ToolCall("c1", "greet", {}), "name"),
        (ToolCall("c1", "greet", {"name": "Ada", "loud": True}), "loud"),
    ],
    ids=["nearly a tool", "no tool", "an argument is missing", "an argument too many"],
)
async def test_a_call_that_cannot_be_run_is_answered_as_wrong(tmp_path: Path, call: ToolCall, says_so: str) -> None:
    seen: list[Event] = []
    calls, _ = tool_calls(core_in(tmp_path, Conversation(seen.append), permission_mode="ask"), Toolbox([greet]))
    (result,) = (await calls.answer([call], [], asyncio.Event())).blocks
    assert says_so in result["content"]
    assert result["is_error"]
    assert line(seen, ToolStarted) == []
    (ended,) = [event for event in seen if isinstance(event, ToolEnded)]
    assert (ended.outcome, ended.duration_s) == (ToolOutcome.INVALID, 0.0)


async def test_a_tool_that_raises_is_answered_as_broken_and_the_others_have_their_results(tmp_path: Path) -> None:
    @tool(effect=Effect.READ, parallel=True)
    def breaks() -> str:
        """Break."""
        raise ZeroDivisionError("division by zero")

    toolbox = Toolbox([greet, breaks])
    calls, _ = tool_calls(core_in(tmp_path, permission_mode="ask"), toolbox)
    asked = [ToolCall("c1", "breaks", {}), ToolCall("c2", "greet", {"name": "Ada"})]
    broken, fine = (await calls.answer(asked, [], asyncio.Event())).blocks
    assert broken["content"] == "breaks failed: ZeroDivisionError: division by zero"
    assert broken["is_error"]
    assert fine["content"] == "Hello, Ada."


async def test_an_interrupted_command_keeps_what_it_had_written(tmp_path: Path) -> None:
    interrupt, seen = asyncio.Event(), list[Event]()

    def on_event(event: Event) -> None:
        seen.append(event)
        if isinstance(event, OutputDelta):
            interrupt.set()

    calls, _ = tool_calls(core_in(tmp_path, Conversation(on_event), permission_mode="yolo"), Toolbox([bash_tool()]))
    asked = [ToolCall("c1", "bash", {"command": "echo before; sleep 0.5; echo more; sleep 60"})]
    (block,) = (await calls.answer(asked, [], interrupt)).blocks
    assert block["content"].startswith(notices.INTERRUPTED_RESULT)
    assert "before" in block["content"]
    (ended,) = [event for event in seen if isinstance(event, ToolEnded)]
    assert (ended.outcome, ended.detail.partition("\n")[0]) == (ToolOutcome.CANCELLED, "before")


async def test_an_interruption_ends_the_call_that_runs_and_those_after_it_do_not_begin(tmp_path: Path) -> None:
    interrupt, seen = asyncio.Event(), list[Event]()

    @tool(effect=Effect.READ)
    async def waits() -> str:
        """Wait without an end."""
        interrupt.set()
        await asyncio.Event().wait()
        return "never"

    toolbox, conversation = Toolbox([waits, greet]), Conversation(seen.append)
    calls, _ = tool_calls(core_in(tmp_path, conversation, permission_mode="ask"), toolbox)
    asked = [ToolCall("c1", "waits", {}), ToolCall("c2", "greet", {"name": "Ada"})]
    results = await calls.answer(asked, [], interrupt)
    assert [block["tool_use_id"] for block in results.blocks] == ["c1", "c2"]
    assert [block["content"] for block in results.blocks] == [notices.INTERRUPTED_RESULT, notices.CANCELLED_RESULT]
    assert line(seen, ToolStarted) == [("ToolStarted", "c1")]
    outcomes: list[Any] = [event.outcome for event in seen if isinstance(event, ToolEnded)]
    assert outcomes == [ToolOutcome.CANCELLED] * 2


async def test_what_would_ask_is_denied_without_a_user_and_changes_nothing(tmp_path: Path) -> None:
    @tool(effect=Effect.WRITE)
    def note(text: str) -> str:
        """Write a note."""
        (tmp_path / "note").write_text(text)
        return "written"

    seen: list[Event] = []
    calls, _ = tool_calls(core_in(tmp_path, Conversation(seen.append), permission_mode="ask"), Toolbox([note]))
    (result,) = (await calls.answer([ToolCall("c1", "note", {"text": "x"})], [], asyncio.Event())).blocks
    assert result["is_error"]
    assert not (tmp_path / "note").exists()
    assert [event.outcome for event in seen if isinstance(event, ToolEnded)] == [ToolOutcome.DENIED]


async def test_the_text_of_a_failure_is_reported_whole_where_its_summary_is_cut(tmp_path: Path) -> None:
    @tool(effect=Effect.READ)
    def strict(text: str) -> str:
        """Refuse."""
        raise ToolError(text)

    core = core_in(tmp_path)
    seen: list[Event] = []
    core.conversation.subscribe(seen.append)
    calls, _ = tool_calls(core, Toolbox([strict]))
    for text in ("short", "long " * 30, "two\nlines", "x" * 9_000):
        await calls.answer([ToolCall("call_1", "strict", {"text": text})], [], asyncio.Event())
        ended = [event for event in seen if isinstance(event, ToolEnded)][-1]
        assert ended.detail == ("" if text == "short" else text[:4_000])
