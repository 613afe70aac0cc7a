"""Every fact the program reports: one small typed class each.

The stream of these events is the only output of an agent. The journal writes them down, the plain
and JSON front ends print them, the panel folds them, tests compare them. What is not an event did
not happen, and a view needs nothing but events: it shows the same thing live, while it follows
another process, and when it replays a file.

An event is frozen and holds plain values only, so that `encode` and `decode` are exact inverses.
Events marked `transient` (pieces of streamed text, hints) are shown and forgotten; the journal
keeps all others. Content blocks stay the JSON objects of the Messages API, key order and unknown
fields included, because a block that was changed is a block the API may reject (api R27).

This module imports nothing of ours; every other room may import it.
"""

from harness.events.catalogue import (
    CompactionEnded,
    CompactionStarted,
    Event,
    FaultOccurred,
    HistoryRepaired,
    HistoryReplaced,
    MessageAdded,
    ModelSwitched,
    Notice,
    OutputCapChanged,
    PartialDiscarded,
    PermissionAnswered,
    PermissionAsked,
    ReplyReceived,
    RequestSent,
    RetryEnded,
    RetryScheduled,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    SilenceHint,
    SpendChanged,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolEnded,
    ToolStarted,
    Transition,
    TurnEnded,
    TurnStarted,
    WaitAnswered,
    WaitOffered,
)
from harness.events.codec import decode, encode, name_of
from harness.events.values import (
    Block,
    CutCall,
    Fault,
    FaultKind,
    Json,
    Message,
    Origin,
    Outcome,
    Reply,
    ToolCall,
    ToolOutcome,
    TransitionCode,
    Usage,
)

__all__ = [
    "Block",
    "CompactionEnded",
    "CompactionStarted",
    "CutCall",
    "Event",
    "Fault",
    "FaultKind",
    "FaultOccurred",
    "HistoryRepaired",
    "HistoryReplaced",
    "Json",
    "Message",
    "MessageAdded",
    "ModelSwitched",
    "Notice",
    "Origin",
    "Outcome",
    "OutputCapChanged",
    "PartialDiscarded",
    "PermissionAnswered",
    "PermissionAsked",
    "Reply",
    "ReplyReceived",
    "RequestSent",
    "RetryEnded",
    "RetryScheduled",
    "SessionResumed",
    "SessionStarted",
    "SettingChanged",
    "SilenceHint",
    "SpendChanged",
    "StepStarted",
    "TextDelta",
    "ThinkingDelta",
    "ToolCall",
    "ToolCallDelta",
    "ToolEnded",
    "ToolOutcome",
    "ToolStarted",
    "Transition",
    "TransitionCode",
    "TurnEnded",
    "TurnStarted",
    "Usage",
    "WaitAnswered",
    "WaitOffered",
    "decode",
    "encode",
    "name_of",
]
