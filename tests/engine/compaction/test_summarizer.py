"""Requests for a summary: the first one, those after each kind of answer, and the end of trying."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import (
    CompactionEnded,
    Event,
    HistoryReplaced,
    RequestSent,
    RetryScheduled,
    SilenceEnded,
    SilenceHint,
    TextDelta,
)
from harness.policies.recovery.compaction import SUMMARY_TRIES
from tests.agent.stage import calls, fails, played, run, says, stage, summarises, too_long
from tests.engine.compaction.test_compactor import (
    ANSWER,
    NO_SUMMARY,
    methods,
    prints,
    purposes,
    summary_fails,
    the_vocabulary_is_built,
)

__all__ = ["the_vocabulary_is_built"]

pytestmark = pytest.mark.anyio

HISTORY = calls(run("x")) + calls(prints(9_000)) * 3 + says(ANSWER)
SUMMARY = "Requests: what is the answer. Done: looked. Next: answer."


def of_summary(entry: str) -> str:
    """An entry of a script for one request for a summary."""
    return entry.rstrip() + '\nwhen = { purpose = "summary" }\n'


def sizes(bodies: list[dict[str, object]]) -> list[int]:
    return [len(json.dumps(body["messages"])) for body in bodies]


async def test_the_whole_history_is_sent_with_the_request_and_its_focus_at_the_end(tmp_path: Path) -> None:
    async with stage(tmp_path, HISTORY + summarises(SUMMARY)) as here:
        await here.turn("What is the answer?")
        compacted = await here.compact("the file names")
        asked = here.bodies[-1]
        assert "echo x" in json.dumps(asked["messages"])
        assert "the file names" in json.dumps(asked["messages"][-1])
        assert "the file names" not in json.dumps(asked["messages"][:-1])
        (sent,) = compacted.of(RequestSent)
        assert sent.purpose == "summary"
        (replaced,) = compacted.of(HistoryReplaced)
        assert SUMMARY in json.dumps([message.content for message in replaced.messages])
        assert compacted.of(TextDelta) == []


async def test_a_summary_waits_for_an_overload_as_a_turn_does(tmp_path: Path) -> None:
    script = HISTORY + of_summary(fails(529, headers='{ retry-after = "7" }'))
    async with stage(tmp_path, script + summarises(SUMMARY)) as here:
        await here.turn()
        compacted = await here.compact()
        (waited,) = compacted.of(RetryScheduled)
        assert (waited.scope, waited.status, waited.delay_s) == ("compaction", 529, 7.0)
        assert 7.0 in here.clock.waits
        assert methods(compacted) == [("summary", True)]


async def test_an_interrupted_wait_gives_the_summary_up_and_the_history_stays(tmp_path: Path) -> None:
    script = HISTORY + of_summary(fails(529, headers='{ retry-after = "7" }'))
    async with stage(tmp_path, script + summarises(SUMMARY)) as here:
        await here.turn()
        before, posts = here.agent.conversation.messages, len(here.posts)

        def stop(event: Event) -> None:
            if isinstance(event, RetryScheduled):
                here.agent.interrupt()

        compacted = await played(here.agent.parts.user_commands.compact(""), stop)
        here.events += compacted.events
        assert [event.succeeded for event in compacted.of(CompactionEnded)] == [False]
        assert here.agent.conversation.messages == before
        assert len(here.posts) == posts + 1


async def test_a_model_that_asks_for_tools_is_asked_again_with_its_calls_in_words(tmp_path: Path) -> None:
    script = HISTORY + of_summary(calls(run("never"))) + summarises(SUMMARY)
    async with stage(tmp_path, script) as here:
        await here.turn()
        spent = here.agent.conversation.spend.retry_usage
        compacted = await here.compact()
        assert methods(compacted) == [("summary", True)]
        first, second = here.bodies[-2:]
        assert "tool_use" in json.dumps(first["messages"])
        assert "tool_use" not in json.dumps(second["messages"])
        assert "echo x" in json.dumps(second["messages"])
        assert here.agent.conversation.spend.retry_usage.output > spent.output
        assert here.ran() == {"x": 1}


async def test_a_model_that_only_asks_for_tools_is_asked_twice(tmp_path: Path) -> None:
    async with stage(tmp_path, HISTORY + summary_fails(NO_SUMMARY["tools"])) as here:
        await here.turn()
        compacted = await here.compact()
        assert purposes(compacted) == ["summary"] * 2
        (ended,) = compacted.of(CompactionEnded)
        assert not ended.succeeded
        assert ended.detail.startswith("no summary (")


@pytest.mark.parametrize("refusals", range(SUMMARY_TRIES + 1))
async def test_a_request_that_is_too_long_is_made_a_fifth_smaller_each_time_at_most_twice(
    tmp_path: Path, refusals: int
) -> None:
    refused = "".join(of_summary(too_long(208_000 - 1_000 * number)) for number in range(refusals))
    script = "".join(calls(prints(30_000)) for _ in range(6)) + says(ANSWER)
    async with stage(tmp_path, script + refused + summarises(SUMMARY), loop_intervention=False) as here:
        await here.turn()
        posts = len(here.posts)
        compacted = await here.compact()
        asked = sizes(here.bodies[posts:])
        assert all(later <= 0.85 * earlier for earlier, later in pairwise(asked))
        assert len(asked) == min(refusals + 1, SUMMARY_TRIES)
        assert methods(compacted)[0][1] is (refusals < SUMMARY_TRIES)


async def test_a_summary_that_is_cut_is_asked_for_again_with_more_room(tmp_path: Path) -> None:
    cut = of_summary('\n[[reply]]\ntext = "Requests: the"\nstop_reason = "max_tokens"\n')
    async with stage(tmp_path, HISTORY + cut + summarises(SUMMARY)) as here:
        await here.turn()
        compacted = await here.compact()
        assert methods(compacted) == [("summary", True)]
        first, second = here.bodies[-2:]
        assert second["max_tokens"] > first["max_tokens"]
        assert 'Requests: the"' not in json.dumps([one.content for one in here.agent.conversation.messages])


@pytest.mark.parametrize("kind", sorted(NO_SUMMARY.keys() - {"too long", "window"}))
async def test_what_is_no_summary_leaves_the_history_as_it_is_and_says_why(tmp_path: Path, kind: str) -> None:
    async with stage(tmp_path, HISTORY + summary_fails(NO_SUMMARY[kind])) as here:
        await here.turn()
        before = here.agent.conversation.messages
        compacted = await here.compact()
        (ended,) = compacted.of(CompactionEnded)
        assert not ended.succeeded
        assert ended.detail.startswith("no summary (")
        assert here.agent.conversation.messages == before
        assert compacted.of(HistoryReplaced) == []


async def test_silence_is_shown_and_nothing_of_the_summary(tmp_path: Path) -> None:
    silent = 'chunk = 5\nfault = { kind = "stall", at = 6, seconds = 0.5 }\n'
    script = HISTORY + of_summary(says(SUMMARY).rstrip() + f"\n{silent}") + summarises(SUMMARY)
    async with stage(tmp_path, script, watch_hint_s=0.2) as here:
        await here.turn()
        compacted = await here.compact()
        kinds = [type(event) for event in compacted.events if isinstance(event, SilenceHint | SilenceEnded | TextDelta)]
        assert (kinds[0], kinds[-1]) == (SilenceHint, SilenceEnded)
        assert TextDelta not in kinds
