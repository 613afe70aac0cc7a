"""What fills the window of the next request."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine.conversation import Conversation, ignore
from harness.engine.model.calls import ModelCalls
from harness.engine.model.context_report import ContextReport, PromptPart, parts_of_request, prompt_parts
from harness.events import Block, CompactionEnded, Message
from harness.model.prompt import Instructions, PromptSection, system_blocks
from tests.engine.cores import core_in

IMAGE: Block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}


def result(id: str, *content: Block) -> Block:
    return {"type": "tool_result", "tool_use_id": id, "content": list(content)}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def count(message: Message) -> int:
    """Ten tokens for each block, and one hundred for an image."""
    return sum(100 if block["type"] == "image" else 10 for block in message.content)


HISTORY = (
    Message("user", (text("Look."), text("Really."), IMAGE)),
    Message("assistant", (text("Yes."), {"type": "tool_use", "id": "1", "name": "bash", "input": {}})),
    Message("user", (result("1", text("a")), result("2", text("b"), IMAGE), result("3", text("c")))),
)


@pytest.mark.parametrize("scale", [1, 2])
def test_the_parts_of_a_request_add_up_to_its_size(scale: int) -> None:
    together = 40 + 25 + 20 + 20 + 200 + 20 + 10  # system, tools, prompts, replies, images, results, drained
    parts = parts_of_request(HISTORY, {"3"}, system=40, together=together, estimate=scale * together, count=count)
    assert sum(part.tokens for part in parts) == scale * together
    assert {part.name: (part.tokens // scale, part.count) for part in parts} == {
        "system prompt": (40, None),
        "tool schemas": (25, None),
        "prompts": (20, 1),
        "images and PDF": (200, 2),
        "replies": (20, 1),
        "tool results": (20, 2),
        "drained results": (10, 1),
    }


def test_a_request_that_counts_less_than_its_parts_has_no_negative_one() -> None:
    parts = parts_of_request((), frozenset(), system=10, together=5, estimate=7, count=count)
    assert [(part.name, part.tokens) for part in parts if part.tokens] == [("system prompt", 7)]
    assert all(
        not part.tokens for part in parts_of_request((), frozenset(), system=0, together=0, estimate=0, count=count)
    )


def test_the_parts_of_the_prompt_name_their_files_and_leave_out_empty_sections() -> None:
    sections = [PromptSection("instructions", " Be brief.\n"), PromptSection("skills", " \n")]
    parts = prompt_parts(sections, [Instructions("AGENTS.md", "Be brief.", from_user=False)], [{"name": "é"}], len)
    assert parts == (
        PromptPart("instructions", "Be brief.", 9, ("AGENTS.md",)),
        PromptPart("tool schemas", '{"name": "é"}', 13),
    )


def report(folder: Path, **settings: Any) -> ContextReport:
    talk = Conversation(ignore, messages=HISTORY[:2])
    talk.emit(CompactionEnded("summary", 9, 3, succeeded=True, detail="so"))
    core = core_in(folder, talk, **settings)
    sections = (PromptSection("role", "You are a reviewer of plans."),)
    calls = ModelCalls(core, system_blocks(sections, core.settings.cache_ttl), ({"name": "bash"},))
    return ContextReport(core, calls, sections, gave_up=True)


def test_the_report_of_a_conversation_is_about_its_next_request(tmp_path: Path) -> None:
    made = report(tmp_path, compact_at="50%", auto_compact=False)
    size, window = made.size
    use = made.usage
    assert (use.tokens, use.window, use.automatic, use.gave_up, use.shortenings.summaries) == (
        size,
        window,
        False,
        True,
        1,
    )
    assert sum(part.tokens for part in use.parts) == size
    assert all(part.tokens > 0 for part in use.parts[:3])
    assert use.levels.compact == window // 2
    assert use.answer == window - use.levels.usable > 0
    assert use.free == use.levels.usable - size
    assert replace(use, tokens=window).free == 0
    assert [part.name for part in made.prompt_parts] == ["role", "tool schemas"]


def test_only_a_prompt_that_cannot_fit_an_empty_history_is_too_long(tmp_path: Path) -> None:
    made = report(tmp_path)
    usable = made.usage.levels.usable
    assert made.too_long("word " * 1_000) == ""
    assert made.too_long("a" * (usable + 1)) == ""  # more characters than tokens
    sentence = made.too_long("字" * 2 * usable)
    assert f"takes {usable:,} beside its answer" in sentence
