"""A session with a bit of everything."""

from harness.events import (
    CompactionEnded,
    CompactionStarted,
    Event,
    Fault,
    FaultKind,
    FaultOccurred,
    FaultOrdered,
    HistoryRepaired,
    HistoryReplaced,
    HoldReason,
    Message,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    OutputCapChanged,
    PartialDiscarded,
    PermissionAnswered,
    PermissionAsked,
    ReplyReceived,
    RequestHeld,
    RequestLimitSet,
    RequestSent,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    SessionStarted,
    SettingChanged,
    SpendChanged,
    StepStarted,
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
)


def text(role: str, words: str) -> Message:
    """A message of one text block."""
    assert role in ("user", "assistant")
    return Message("user" if role == "user" else "assistant", ({"type": "text", "text": words},))


def session_started(session_id: str = "20261121-0345-7f3a9c") -> SessionStarted:
    """The first event of a journal."""
    return SessionStarted(session_id, "0.1.0", "/home/ko/project", "claude-sonnet-5-5", "https://api.example", False)  # noqa: FBT003


def session() -> tuple[Event, ...]:
    """36 events, long and non-ASCII ones and a lone surrogate among them; the last turn is not over."""
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
        RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 0.5, 1795234105.5, 529, "req_1", "Overloaded"),
        RetryBudgetSpent(20, 12),
        RequestLimitSet("claude-sonnet-5-5", 2, 5, None, 1795234105.0, 1795234107.0),
        RequestHeld("claude-sonnet-5-5", HoldReason.RETRY_AFTER, 1795234107.0, 1),
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
