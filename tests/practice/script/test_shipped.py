"""What the shipped scripts say fits together: nothing of an answer is lost on the way, and nothing comes twice."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.events import OutputCapChanged, ThinkingDelta, ThinkingEnded
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply
from harness.practice.server import PracticeServer
from tests.agent.stage import kept_text, played, settings_of, shown_text

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("max_tokens", "raised", "requests"), [(None, 1, 4), (500, 0, 3)])
async def test_the_cut_answer_is_whole_whether_the_cap_is_raised_or_not(
    max_tokens: int | None, raised: int, requests: int, tmp_path: Path
) -> None:
    async with PracticeServer(script=Script.load("cut-answer")) as server:
        settings = settings_of(tmp_path, server.base_url, max_tokens=max_tokens).settings
        async with Agent(settings) as agent:
            turn = await played(agent.run("Tell me about retries."))
        assert len([request for request in server.requests if request.path == "/v1/messages"]) == requests
    assert len(turn.of(OutputCapChanged)) == raised
    assert turn.end.answer == (
        "There are three things to know about retries. First: wait longer each time. Second: wait at random, so that "
        "not everybody comes back at once. Third: stop after a while, and say so."
    )
    assert shown_text(turn.events).strip() == kept_text(turn.events).strip()
    assert shown_text(turn.events).split() == turn.end.answer.split()


def without_pauses(script: Script) -> Script:
    """The same script, streamed as fast as it can be."""
    steps = [
        replace(step, action=replace(step.action, reply=replace(step.action.reply, event_delay_s=0.0)))
        if isinstance(step.action, PlayReply) and step.action.reply
        else step
        for step in script.steps
    ]
    return replace(script, steps=steps)


@pytest.mark.parametrize(("effort", "thought"), [(None, 7_200), ("low", 1_800), ("max", 28_800)])
async def test_the_script_that_thinks_shows_thoughts_effort_and_what_they_cost(
    effort: str | None, thought: int, tmp_path: Path
) -> None:
    async with PracticeServer(script=without_pauses(Script.load("thinking"))) as server:
        settings = settings_of(tmp_path, server.base_url, model="claude-opus-5-5", effort=effort).settings
        async with Agent(settings) as agent:
            turn = await played(agent.run("What is here?"))
    assert turn.end.answer.startswith("I looked at the files")
    assert len(turn.of(ThinkingEnded)) == turn.end.steps == 3
    assert "The user wants an answer" in "".join(event.text for event in turn.of(ThinkingDelta))
    usage = turn.end.usage
    assert usage.output == thought > usage.thinking > 0.8 * thought
    assert min(usage.cache_read, usage.cache_creation) > 0
    dollars = 4 * usage.input + 5 * usage.cache_creation + 0.2 * usage.cache_read + 20 * usage.output
    assert turn.end.cost_usd == pytest.approx(dollars / 1_000_000)
    assert not turn.end.unpriced
