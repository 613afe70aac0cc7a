"""Every fault as a client sees it: bytes on a real socket."""

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.practice.raw_client import Seen, post, request

pytestmark = pytest.mark.anyio


async def play(entry: str, *, stream: bool = True, patience_s: float = 60.0) -> Seen:
    async with PracticeServer(script=Script.parse(f"[[reply]]\n{entry}")) as server:
        return await post(server.base_url, request(stream=stream), patience_s=patience_s)


async def play_fault(fault: str, *, patience_s: float = 60.0) -> Seen:
    return await play(f'text = "äbcdefgh"\nchunk = 2\nfault = {fault}', patience_s=patience_s)


async def test_a_reset_is_a_reset_after_the_chosen_event() -> None:
    seen = await play_fault('{ kind = "reset", at = 5 }')
    assert (seen.ending, len(seen.names), seen.finished) == ("reset", 5, False)


async def test_a_reset_before_the_headers_leaves_nothing() -> None:
    seen = await play_fault('{ kind = "reset", at = "headers" }')
    assert (seen.ending, seen.raw) == ("reset", b"")


async def test_a_short_length_promises_more_than_comes() -> None:
    seen = await play_fault('"short_length"')
    assert seen.ending == "closed"
    assert int(seen.headers["content-length"]) > len(seen.body) > 0


async def test_an_empty_stream_has_headers_and_no_event() -> None:
    seen = await play_fault('{ kind = "clean_end", at = 0 }')
    assert (seen.status, seen.body, seen.finished) == (200, b"", True)


async def test_a_close_delimited_body_has_neither_length_nor_chunks() -> None:
    seen = await play_fault('"close_delimited"')
    assert seen.ending == "closed"
    assert not {"content-length", "transfer-encoding"} & set(seen.headers)
    assert len(seen.names) == 4


async def test_a_stall_keeps_the_connection_open_and_silent() -> None:
    seen = await play_fault('"stall"', patience_s=0.3)
    assert (seen.ending, len(seen.names)) == ("open", 4)


async def test_a_stall_with_seconds_ends() -> None:
    assert (await play_fault('{ kind = "stall", at = "headers", seconds = 0.05 }')).finished


async def test_the_socket_can_stay_open_after_message_stop() -> None:
    seen = await play_fault('{ kind = "stall", at = "end" }', patience_s=0.3)
    assert (seen.ending, seen.names[-1], seen.finished) == ("open", "message_stop", False)


async def test_pings_and_nothing_else() -> None:
    seen = await play_fault('{ kind = "pings_only", every_s = 0.02 }', patience_s=0.3)
    assert seen.ending == "open"
    assert len(seen.names) > 3
    assert set(seen.names) == {"ping"}
    assert (await play_fault('{ kind = "pings_only", every_s = 0, count = 3 }')).names == ["ping"] * 3


async def test_an_error_event_carries_details_null_and_the_request_id() -> None:
    seen = await play_fault('{ kind = "error_event", type = "rate_limit_error", at = 0 }')
    assert seen.names == ["error"]
    assert seen.data[0]["error"]["type"] == "rate_limit_error"
    assert seen.data[0]["error"]["details"] is None
    assert seen.data[0]["request_id"] == seen.headers["request-id"]


async def test_an_error_event_may_hold_anything_and_come_late() -> None:
    seen = await play_fault('{ kind = "error_event", raw = "upstream died", at = "end" }')
    assert seen.names[-2:] == ["message_stop", "error"]
    assert seen.body.endswith(b"data: upstream died\n\n")


async def test_bad_utf8_and_bad_json_are_in_the_stream() -> None:
    assert b"\xff\xfe" in (await play_fault('"bad_utf8"')).body
    assert b'"text_del\n\n' in (await play_fault('"bad_json"')).body


async def test_a_200_can_hold_something_else_than_a_stream() -> None:
    as_json = await play_fault('"json_body"')
    as_html = await play_fault('"html_body"')
    assert (as_json.headers["content-type"], as_json.json["error"]["type"]) == ("application/json", "api_error")
    assert as_html.headers["content-type"].startswith("text/html")


async def test_events_can_be_left_out_or_nameless() -> None:
    assert "content_block_stop" not in (await play_fault('{ kind = "omit", events = ["content_block_stop"] }')).names
    nameless = await play_fault('"data_only"')
    assert nameless.names == []
    assert nameless.data[0]["type"] == "message_start"


async def test_unknown_things_are_put_in() -> None:
    assert "weather_report" in (await play_fault('"unknown_event"')).names
    assert any(
        data.get("delta", {}).get("type") == "smell_delta" for data in (await play_fault('"unknown_delta"')).data
    )
    blocks = [data for data in (await play_fault('"unknown_block"')).data if data["type"] == "content_block_start"]
    assert (blocks[1]["index"], blocks[1]["content_block"]["type"]) == (1, "hologram")
    assert (await play_fault('"stop_reason"')).data[-2]["delta"]["stop_reason"] == "out_of_ink"


async def test_a_bad_index_a_second_start_and_missing_usage() -> None:
    assert 7 in [data.get("index") for data in (await play_fault('"bad_index"')).data]
    assert (await play_fault('"second_start"')).names.count("message_start") == 2
    assert b"usage" not in (await play_fault('"missing_usage"')).body


async def test_the_dialects_of_server_sent_events() -> None:
    plain = (await play_fault('"omit"')).body
    assert b"\r\n\r\n" in (await play_fault('"crlf"')).body
    assert (await play_fault('"comments"')).body.count(b": a comment\n") == 10
    assert len((await play_fault('"byte_by_byte"')).raw) > 6 * len(plain)


async def test_a_cut_tool_call_on_the_wire() -> None:
    call = 'tools = [ { name = "bash", input = { command = "rm -r build" } } ]\n'
    seen = await play(call + 'fault = { kind = "cut_tool", characters = 18 }')
    pieces = [data["delta"]["partial_json"] for data in seen.data if data["type"] == "content_block_delta"]
    assert "".join(pieces) == '{"command":"rm -r '
    assert seen.data[-2]["delta"]["stop_reason"] == "max_tokens"


async def test_the_input_of_a_tool_may_have_duplicate_keys() -> None:
    seen = await play("""tools = [ { name = "bash", raw_input = '{"a":1,"a":2}' } ]""")
    assert '{\\"a\\":1,\\"a\\":2}' in seen.body.decode()


async def test_a_status_fault_has_all_that_was_asked_for() -> None:
    seen = await play(
        'status = 429\nerror_code = "enforced_spend_limit_reached"\nmessage = "Spend"\n'
        'headers = { retry-after = "7", retry-after-ms = "7000", x-should-retry = "false", request-id = "req_x" }'
    )
    assert seen.status == 429
    assert seen.json["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}
    assert (seen.headers["retry-after"], seen.headers["x-should-retry"]) == ("7", "false")
    assert seen.headers["request-id"] == "req_x"


@pytest.mark.parametrize("status", [200, 204, 301, 304, 418, 599])
async def test_any_status_can_be_played(status: int) -> None:
    seen = await play(f"status = {status}")
    assert (seen.status, seen.body == b"") == (status, status in (204, 304))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("<html>no</html>", "text/html"), ("upstream connect error", "text/plain"), ("", "text/plain")],
)
async def test_a_status_fault_may_have_a_body_that_is_not_json(body: str, content_type: str) -> None:
    seen = await play(f'status = 503\nbody = "{body}"')
    assert seen.body == body.encode()
    assert seen.headers["content-type"].startswith(content_type)


@pytest.mark.parametrize(
    ("fault", "ending", "whole"),
    [
        ("reset", "reset", False),
        ("cut_chunk", "closed", False),
        ("clean_end", "closed", False),
        ("omit", "closed", True),
    ],
)
async def test_faults_of_the_connection_strike_a_reply_without_stream_too(fault: str, ending: str, whole: bool) -> None:
    seen = await play(f'text = "abcdefgh"\nfault = "{fault}"', stream=False)
    assert seen.ending == ending
    assert seen.body.endswith(b"}") == whole


async def test_an_error_event_is_a_status_where_there_is_no_stream() -> None:
    seen = await play('text = "x"\nfault = "error_event"', stream=False)
    assert (seen.status, seen.json["error"]["type"]) == (529, "overloaded_error")
