"""The drawing of the chapter: what the next program sends, for each moment at which a kill can fall."""

from harness.events import Event, Message, MessageAdded, Origin, ToolEnded, ToolOutcome, ToolStarted
from harness.journal import Record, replay
from harness.model.repair import repaired

CALL = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "echo plum >> jars.txt"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "exit 0"}
MOMENTS: tuple[tuple[str, Event], ...] = (
    ("the prompt", MessageAdded(Message("user", ({"type": "text", "text": "Go."},)), Origin.PROMPT)),
    ("the reply with the call", MessageAdded(Message("assistant", (CALL,)), Origin.REPLY)),
    ("the start of the call", ToolStarted("t1", "bash", "echo plum", {})),
    ("the end of the call", ToolEnded("t1", "bash", ToolOutcome.OK, "exit 0", 0.1)),
    ("the message with its result", MessageAdded(Message("user", (RESULT,)), Origin.TOOL_RESULTS)),
)


def kills() -> str:
    """The last line that was written, the messages read back, and the result that the model gets."""
    lines = [f"   {'the last line is':<32}{'read back':<14}the model gets", ""]
    for count, (last, _) in enumerate(MOMENTS, 1):
        state = replay(Record(seq, 0.0, event) for seq, (_, event) in enumerate(MOMENTS[:count], 1))
        sent = repaired(state.messages).messages
        (*_, block) = sent[-1].content
        found = ""
        if block["type"] == "tool_result":
            found = "an error result" if block.get("is_error") else "the result"
        read_back = f"{len(state.messages)} message{'s' if len(state.messages) > 1 else ''}"
        lines.append(f"   {last:<32}{read_back:<14}{found}".rstrip())
    return "\n".join(lines)
