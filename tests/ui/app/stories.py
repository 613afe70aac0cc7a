"""Sessions up to the moment of each situation, as journal records."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.events import (
    AgentEnd,
    BoardCounted,
    CompactionEnded,
    CompactionStarted,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    FailureCharged,
    Fault,
    FaultKind,
    FaultOccurred,
    Health,
    ItemStatus,
    Json,
    LoopFound,
    MemberClaimed,
    MemberState,
    Message,
    MessageAdded,
    ModelSwitched,
    Origin,
    OutputCapChanged,
    PauseReported,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    ReplyReceived,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestSent,
    RequestState,
    RetryEnded,
    RetryScheduled,
    Rung,
    SilenceHint,
    StepStarted,
    TaskChanged,
    TaskState,
    TextDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    Usage,
    WaitOffered,
)
from harness.journal import read
from harness.session import Record, described
from tests.ui import members, work
from tests.ui.loops import BACK, CIRCLE, took
from tests.ui.loops import REPORT as STUCK
from tests.ui.panel.situations import (
    BEGINNING,
    FAILED,
    MODEL,
    MODEL_OPENED,
    NOW,
    OPENED,
    OTHER,
    PROBED,
    REPORT,
    ROUTE,
    SESSIONS,
    SPENT,
    TIMED_OUT,
    ended,
    next_request,
)

NAME = "20261121-0806-d4eb95"


def story(*parts: Event | float) -> tuple[Record, ...]:
    """Records of these events; a number is a pause in seconds."""
    at, records = NOW, list[Record]()
    for part in (*BEGINNING, *parts):
        if isinstance(part, Event):
            records.append(Record(len(records) + 1, at, part))
        else:
            at += part
    return tuple(records)


def recorded(name: str, until_step: int) -> tuple[Record, ...]:
    """A session that was recorded, up to the end of a step."""
    records = read(SESSIONS / f"{name}.jsonl").records
    begins = [number for number, record in enumerate(records) if isinstance(record.event, StepStarted)]
    return tuple(records[: begins[until_step]] if until_step < len(begins) else records)


def prompt(text: str) -> MessageAdded:
    """The user's prompt joins the history."""
    return MessageAdded(Message("user", ({"type": "text", "text": text},)), Origin.PROMPT)


def reply(text: str, *calls: tuple[str, str, Json]) -> tuple[Event, ...]:
    """A whole reply: its text and its calls, each an id, a tool and its input."""
    blocks = [{"type": "tool_use", "id": id, "name": tool, "input": given} for id, tool, given in calls]
    message = Message("assistant", ({"type": "text", "text": text}, *blocks))
    stop = "tool_use" if calls else "end_turn"
    return MessageAdded(message, Origin.REPLY), ReplyReceived(MODEL, stop, Usage(40_000, 300), "req_2", 1.2)


def ran(id: str, tool: str, summary: str, result: str, seconds: float = 0.1) -> tuple[Event | float, ...]:
    """A call that went well."""
    let = Dispatched(id, tool, Dispatch.CALL, DispatchReason.HEALTHY, 1, 0)
    return let, ToolStarted(id, tool, summary, {}), seconds, ToolEnded(id, tool, ToolOutcome.OK, result, seconds)


def failed(id: str, tool: str, summary: str) -> tuple[Event | float, ...]:
    """A call that timed out."""
    let = Dispatched(id, tool, Dispatch.CALL, DispatchReason.HEALTHY, 1, 0)
    end = ToolEnded(id, tool, ToolOutcome.BROKEN, "timed out after 30 s", 30.0, failure=TIMED_OUT)
    return let, ToolStarted(id, tool, summary, {}), 30.0, end


LOOK = ("a", "read_file", {"path": "src/settings.py"})
SEARCH = ("c", "grep", {"pattern": "timeout"})
ASKS = prompt("find where the config is read")
STEP_2 = (Transition(1, TransitionCode.NEXT_TURN, "read_file"), StepStarted(2))
REQUEST = RequestSent(MODEL, 8_000, 41_000, 1, "turn", 200_000)
LOOKED = (ASKS, 1.0, *reply("I look at the settings.", LOOK), *ran("a", "read_file", "src/settings.py", "40 lines"))
PLAN = (
    PlanItem("find where the config is read", ItemStatus.DONE),
    PlanItem("add a timeout to the connection that the settings describe", ItemStatus.IN_PROGRESS, ("edit_file",)),
    PlanItem("run the tests"),
)
AT_WORK = (*LOOKED, SPENT, *STEP_2, REQUEST)


def read_again(times: int) -> Iterator[Event | float]:
    """The same file is read so many times, once in each step from the second on."""
    for number in range(times):
        id = f"r{number}"
        yield from reply("I look into the notes.", (id, "read_file", {"path": "notes.txt"}))
        yield from ran(id, "read_file", "notes.txt", "12 lines")
        if number < times - 1:
            yield from next_step(number + 2)


def next_step(step: int) -> tuple[Event, ...]:
    """End of a step whose tools have run, and start of the next one."""
    return Transition(step, TransitionCode.NEXT_TURN, "read_file"), StepStarted(step + 1), REQUEST


ABOUT = ("find the tests", "mend the settings", "read the docs")
SKIP = Dispatched("c", "grep", Dispatch.SKIP, DispatchReason.OPEN, 1, 0, "it failed 3 times in a row", (ROUTE,))
CALL_FAILED = (
    *reply("I search.", SEARCH, ("c2", "grep", {"pattern": "deadline"}), ("c3", "grep", {"pattern": "limit"})),
    *failed("c", "grep", "timeout"),
    *failed("c2", "grep", "deadline"),
    *failed("c3", "grep", "limit"),
    FailureCharged("grep", TIMED_OUT, 2, 1, 1, 5),
)
"""The calls that open the breaker."""


def waits(at: float) -> RetryScheduled:
    """A retry that is due at this moment."""
    return RetryScheduled("model", FaultKind.OVERLOADED, 3, 10, 4.0, at, 529, "req_1", "Overloaded")


IN_CIRCLES: tuple[Event | float, ...] = (
    *AT_WORK,
    *read_again(4),
    LoopFound(CIRCLE, 5),
    took(Rung.NUDGE, "the model is told that it repeats itself"),
)
STUCK_HERE = replace(
    STUCK,
    step=8,
    tried=tuple(replace(attempt, step=step) for attempt, step in zip(STUCK.tried, (5, 6, 7), strict=True)),
    steps_in_loop=7,
)
CALLS = [(f"call-a{number}", "agent", {"description": about}) for number, about in enumerate(ABOUT, 1)]
AGENTS: tuple[Event | float, ...] = (
    *AT_WORK,
    *reply("Three agents look at it.", *CALLS),
    *(Dispatched(id, "agent", Dispatch.CALL, DispatchReason.HEALTHY, 1, 0) for id, _, _ in CALLS),
    *(ToolStarted(id, "agent", about, {}) for (id, _, _), about in zip(CALLS, ABOUT, strict=True)),
    *(work.LIMITS, *(work.created(f"a{number}", about) for number, about in enumerate(ABOUT, 1))),
    *(work.admitted("a1", 1, 1), work.admitted("a2", 2, 2), work.admitted("a3", 3, 3)),
    4.0,
    *(work.moved("a1"), work.moved("a2", "may write_file run?", 2, asks=True)),
    PermissionAsked("x", "write_file", "write_file settings.py", "it changes a file", "a2"),
    work.ended("a3", AgentEnd.STUCK, "it read the same file again and again", 3.5),
    2.0,
)
CROWD: tuple[Event | float, ...] = (
    *AT_WORK,
    *reply("Four hundred agents count.", *((f"call-a{n}", "agent", {"description": "count"}) for n in range(1, 401))),
    *(ToolStarted(f"call-a{n}", "agent", f"count the lines of module {n}", {}) for n in range(1, 401)),
    *work.crowd(),
    1.5,
)
IN_THE_BACKGROUND: tuple[Event | float, ...] = (
    *LOOKED,
    *(work.command("b1"), work.begun("b1"), work.command("b2", "npm init"), work.begun("b2")),
    *(work.command("b3", "pytest -q"), work.begun("b3"), work.created("a1", "read the docs", background=True)),
    *(work.LIMITS, work.admitted("a1", 1, 1), work.moved("a1", "read_file README.md", 2)),
    *(SPENT, *STEP_2, REQUEST, 2.0),
    *reply("They run."),
    *ended(TransitionCode.COMPLETED, "answered"),
    *(43.0, work.quiet("b2"), 0.5, work.over("b3", 1), 17.0),
)
ANN, BEN = members.address("ann"), members.address("ben")
A_TEAM: tuple[Event | float, ...] = (
    *LOOKED,
    *(work.LIMITS, *members.joined("ann", "a1", task="t1: read the parser"), *members.joined("ben", "a2", "tester")),
    *(*members.joined("cai", "a3", "writer", "t3: write the notes"), work.admitted("a1", 1, 1)),
    *(
        MemberClaimed(ANN, "t1", "read the parser"),
        TaskChanged("t1", "read the parser", TaskState.IN_PROGRESS, "claim", "s1/a1"),
    ),
    *(work.admitted("a2", 2, 2), work.admitted("a3", 3, 3), 40.0),
    replace(work.moved("a1", "grep load_config", 4), health=Health.LOOP),
    TaskChanged("t2", "send the release", TaskState.DEFERRED, "defer", "s1/a2", "the key of the registry is missing"),
    BoardCounted(1, 1, 2, 3, 0, 0, 1),
    RequestMade("r1", RequestKind.QUESTION, ANN, BEN, "Which of the two parsers is in use?"),
    RequestMade("r2", RequestKind.PLAN, BEN, members.LEAD, "Move the tests into one folder."),
    *(work.ended("a2"), members.changed("ben", MemberState.IDLE, "waits for lead (r2)")),
    replace(work.moved("a3", "waits 8 s to try again: overloaded", 2), health=Health.MODEL),
    *(
        600.0,
        RequestChanged("r1", RequestState.REMINDED, "program"),
        RequestChanged("r2", RequestState.WITH_USER, "program"),
    ),
    2.0,
)
STORIES: dict[str, Sequence[Record]] = {
    "calm": story(
        *LOOKED,
        SPENT,
        *STEP_2,
        REQUEST,
        2.0,
        *reply("It is in **src/settings.py**, line 12."),
        *ended(TransitionCode.COMPLETED, "answered"),
    ),
    "asking": story(*AT_WORK, 1.0),
    "plan": story(*AT_WORK, PlanChanged(PLAN), 1.0, TextDelta("It is in `src/sett")),
    "streaming": story(*AT_WORK, 1.0, TextDelta("It is in `src/sett")),
    "retry": story(*AT_WORK, 1.0, TextDelta("It is in"), FAILED, SPENT, waits(NOW + 7.1)),
    "wait-offered": story(
        *AT_WORK, FAILED, WaitOffered(1260.0, NOW + 1261.1, can_switch=True, detail="30,000 tokens per minute")
    ),
    "fallback": story(
        *AT_WORK,
        *(FAILED, waits(NOW + 5.0), 4.0, RetryEnded("due"), FAILED, MODEL_OPENED),
        ModelSwitched(MODEL, OTHER, "overloaded 3 times in a row"),
        RequestSent(OTHER, 8_000, 41_000, 1, "turn", 200_000),
    ),
    "continuation": story(
        *LOOKED,
        OutputCapChanged(8_000, 64_000, "the answer was cut off"),
        *next_request(TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE, 64_000),
        Transition(2, TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY, "cut off again", 2, 3),
        *(StepStarted(3), RequestSent(MODEL, 64_000, 60_000, 1, "turn", 200_000)),
    ),
    "compaction": story(
        *AT_WORK,
        FaultOccurred(Fault(FaultKind.PROMPT_TOO_LONG, "prompt is too long", 400), MODEL, 1),
        CompactionStarted("reactive", 212_000),
    ),
    "compacted": story(
        *AT_WORK,
        CompactionStarted("reactive", 212_000),
        *(4.0, CompactionEnded("summary", 212_000, 38_000, succeeded=True, detail="")),
        Transition(2, TransitionCode.REACTIVE_COMPACT_RETRY, "too long"),
        *(StepStarted(3), RequestSent(MODEL, 8_000, 38_000, 1, "turn", 200_000)),
    ),
    "stall": story(*AT_WORK, 1.0, TextDelta("It is in"), 22.0, SilenceHint("streaming", 22.0, 68.0)),
    "open-breaker": story(
        *LOOKED,
        *STEP_2,
        *CALL_FAILED,
        OPENED[-1],
        Transition(2, TransitionCode.NEXT_TURN, "grep"),
        StepStarted(3),
        *reply("Again.", ("d", "grep", {"pattern": "timeout"})),
        Dispatched("d", "grep", Dispatch.SKIP, DispatchReason.OPEN, 1, 0, "it failed 3 times in a row", (ROUTE,)),
    ),
    "probe": story(
        *LOOKED,
        *STEP_2,
        *CALL_FAILED,
        OPENED[-1],
        *(Transition(2, TransitionCode.NEXT_TURN, "grep"), StepStarted(4)),
        *reply("Does it work again?", ("d", "grep", {"pattern": "timeout"})),
        PROBED[-1],
        Dispatched(
            "d", "grep", Dispatch.PROBE, DispatchReason.PROBE_DUE, 2, 0, "one call shows whether it works again"
        ),
        ToolStarted("d", "grep", "timeout", {}),
    ),
    "systemic": recorded("network-gone", until_step=3),
    "grep-dies": recorded("grep-dies", until_step=99),
    "paused": story(
        *LOOKED,
        PlanChanged((PlanItem("read it"), PlanItem("ask the server", tools=("bash",)))),
        *STEP_2,
        *CALL_FAILED,
        *(FailureCharged("grep", TIMED_OUT, 2, 1, used, 5) for used in (2, 3, 4, 5)),
        OPENED[-1],
        PauseReported(REPORT),
        *ended(TransitionCode.FAILURE_BUDGET_PAUSED, "the failure budget of this turn is used up"),
    ),
    "permission": story(
        *AT_WORK,
        *reply("I clean up.", ("b", "bash", {"command": "rm -rf build"})),
        Dispatched("b", "bash", Dispatch.CALL, DispatchReason.HEALTHY, 1, 0),
        PermissionAsked("b", "bash", "rm -rf build", "it runs a program"),
    ),
    "agents": story(*AGENTS),
    "crowd": story(*CROWD),
    "background": story(*IN_THE_BACKGROUND),
    "team": story(*A_TEAM),
    "loop-nudged": story(*IN_CIRCLES, *next_step(5), 1.0),
    "loop-stopped": story(
        *IN_CIRCLES,
        *next_step(5),
        *read_again(1),
        took(Rung.SUBSTITUTE, "bash in place of read_file; loses: line numbers"),
        *next_step(6),
        *reply("Once more.", ("v", "read_file", {"path": "notes.txt"})),
        ToolEnded("v", "read_file", ToolOutcome.SKIPPED, "repeats itself → bash", 0.0),
        took(Rung.ROLLBACK, "back to the end of step 2"),
        replace(BACK, step=2, files_restored=()),
        *next_step(7),
        *read_again(1),
        took(Rung.STOP, "the turn ends with a report"),
        STUCK_HERE,
        *ended(TransitionCode.LOOP_STOPPED, f"stopped: {described(CIRCLE)}; nothing freed it"),
    ),
    "failed-turn": story(
        ASKS,
        FaultOccurred(Fault(FaultKind.AUTH, "invalid x-api-key", 401), MODEL, 1),
        TurnEnded(1, TransitionCode.MODEL_ERROR, "the key was refused", "", Usage(), 0.0, 1, 1, 2.0),
    ),
}
"""The records of each situation at the moment it was on the screen."""
