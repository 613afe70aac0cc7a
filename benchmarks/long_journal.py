"""A long journal, written event by event as a session of many short turns writes it."""

from collections.abc import Iterator
from pathlib import Path

from harness.base.version import __version__
from harness.events import (
    Block,
    Event,
    Json,
    Message,
    MessageAdded,
    Origin,
    ReplyReceived,
    RequestSent,
    SessionStarted,
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
)
from harness.journal import Journal, new_session_id, session_folder

CALLS = 4
"""Tool calls in one turn: with prompt and answer it has 10 messages."""
MESSAGES_PER_TURN = 2 * CALLS + 2
SAID = "The file holds what was looked for in line 12; the next one is read now."
RESULT = "".join(f"{number:>6}\tvalue = measure(folder, number={number})\n" for number in range(1, 5))
USAGE = Usage(input=100, output=60, cache_read=20_000)


def write_journal(workspace: Path, state_dir: Path, messages: int, model: str) -> Path:
    """A journal with `messages` messages, where a session of `workspace` is looked for."""
    folder = session_folder(workspace, state_dir)
    with Journal.create(folder, new_session_id()) as journal:
        journal.append(
            SessionStarted(journal.session_id, __version__, str(workspace), model, "loopback", practice=False)
        )
        for turn in range(1, messages // MESSAGES_PER_TURN + 1):
            for event in turn_events(turn, model):
                journal.append(event)
        return journal.path


def turn_events(turn: int, model: str) -> Iterator[Event]:
    """What a turn with four tool calls and an answer emits."""
    prompt = f"What do the files of part {turn} measure?"
    step = (turn - 1) * (CALLS + 1)
    yield TurnStarted(turn, prompt)
    yield MessageAdded(Message("user", (_text(prompt),)), Origin.PROMPT)
    for call in range(CALLS):
        call_id = f"toolu_{turn:06}{call}"
        asked: Json = {"path": f"part{turn}/file{call}.py"}
        use: Block = {"type": "tool_use", "id": call_id, "name": "read_file", "input": asked}
        yield from _asked(step + call + 1, model, (_text(SAID), use))
        yield ToolStarted(call_id, "read_file", f"read {asked['path']}", asked)
        yield ToolEnded(call_id, "read_file", ToolOutcome.OK, "4 lines", 0.01)
        result: Block = {"type": "tool_result", "tool_use_id": call_id, "content": RESULT}
        yield MessageAdded(Message("user", (result,)), Origin.TOOL_RESULTS)
        yield Transition(step + call + 1, TransitionCode.NEXT_TURN, "tool results go back to the model")
    yield from _asked(step + CALLS + 1, model, (_text(SAID),))
    yield Transition(step + CALLS + 1, TransitionCode.COMPLETED, "answered")
    yield TurnEnded(turn, TransitionCode.COMPLETED, "answered", SAID, USAGE, 0.01, CALLS + 1, CALLS + 1, 8.0)


def _asked(step: int, model: str, content: tuple[Block, ...]) -> Iterator[Event]:
    yield StepStarted(step)
    yield RequestSent(model, 8_000, 20_000, 1)
    yield ReplyReceived(model, "tool_use", USAGE, f"req_{step:08}", 1.5)
    yield SpendChanged(step, USAGE, 0.01 * step, Usage(), 0.0)
    yield MessageAdded(Message("assistant", content), Origin.REPLY)


def _text(text: str) -> Block:
    return {"type": "text", "text": text}
