"""One request for each call of the model: what it asks for, what it costs, and when none goes out."""

from pathlib import Path

import pytest

from harness.events import (
    Event,
    FaultOccurred,
    Message,
    ReplyReceived,
    RequestSent,
    RetryScheduled,
    SpendChanged,
    ThinkingOmitted,
    TransitionCode,
)
from tests.agent.stage import MODEL, calls, fails, run, says, stage, summarises

pytestmark = pytest.mark.anyio

FORMAT = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}
USAGE = "{ input_tokens = 1000, output_tokens = 100 }"


async def test_every_request_is_announced_answered_and_paid_for_once(tmp_path: Path) -> None:
    script = fails(529) + calls(run("a"), usage=USAGE) + says("Done.", usage=USAGE)
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        kinds = (RequestSent, ReplyReceived, FaultOccurred)
        assert [type(event) for event in turn.events if isinstance(event, kinds)] == [
            *(RequestSent, FaultOccurred, RequestSent, ReplyReceived, RequestSent, ReplyReceived)
        ]
        assert [event.attempt for event in turn.of(RequestSent)] == [1, 2, 1]
        spend = turn.of(SpendChanged)[-1]
        assert (spend.requests, spend.usage.input, spend.usage.output) == (3, 2_000, 200)
        assert spend.retry_usage.input == 0  # nothing of a refused request is paid for


async def test_after_an_interruption_no_request_goes_out(tmp_path: Path) -> None:
    async with stage(tmp_path, fails(529) + says("Never.")) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert turn.end.code is TransitionCode.ABORTED_STREAMING
        assert len(turn.of(RequestSent)) == len(here.posts) == 1


async def test_a_summary_is_asked_for_without_the_format_of_the_answer(tmp_path: Path) -> None:
    script = calls(*[f'{{ name = "bash", input = {{ command = "yes word | head -c 9000 # {n}" }} }}' for n in range(3)])
    async with stage(tmp_path, script + says("{}") + summarises()) as here:
        here.agent.parts.calls.answer_format = FORMAT
        await here.turn()
        compacted = await here.compact()
        assert [event.purpose for event in compacted.of(RequestSent)] == ["summary"]
        assert ["format" in str(body.get("output_config")) for body in here.bodies] == [True, True, False]


async def test_a_history_that_the_api_would_refuse_is_repaired_before_it_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(run("a")) + says("One.") + says("Two.")) as here:
        await here.turn()
        talk = here.agent.conversation
        talk.replace([message for message in talk.messages if "tool_result" not in str(message.content)], "rewind")
        turn = await here.turn("And now?")
        assert turn.end.answer == "Two."
        assert not turn.of(FaultOccurred)


HISTORY = (
    Message("user", ({"type": "text", "text": "Why?"},)),
    Message("assistant", ({"type": "thinking", "thinking": "Hm.", "signature": "s"}, {"type": "text", "text": "So."})),
)


async def test_thinking_of_an_unknown_request_is_not_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Good."), messages=HISTORY) as here:
        turn = await here.turn()
        assert [event.reason for event in turn.of(ThinkingOmitted)] == ["the request that it belongs to is not known"]
        assert "Hm." not in str(here.bodies)
        assert here.agent.conversation.messages[:2] == HISTORY


@pytest.mark.parametrize(("complete", "wasted"), [(True, 0), (False, 1_000)])
async def test_a_broken_stream_is_wasted_only_if_it_left_no_complete_text(
    tmp_path: Path, complete: bool, wasted: int
) -> None:
    fault = '{ kind = "reset", at = "message_delta" }' if complete else '"reset"'
    script = says("Half of the answer.", usage=USAGE, chunk="4", fault=fault) + says("The rest.", usage=USAGE)
    async with stage(tmp_path, script) as here:
        spend = (await here.turn()).of(SpendChanged)[0]
        assert (spend.usage.input, spend.retry_usage.input) == (1_000, wasted)


async def test_measured_sizes_are_forgotten_with_the_history(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Good.", usage="{ input_tokens = 90000, output_tokens = 100 }")) as here:
        await here.turn()
        calls = here.agent.parts.calls
        assert calls.situation(MODEL).prompt_tokens > 80_000
        here.agent.parts.user_commands.clear()
        assert calls.situation(MODEL).prompt_tokens < 20_000
