"""A server that counts other than we do, and refuses in the words of its kind: the turn continues."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Json, TransitionCode
from tests.agent.stage import VirtualClock, played, settings_of
from tests.foreign.server import ForeignServer
from tests.foreign.wire import (
    Events,
    Respond,
    body_of,
    call_block,
    ending,
    json_body,
    message_start,
    streamed,
    text_block,
)

pytestmark = pytest.mark.anyio
WINDOW, FILES = 60_000, 14
REFUSALS: dict[str, Callable[[int], str]] = {
    "Anthropic": lambda size: f"prompt is too long: {size} tokens > {WINDOW} maximum",
    "LM Studio": lambda size: f"cannot keep the prompt (n_keep: {size}>= n_ctx: {WINDOW})",
    "llama.cpp": lambda size: f"request ({size} tokens) exceeds the available context size ({WINDOW} tokens)",
    "Bedrock": lambda _: "Input is too long for requested model.",
}


def server_of(refusal: Callable[[int], str], factor: float, seen: list[tuple[int, str]]) -> Callable[[Json], Respond]:
    """A model that reads file after file; it counts `factor` times our tokens and never reports usage."""
    read = 0

    def answer(body: Json) -> Respond:
        nonlocal read
        size = int(factor * len(json.dumps([body["messages"], body.get("system"), body.get("tools")])) / 4)
        seen.append((size, hashlib.sha256(json.dumps(body["messages"]).encode()).hexdigest()))
        if size > WINDOW:
            error = {"type": "invalid_request_error", "message": refusal(size)}
            return json_body({"type": "error", "error": error}, "400 Bad Request")
        summary = "conversation" in str(body["messages"][-1]["content"][-1].get("text", ""))[:400]
        if summary and body.get("tools"):  # a model that calls a tool as long as it can
            return streamed(body_of(_calls(f"toolu_s{len(seen)}", 0)))
        if summary or read == FILES:
            words = "Files were read." if summary else "All read."
            return streamed(body_of([message_start(usage=None), *text_block(0, words), *ending("end_turn", None)]))
        read += 1
        return streamed(body_of(_calls(f"toolu_{read}", read - 1)))

    return answer


def _calls(id: str, number: int) -> Events:
    call: Json = {"type": "tool_use", "id": id, "name": "read_file", "input": {}}
    asks = call_block(0, call, [json.dumps({"path": f"{number}.txt"})])
    return [message_start(usage=None), *asks, *ending("tool_use", None)]


@pytest.mark.grid(2)
@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("factor", [1.35, 0.7])
async def test_a_prompt_that_outgrows_another_count_is_shortened_and_refused_once(
    name: str, factor: float, tmp_path: Path
) -> None:
    seen: list[tuple[int, str]] = []
    async with ForeignServer(answer=server_of(REFUSALS[name], factor, seen)) as server:
        loaded = settings_of(tmp_path, server.url, model="claude-sonnet-4-5")
        for number in range(FILES):
            lines = (f"line {line} of file {number}: some words to read" for line in range(700))
            (loaded.settings.workspace / f"{number}.txt").write_text("\n".join(lines))
        async with Agent(loaded.settings, clock=VirtualClock(), conversation=Conversation(lambda _: None)) as agent:
            turn = await played(agent.run("Read all files."))
    assert (turn.end.code, turn.end.answer) == (TransitionCode.COMPLETED, "All read."), turn.end
    assert sum(size > WINDOW for size, _ in seen) == 1
    assert len({digest for _, digest in seen}) == len(seen), "the same bytes were sent twice"
