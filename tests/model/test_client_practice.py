"""The client against every fault that the practice server can play."""

import asyncio
from dataclasses import dataclass

import pytest

from harness.events import CutCall, Fault, FaultKind, Message, Outcome, Reply, ToolCall
from harness.model.client import ModelClient, ModelRequest
from harness.model.endpoint import checked
from harness.model.watchdog import WatchLimits
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import StatusFault, StreamFault
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply, ScriptEntry
from harness.practice.server import PracticeServer
from harness.practice.wire.replies import ScriptedReply, TextPart, ThinkingPart, ToolUse

pytestmark = pytest.mark.anyio

K = FaultKind
WATCH = WatchLimits(
    headers_s=0.5, quiet_bytes_s=0.5, quiet_event_s=0.6, content_bytes_s=0.3, content_event_s=0.5, hint_s=0.2
)
SPOKEN = ScriptedReply((TextPart("one two three four five six seven eight nine ten"),), chunk_size=8)
CALL = ToolUse("bash", {"command": "echo one two three"}, id="toolu_1")
CALLING = ScriptedReply((TextPart("I look."), CALL), chunk_size=8)
TOOL: dict[str, object] = {"name": "bash", "description": "Runs a command.", "input_schema": {"type": "object"}}
QUESTION = ModelRequest(
    "practice-1", 1000, (), (TOOL,), (Message("user", ({"type": "text", "text": "please"},)),), estimated_tokens=10
)


async def outcome_of(reply: ScriptedReply, fault: StreamFault | StatusFault | None) -> Outcome:
    """What one send comes back with. Checks that there was exactly one POST."""
    action = fault if isinstance(fault, StatusFault) else PlayReply(reply, fault)
    async with PracticeServer(script=Script((ScriptEntry(action),))) as server:
        client = ModelClient(checked(server.base_url, origin="the practice model"), watch=WATCH)
        outcome = await client.send(QUESTION, lambda _: None, asyncio.Event())
        await client.aclose()
        assert len(server.requests) == 1
        assert server.requests[0].headers["x-stainless-retry-count"] == "0"
        return outcome


HARMLESS: list[StreamFault] = [
    model_faults.ErrorEvent(at="end"),
    model_faults.Stall(at="end"),
    model_faults.Reset(at="end"),
    model_faults.CleanEnd(at="end"),
    model_faults.CloseDelimited(at="end"),
    model_faults.Omit(("ping",)),
    model_faults.UnknownEvent(),
    model_faults.UnknownDelta(),
    model_faults.MissingUsage(),
    model_faults.CrLf(),
    model_faults.Comments(),
    model_faults.ByteByByte(),
]


@pytest.mark.parametrize("fault", HARMLESS, ids=lambda fault: f"{fault.kind}-{getattr(fault, 'at', '')}")
async def test_what_does_no_harm_is_not_noticed(fault: StreamFault) -> None:
    reply = await outcome_of(SPOKEN, fault)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.stop_reason) == ("one two three four five six seven eight nine ten", "end_turn")


@dataclass(frozen=True)
class Row:
    fault: StreamFault | StatusFault
    kind: FaultKind
    status: int | None = None
    streamed: bool = True


STREAM_ROWS = [
    Row(model_faults.ErrorEvent(), K.OVERLOADED, 529),
    Row(model_faults.ErrorEvent(at=0), K.OVERLOADED, 529),
    Row(model_faults.ErrorEvent(type="rate_limit_error"), K.RATE_LIMIT, 429),
    Row(model_faults.ErrorEvent(type="api_error"), K.SERVER, 500),
    Row(model_faults.ErrorEvent(type="timeout_error"), K.TIMEOUT, 504),
    Row(model_faults.ErrorEvent(type="sunspot_error"), K.UNKNOWN),
    Row(model_faults.ErrorEvent(raw="not json"), K.UNKNOWN),
    Row(model_faults.Reset(), K.NETWORK),
    Row(model_faults.Reset(at="headers"), K.NETWORK, streamed=False),
    Row(model_faults.CutChunk(), K.NETWORK),
    Row(model_faults.ShortLength(), K.NETWORK),
    Row(model_faults.CleanEnd(), K.NETWORK),
    Row(model_faults.CleanEnd(at=0), K.MALFORMED_RESPONSE),
    Row(model_faults.CleanEnd(at="headers"), K.NETWORK, streamed=False),
    Row(model_faults.CloseDelimited(), K.NETWORK),
    Row(model_faults.Stall(), K.TIMEOUT),
    Row(model_faults.Stall(at="headers"), K.TIMEOUT, streamed=False),
    Row(model_faults.PingsOnly(every_s=0.05), K.TIMEOUT),
    Row(model_faults.PingsOnly(every_s=0.01, count=3), K.MALFORMED_RESPONSE),
    Row(model_faults.BadJson(), K.MALFORMED_RESPONSE),
    Row(model_faults.BadUtf8(), K.MALFORMED_RESPONSE),
    Row(model_faults.JsonBody(), K.SERVER, 500, streamed=False),
    Row(model_faults.HtmlBody(), K.MALFORMED_RESPONSE, 200, streamed=False),
    Row(model_faults.BadIndex(), K.MALFORMED_RESPONSE),
    Row(model_faults.SecondStart(), K.MALFORMED_RESPONSE),
    Row(StatusFault(529), K.OVERLOADED, 529, streamed=False),
    Row(StatusFault(503, body="upstream connect error"), K.SERVER, 503, streamed=False),
    Row(StatusFault(413, body="<html><title>413</title></html>"), K.REQUEST_TOO_LARGE, 413, streamed=False),
    Row(StatusFault(429, error_code="enforced_spend_limit_reached"), K.QUOTA_EXHAUSTED, 429, streamed=False),
]


@pytest.mark.parametrize("row", STREAM_ROWS, ids=lambda row: f"{type(row.fault).__name__}-{row.kind}")
async def test_a_fault_on_the_wire_is_one_fault_and_nothing_of_a_broken_block_is_kept(row: Row) -> None:
    fault = await outcome_of(SPOKEN, row.fault)
    assert isinstance(fault, Fault), fault
    assert (fault.kind, fault.status, fault.streamed) == (row.kind, row.status, row.streamed), fault
    assert fault.message
    assert (fault.kept, fault.calls) == ((), ())


async def test_a_stream_without_its_end_is_no_reply_and_keeps_the_whole_text() -> None:
    fault = await outcome_of(SPOKEN, model_faults.Omit(("message_stop",)))
    assert isinstance(fault, Fault)
    assert fault.kind is K.NETWORK
    assert [block["text"] for block in fault.kept] == ["one two three four five six seven eight nine ten"]
    assert fault.stop_reason == "end_turn"


@pytest.mark.parametrize(
    "fault", [model_faults.Omit(("message_start",)), model_faults.Omit(("message_delta",)), model_faults.DataOnly()]
)
async def test_a_stream_that_is_whole_but_for_its_form_is_a_reply(fault: StreamFault) -> None:
    reply = await outcome_of(SPOKEN, fault)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.stop_reason) == ("one two three four five six seven eight nine ten", "end_turn")


@pytest.mark.parametrize("headers", [{"retry-after": "3"}, {"retry-after-ms": "3000", "retry-after": "9"}])
async def test_the_wait_that_the_server_asks_for_arrives(headers: dict[str, str]) -> None:
    fault = await outcome_of(SPOKEN, StatusFault(429, headers=headers))
    assert isinstance(fault, Fault)
    assert (fault.retry_after_s, fault.should_retry) == (3.0, None)


@pytest.mark.parametrize(
    "fault", [None, model_faults.Omit(("content_block_stop",)), model_faults.StopReason("out_of_ink")]
)
async def test_a_whole_tool_call_may_run(fault: StreamFault | None) -> None:
    reply = await outcome_of(CALLING, fault)
    assert isinstance(reply, Reply)
    assert reply.calls == (ToolCall("toolu_1", "bash", {"command": "echo one two three"}),)


CUT_CALLS: list[StreamFault] = [
    model_faults.CutTool(characters=0, ending="max_tokens"),
    model_faults.CutTool(characters=15, ending="max_tokens"),
    model_faults.CutTool(characters=15, ending="silent"),
    model_faults.ToolJson('{"path": }'),
    model_faults.ToolJson('["ls"]'),
    model_faults.ToolJson('{"command": "ls", "command": "rm"}'),
    model_faults.StopReason("refusal"),
]


@pytest.mark.parametrize("fault", CUT_CALLS, ids=lambda fault: f"{fault.kind}-{getattr(fault, 'ending', '')}")
async def test_a_cut_call_never_runs(fault: StreamFault) -> None:
    reply = await outcome_of(CALLING, fault)
    assert isinstance(reply, Reply)
    assert reply.calls == ()
    assert [type(call) for call in reply.cut_calls] == [CutCall]
    assert all(block["type"] == "text" for block in reply.content)


@pytest.mark.parametrize("ending", ["end", "reset"])
async def test_a_stream_that_breaks_inside_a_call_keeps_the_text_and_not_the_call(ending: str) -> None:
    fault = await outcome_of(CALLING, model_faults.CutTool(characters=15, ending="end" if ending == "end" else "reset"))
    assert isinstance(fault, Fault)
    assert fault.kind is K.NETWORK
    assert fault.kept == ({"type": "text", "text": "I look."},)
    assert fault.calls == ()


async def test_a_stream_that_breaks_after_a_call_keeps_the_call() -> None:
    fault = await outcome_of(CALLING, model_faults.CleanEnd(at="message_delta"))
    assert isinstance(fault, Fault)
    assert [block["type"] for block in fault.kept] == ["text", "tool_use"]
    assert fault.calls == (ToolCall("toolu_1", "bash", {"command": "echo one two three"}),)


async def test_signed_thinking_stays_and_unsigned_thinking_goes() -> None:
    signed = await outcome_of(ScriptedReply((ThinkingPart("hm"), TextPart("yes"))), None)
    unsigned = await outcome_of(ScriptedReply((ThinkingPart("hm", signed=False), TextPart("yes"))), None)
    assert isinstance(signed, Reply)
    assert isinstance(unsigned, Reply)
    assert [block["type"] for block in signed.content] == ["thinking", "text"]
    assert [block["type"] for block in unsigned.content] == ["text"]


async def test_the_models_of_the_server_are_listed_with_its_limits() -> None:
    async with PracticeServer() as server:
        client = ModelClient(checked(server.base_url, origin="the practice model"))
        cards = {card.id: card for card in await client.models()}
        await client.aclose()
        assert (cards["practice-1"].window, cards["practice-1"].max_output) == (200_000, 64_000)
        assert len(cards) > 10


async def test_no_models_are_listed_by_a_server_that_is_not_there() -> None:
    client = ModelClient(checked("http://127.0.0.1:9", origin="test"))
    assert await client.models() == ()
    await client.aclose()
