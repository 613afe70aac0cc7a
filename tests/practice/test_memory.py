"""How the memory of the practice server grows with a long conversation."""

import gc
import re
import tracemalloc
from random import Random

import pytest

from harness.events import Json
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from tests.practice.raw_client import HEADERS, TOOL, post, request

pytestmark = pytest.mark.anyio

BETA = "cache-diagnosis-2026-04-07"
MESSAGE_ID = re.compile(r'"id":\s*"(msg_[^"]+)"')
TURNS = 100
WORDS = 10
"""In a prompt; the newest block is a breakpoint of the cache, and the cache diagnosis is asked for."""


@pytest.mark.stories
async def test_memory_grows_with_the_turns_and_not_with_what_they_repeat() -> None:
    """Each request repeats the whole conversation. Kept are digests: a turn late in it costs no more than an early one,
    and less than its own text."""
    dice, said, previous = Random(1), 0, None
    history, sizes = list[Json](), list[int]()
    server = PracticeServer(RuleModel(), remember=0)
    async with server:
        tracemalloc.start()
        try:
            for _ in range(TURNS):
                text = " ".join(str(dice.random()) for _ in range(WORDS))
                said += len(text)
                block = {"type": "text", "text": text}
                marked = {"role": "user", "content": [block | {"cache_control": {"type": "ephemeral"}}]}
                diagnostics = {"previous_message_id": previous}
                body = request(messages=[*history, marked], tools=[TOOL], diagnostics=diagnostics)
                seen = await post(server.base_url, body, headers=HEADERS | {"anthropic-beta": BETA})
                assert seen.status == 200, seen.raw
                previous = MESSAGE_ID.findall(seen.raw.decode())[0]
                history += [{"role": "user", "content": [block]}, {"role": "assistant", "content": "Noted."}]
                del body, marked, seen
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
    quarter = TURNS // 4
    own = said / TURNS
    early, late = (sizes[at + quarter] - sizes[at] for at in (quarter, TURNS - quarter - 1))
    assert late < 1.5 * early
    assert late / quarter < 20 * own
