"""Decisions carried out: changes of a request, other models, discarded text."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.build.options import Policies
from harness.events import (
    Block,
    Event,
    HistoryReplaced,
    Json,
    Message,
    ModelSwitched,
    Notice,
    OutputCapChanged,
    PartialDiscarded,
    RetryScheduled,
    Transition,
    TransitionCode,
)
from tests.agent.stage import calls, fails, played, run, says, sessions, shown_text, stage

pytestmark = pytest.mark.anyio

ANSWER = "Forty-two."
FALLBACK = "claude-haiku-4-5"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
SEEN = (
    Message("user", ({"type": "text", "text": "Look at this."}, IMAGE)),
    Message("assistant", ({"type": "text", "text": "A dot."},)),
)
SIGNATURE = fails(400, message='"messages.1.content.0: Invalid `signature` in `thinking` block"')
MEDIA = fails(400, message='"messages.0.content.1.image: Could not process image"')
UNPAIRED = fails(400, message='"messages.1: `tool_use` ids were found without `tool_result` blocks immediately after"')


def kinds(body: Json) -> list[str]:
    """The types of all blocks of a request."""
    return [block["type"] for message in body["messages"] for block in message["content"]]


def thinks(then: str) -> str:
    return f'\n[[reply]]\nthinking = "Let me see."\n{then}\n'


async def test_a_refused_signature_takes_all_thinking_out_once_and_for_the_session(tmp_path: Path) -> None:
    script = thinks(f"tools = [{run('look')}]") + SIGNATURE + thinks(f'text = "{ANSWER}"') + says("Good.")
    async with stage(tmp_path, script) as here:
        assert (await here.turn()).end.answer == ANSWER
        assert (await here.turn("And?")).end.answer == "Good."
        assert ["thinking" in kinds(body) for body in here.bodies] == [False, True, False, False]


NO_THINKING_FIRST = fails(
    400,
    message='"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When '
    '`thinking` is enabled, a final `assistant` message must start with a thinking block."',
)


@pytest.mark.parametrize("thought", [False, True])
async def test_a_server_that_wants_thinking_before_a_call_is_asked_without_thinking_for_a_turn(
    tmp_path: Path, thought: bool
) -> None:
    asks = f"tools = [{run('look')}]"
    refused = NO_THINKING_FIRST * (2 if thought else 1)
    script = (thinks(asks) if thought else f"\n[[reply]]\n{asks}\n") + refused + says(ANSWER) + says("Good.")
    async with stage(tmp_path, script, model="claude-opus-5-5") as here:
        turn = await here.turn()
        assert (turn.end.answer, turn.end.code) == (ANSWER, TransitionCode.COMPLETED)
        assert "not asked to think in this turn" in " ".join(event.text for event in turn.of(Notice))
        await here.turn("And?")
        assert ["thinking" in body for body in here.bodies] == [True] * (3 if thought else 2) + [False, True]


async def test_an_image_that_is_refused_becomes_words_and_is_never_sent_again(tmp_path: Path) -> None:
    async with stage(tmp_path, MEDIA + says(ANSWER) + says("Good."), messages=SEEN) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert [event.reason for event in turn.of(HistoryReplaced)] == ["media"]
        await here.turn("And?")
        assert ["image" in kinds(body) for body in here.bodies] == [True, False, False]
        assert "image" in str(here.bodies[1]["messages"][0]["content"])


async def test_an_image_in_the_way_takes_the_thinking_behind_it_along(tmp_path: Path) -> None:
    script = "[server]\nbind_thinking = true\n" + thinks(f"tools = [{run('look')}]") + MEDIA + says(ANSWER)
    async with stage(tmp_path, script, messages=SEEN) as here:
        assert (await here.turn()).end.answer == ANSWER
        assert [("image" in kinds(body), "thinking" in kinds(body)) for body in here.bodies] == [
            (True, False),
            (True, True),
            (False, False),
        ]


async def test_an_invalid_history_is_repaired_and_sent_once_more(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(run("look")) + UNPAIRED + says(ANSWER)) as here:
        assert (await here.turn()).end.answer == ANSWER
        assert len(here.posts) == 3
    async with stage(tmp_path, UNPAIRED + UNPAIRED + says(ANSWER)) as here:
        assert (await here.turn()).codes == [TransitionCode.API_ERROR]
        assert len(here.posts) == 2
        assert (await here.retry()).end.answer == ANSWER


# ── the output cap ─────────────────────────────────────────────────────────────────────────


async def test_a_cap_beyond_the_window_is_lowered_by_the_numbers_of_the_refusal(tmp_path: Path) -> None:
    words = '"input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length"'
    async with stage(tmp_path, fails(400, message=words) + says(ANSWER), max_tokens=20_000) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert [body["max_tokens"] for body in here.bodies] == [20_000, 10_941]
        assert [(event.from_cap, event.to_cap) for event in turn.of(OutputCapChanged)] == [(20_000, 10_941)]


async def test_the_models_own_maximum_is_learned_from_its_refusal(tmp_path: Path) -> None:
    script = (
        "[server]\nmax_output = 4000\n" + says("The note", stop_reason='"max_tokens"') + says(" says 42.") + says("!")
    )
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.end.answer == "The note says 42."
        assert [body["max_tokens"] for body in here.bodies] == [8_000, 4_000, 4_000]
        assert [event.code for event in turn.of(Transition)] == [
            TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,
            TransitionCode.COMPLETED,
        ]
        await here.turn("And?")
        assert here.bodies[-1]["max_tokens"] == 4_000


async def test_a_cut_answer_is_asked_for_again_with_the_raised_cap_within_what_the_model_gives(tmp_path: Path) -> None:
    script = says("The note", stop_reason='"max_tokens"') + says(ANSWER) + says("Good.")
    async with stage(tmp_path, script, model="claude-opus-4-1") as here:
        assert (await here.turn()).end.answer == ANSWER
        await here.turn("And?")
        assert [body["max_tokens"] for body in here.bodies] == [8_000, 32_000, 32_000]
        assert here.bodies[0]["messages"] == here.bodies[1]["messages"]


async def test_a_server_that_takes_no_diagnostics_is_not_asked_again_why_the_cache_missed(tmp_path: Path) -> None:
    refusal = fails(400, message='"diagnostics: Extra inputs are not permitted"')
    async with stage(tmp_path, refusal + says(ANSWER) + says("Good.")) as here:
        assert (await here.turn()).end.answer == ANSWER
        assert (await here.turn("And?")).end.answer == "Good."
        assert ["diagnostics" in body for body in here.bodies] == [True, False, False]
        assert all("cache_control" in str(body["system"]) for body in here.bodies)


# ── text that does not count ────────────────────────────────────────────────────────────────────


async def test_text_that_is_continued_is_not_reported_as_discarded(tmp_path: Path) -> None:
    script = says("Half an answer, ", stop_reason='"max_tokens"') * 2 + says("and the rest.")
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY in turn.codes
        # The first reply is asked for again with a higher cap, the second one is kept and continued.
        assert [lost.characters for lost in turn.of(PartialDiscarded)] == [len("Half an answer, ")]
        assert shown_text(turn.events) == turn.end.answer == "Half an answer, and the rest."


# ── another model ───────────────────────────────────────────────────────────────────────────────


async def test_another_model_is_asked_only_while_one_is_waited_for_and_one_is_left(tmp_path: Path) -> None:
    script = fails(529) * 2 + says(ANSWER)
    async with stage(tmp_path, script, fallback_models=(FALLBACK,)) as here:
        decisions, offered = here.agent.parts.decisions, list[str | None]()

        def ask_other(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                offered.append(decisions.other_model)
                if decisions.other_model is None:
                    with pytest.raises(HarnessError, match="every fallback was asked already"):
                        decisions.ask_other_model()
                else:
                    decisions.ask_other_model()

        assert decisions.other_model is None
        with pytest.raises(HarnessError, match="no model is being waited for"):
            decisions.ask_other_model()
        turn = await here.turn(on_event=ask_other)
        assert turn.end.answer == ANSWER
        assert offered == [FALLBACK, None]
        assert [(event.to_model, event.reason) for event in turn.of(ModelSwitched)] == [
            (FALLBACK, "chosen instead of waiting")
        ]
        assert [body["model"] for body in here.bodies][1:] == [FALLBACK] * 2


async def test_without_a_fallback_there_is_no_other_model(tmp_path: Path) -> None:
    async with stage(tmp_path, "") as here:
        with pytest.raises(HarnessError, match="name one in fallback_models"):
            here.agent.parts.decisions.ask_other_model()


async def test_a_policy_that_decides_nothing_ends_the_turn_with_its_mistake(tmp_path: Path) -> None:
    policies = Policies(decide=lambda *_: None)  # type: ignore[arg-type]
    async with sessions(tmp_path, says(ANSWER)) as here, await here.open(policies=policies) as session:
        end = (await played(session.run("Go."))).end
        assert (end.code, "must return a decision" in end.reason) == (TransitionCode.MODEL_ERROR, True)
