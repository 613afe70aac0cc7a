"""The drawings of the chapter: what becomes of a broken stream, and the limits of silence."""

import json
from collections.abc import Iterator, Mapping

from harness.events import Fault, FaultKind, Json
from harness.model.accumulator import Accumulator
from harness.model.watchdog import WatchLimits
from harness.policies.recovery import Decision, RecoveryLimits, Situation, TurnState, decide

BREAKS: Mapping[str, tuple[str, ...]] = {
    "before the first block": (),
    "inside the first text": ("text…",),
    "inside a text, after a whole text": ("text", "text…"),
    "inside a call, after a whole text": ("text", "call…"),
    "inside the only call": ("call…",),
    "inside a call, after a whole call": ("call", "call…"),
    "after the stop reason": ("text", "end"),
}
"""Where a stream breaks: the blocks that have arrived; … marks an open block."""
ROWS = (
    ("until the answer begins", "headers_s", ""),
    ("between blocks, while thinking", "quiet_bytes_s", "quiet_event_s"),
    ("inside text or a tool call", "content_bytes_s", "content_event_s"),
)


def events(parts: tuple[str, ...]) -> Iterator[tuple[str, Json]]:
    """The events of a stream that has brought these parts."""
    yield "message_start", {"message": {}}
    for index, part in enumerate(parts):
        if part == "end":
            yield "message_delta", {"delta": {"stop_reason": "end_turn"}}
            continue
        text = part.startswith("text")
        start = {"type": "text", "text": ""} if text else {"type": "tool_use", "id": f"t{index}", "name": "write_file"}
        given = '{"path": "crew' if part.endswith("…") else json.dumps({"path": "crew.txt"})
        piece = {"type": "text_delta", "text": "Ferry"} if text else {"type": "input_json_delta", "partial_json": given}
        yield "content_block_start", {"index": index, "content_block": start}
        yield "content_block_delta", {"index": index, "delta": piece}
        if not part.endswith("…"):
            yield "content_block_stop", {"index": index}


def after(parts: tuple[str, ...]) -> tuple[str, Decision]:
    """The types of the blocks that are kept of a broken stream, and the decision about it."""
    reply = Accumulator()
    for name, data in events(parts):
        reply.feed(name, data)
    kept, calls = reply.kept()
    fault = Fault(FaultKind.NETWORK, "the connection broke", kept=kept, calls=calls, stop_reason=reply.stop_reason)
    decision = decide(TurnState("model"), fault, RecoveryLimits(), Situation(0.0, 0.0, 200_000, 64_000, 0))
    return ", ".join("call" if block["type"] == "tool_use" else "text" for block in kept) or "nothing", decision


def breaks() -> str:
    """For each place where a stream can break: the kept blocks, and the decision."""
    lines = [f"   {'the stream breaks':<38}{'kept':<11}decision", ""]
    for where, parts in BREAKS.items():
        kept, decision = after(parts)
        lines.append(f"   {where:<38}{kept:<11}{type(decision).__name__}")
    return "\n".join(lines)


def limits() -> str:
    """Seconds without a byte, and without an event other than a keep-alive, for each part of an answer."""
    found = WatchLimits()
    lines = [f"   {'':<32}{'no byte':>10}{'only keep-alives':>20}", ""]
    for part, by_bytes, by_event in ROWS:
        seconds = [f"{getattr(found, name):g} s" if name else "" for name in (by_bytes, by_event)]
        lines.append(f"   {part:<32}{seconds[0]:>10}{seconds[1]:>20}".rstrip())
    return "\n".join(lines)
