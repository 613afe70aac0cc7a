"""A session in which a bit of everything happens."""

from harness.events import (
    AdmissionClosed,
    AdmissionLimitsSet,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    ArrivalKind,
    Arrived,
    Attempt,
    BreakerState,
    ChangeReason,
    CheckpointMade,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    CompactionEnded,
    CompactionStarted,
    ConversationBreakerChanged,
    ConversationRemoved,
    Delivered,
    DropReason,
    ErrorClass,
    Event,
    Fault,
    FaultKind,
    FaultOccurred,
    FaultOrdered,
    HistoryRepaired,
    HistoryReplaced,
    Intervened,
    Loop,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    LoopPolicySet,
    Message,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    OutputCapChanged,
    PartialDiscarded,
    PermissionAnswered,
    PermissionAsked,
    Projection,
    RejectionReason,
    RemovalReason,
    ReplyReceived,
    RequestSent,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    RolledBack,
    Rung,
    SessionStarted,
    SettingChanged,
    SpendChanged,
    StepStarted,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
    WaitAnswered,
    WaitOffered,
    WatchListFull,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
    WorkReplaced,
)


def text(role: str, words: str) -> Message:
    """A message of one text block."""
    assert role in ("user", "assistant")
    return Message("user" if role == "user" else "assistant", ({"type": "text", "text": words},))


def session_started(session_id: str = "20261121-0345-7f3a9c") -> SessionStarted:
    """The first event of a journal."""
    return SessionStarted(session_id, "0.1.0", "/home/ko/project", "claude-sonnet-5-5", "https://api.example", False)  # noqa: FBT003


def session() -> tuple[Event, ...]:
    """34 events, long and non-ASCII ones and a lone surrogate among them; the last turn is not over."""
    call = {"type": "tool_use", "id": "call_1", "name": "bash", "input": {"command": "ls -la; echo ``` äöü"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "行 " * 60}
    fault = Fault(FaultKind.OVERLOADED, "Overloaded", status=529, kept=({"type": "text", "text": "half"},))
    return (
        session_started(),
        TurnStarted(1, "設定はどこで\n読まれますか？ 🙂"),
        MessageAdded(text("user", "設定はどこで\n読まれますか？ 🙂"), Origin.PROMPT),
        StepStarted(1),
        RequestSent("claude-sonnet-5-5", 8000, 1234, 1),
        FaultOccurred(fault, "claude-sonnet-5-5", 1),
        RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 0.5, 1795234105.5, 0.0, 529, "req_1", "Overloaded"),
        RetryBudgetSpent(20, 12),
        RetryEnded("due"),
        PartialDiscarded(12, "the stream broke"),
        ModelSwitched("claude-sonnet-5-5", "claude-haiku-5", "overloaded three times"),
        ReplyReceived("claude-haiku-5", "tool_use", Usage(10, 20, 30, 40), "req_2", 1.5),
        MessageAdded(Message("assistant", ({"type": "text", "text": "I look. \ud800"}, call)), Origin.REPLY),
        PermissionAsked("call_1", "bash", "ls -la", "it runs a command"),
        PermissionAnswered("call_1", "bash", "always", "user"),
        ToolStarted("call_1", "bash", "ls -la; echo ``` äöü", {"command": "ls -la; echo ``` äöü"}),
        ToolEnded("call_1", "bash", ToolOutcome.ERROR, "exit 1", 0.25, "no such ``` file", "/tmp/out.txt"),
        MessageAdded(Message("user", (result,)), Origin.TOOL_RESULTS),
        Transition(1, TransitionCode.NEXT_TURN, "one tool call"),
        StepStarted(2),
        OutputCapChanged(8000, 64000, "the reply was cut"),
        HistoryRepaired(("dropped a blank text",)),
        CompactionStarted("auto", 150_000),
        CompactionEnded("summary", 150_000, 9_000, True, "kept the last two rounds"),  # noqa: FBT003
        HistoryReplaced((text("user", "Summary: 要約 " + "x" * 300),), "compaction"),
        MessageAdded(text("assistant", "It is read in one place."), Origin.REPLY),
        SpendChanged(3, Usage(100, 50), 0.0123, Usage(10), 0.001),
        TurnEnded(1, TransitionCode.COMPLETED, "done", "It is read in one place.", Usage(100, 50), 0.01, 2, 3, 4.5),
        SettingChanged("model", "claude-opus-5-5"),
        FaultOrdered("model", "529 3"),
        WaitOffered(3600.0, 1795237705.0, True, "the limit is reached"),  # noqa: FBT003
        WaitAnswered("stop"),
        Notice("warning", "the disk is nearly full"),
        TurnStarted(2, "And now?"),
        MessageAdded(text("user", "And now?"), Origin.PROMPT),
        StepStarted(3),
    )


def circling() -> tuple[Event, ...]:
    """One of each event of the escape mechanism, and a history that was rolled back."""
    loop = Loop(
        *(Projection.ERROR, "5f0c2ab9e1d47380", 1, 4, "bash 行 fails", ("bash",)),
        failing=True,
        error=ErrorClass.TRANSIENT,
    )
    named = loop.signature, loop.projection
    return (
        LoopPolicySet(True, 3, ("copies=6",)),  # noqa: FBT003
        CheckpointMade("c1", 1, 2, "copies", 12, ("big.bin: 40 MB",)),
        LoopFound(loop, 4, relapse=True),
        Intervened(*named, Rung.SUBSTITUTE, 1, 1, 4, "bash in place of grep", "grep", "0123", applied=False),
        LoopAsked(loop, tuple(LoopChoice)),
        LoopAnswered(loop.signature, LoopChoice.ROLL_BACK),
        HistoryReplaced((text("user", "And now?"),), "rollback"),
        RolledBack(1, 2, ("a.py",), ("bash rm -rf build",)),
        LoopLeft(*named, 6, Rung.ROLLBACK),
        LoopLeft(*named, 7),
        StuckReported(loop, 9, (Attempt(Rung.NUDGE, 4, "the model is told"),), 8, ("ask again",)),
    )


def admitting() -> tuple[Event, ...]:
    """One of each event of the gate; the conversation is named as whoever opened it likes."""
    talk = "会話 7f3a ```"
    return (
        AdmissionLimitsSet(1, 2, 0),
        WorkAdmitted(talk, 1, 1),
        WorkQueued(talk, 2, 1),
        WorkReplaced(talk, 3, 2),
        WorkReleased(talk, 1, WorkEnd.FAILED, 0),
        ConversationBreakerChanged(
            talk, BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 5, 1795234165.5
        ),
        *(WorkDropped(talk, 3, reason, dirty=reason is DropReason.QUEUE_FULL) for reason in DropReason),
        *(WorkRejected(talk, reason) for reason in RejectionReason),
        WatchListFull(60, 50, 10),
        *(ConversationRemoved(talk, why, running=False) for why in RemovalReason),
        AdmissionClosed(2, 1, AdmissionPool.COMMANDS),
    )


def delegating() -> tuple[Event, ...]:
    """One of each event of subagents and of commands in the background."""
    tools = ("bash", "grep")
    return (
        AgentCreated(
            "a1", "toolu_9", "find 行", "Find the line.", "practice-1", tools, background=True, journal="a1.jsonl"
        ),
        AgentMoved("a1", 2, "grep load_config", 3, 1_200, 0.01, waits_for_user=True),
        *(AgentEnded("a1", end, "why ```", 12, 3, 4, Usage(9, 8), 0.02, 1.5) for end in AgentEnd),
        CommandCreated("b1", "toolu_10", "npm test | tee `x`", "/state/b1.txt", 3_600.0),
        CommandBegun("b1", 4_711),
        CommandQuiet("b1", 45.0, "Overwrite? [y/N]"),
        *(
            CommandEnded("b1", end, -9, 3.5, 700, "行 ```", "why", forced=True, left=("sleep (7)",))
            for end in CommandEnd
        ),
        CommandHandedOver("b2", 4_712),
        *(Arrived(number, kind, "b1", "It ended.") for number, kind in enumerate(ArrivalKind, 1)),
        Delivered((1, 2, 3)),
        PermissionAsked("toolu_11", "bash", "make", "bash runs a program", "a1"),
    )
