"""/context: where the tokens are, in front of real sessions."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.engine.model.context_report import ContextUse, parts_of_request
from harness.engine.permissions.asker import NoAsker
from harness.events import CompactionEnded, Message
from harness.journal import CompactionCounts
from harness.policies.recovery.compaction import thresholds
from harness.session import open_session
from harness.ui.commands.commands import run_command, works_any_time
from harness.ui.commands.context_commands import context_lines
from harness.ui.commands.results import ShowText
from tests.agent.stage import calls, says, settings_of, stage

pytestmark = pytest.mark.anyio


def prints(characters: int) -> str:
    return f'{{ name = "bash", input = {{ command = "head -c {characters} /dev/zero | tr \'\\\\0\' x" }} }}'


async def test_a_new_session_has_a_prompt_and_tools_and_room(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        said = run_command("/context", session)
        assert isinstance(said, ShowText)
        lines = said.text.splitlines()
        assert [" ".join(line.split()[:2]) for line in lines[:2]] == ["system prompt", "tool schemas"]
        assert any(line.strip().startswith("free") for line in lines)
        assert "of 1,000,000 tokens are used (1%)" in said.text
        assert "from 200,000 tokens on, old tool results are drained to 160,000" in said.text
        assert "that is 20% of the window; change it with the setting compact_at" in said.text
        assert lines[-1] == "so far: 0 drains, 0 summaries, 0 cuts"
        assert works_any_time("/context")


async def test_after_a_drain_it_says_which_results_only_point_to_their_files(tmp_path: Path) -> None:
    script = "[server]\nwindow = 30000\nmax_output = 2000\n" + calls(prints(9_000)) * 11 + says("Done.")
    async with stage(tmp_path, script, loop_intervention=False) as here:
        await here.turn()
        use = here.agent.parts.context.usage
        drained = {part.name: part.count for part in use.parts}["drained results"]
        assert drained == len(use.shortenings.drained) > 0
        assert {part.name: part.count for part in use.parts}["tool results"] == 11 - drained
        assert (use.tokens, use.window) == here.agent.parts.context.size
        lines = list(context_lines(use))
        assert "so far: 1 drain, 0 summaries, 0 cuts" in lines
        assert max(map(len, lines)) <= 100
        assert len(lines) <= 15
        assert f"from {use.levels.compact:,} tokens on" in "\n".join(lines)


@pytest.mark.parametrize(
    ("automatic", "gave_up", "words"),
    [
        (False, False, "requests are blocked at 177,000 tokens"),
        (True, True, "summaries are off after three failures"),
        (True, False, "from 167,000 tokens on, old tool results are drained to 133,600, or the history is summarised"),
    ],
)
def test_it_says_what_happens_when_the_window_is_nearly_full(automatic: bool, gave_up: bool, words: str) -> None:
    levels = thresholds(200_000, 64_000)
    use = ContextUse((), 0, 200_000, levels, automatic=automatic, gave_up=gave_up, shortenings=CompactionCounts())
    assert words in "\n".join(context_lines(use))


def test_the_numbers_are_below_each_other(tmp_path: Path) -> None:
    use = ContextUse(
        parts_of_request((Message("user", ()),), frozenset(), system=5, together=9, estimate=12_345, count=lambda _: 1),
        *(12_345, 200_000, thresholds(200_000, 64_000)),
        automatic=True,
        gave_up=False,
        shortenings=CompactionCounts(),
    )
    ends = {line.index("%") for line in context_lines(use) if line.startswith("  ")}
    assert len(ends) == 1


kinds = st.sampled_from(["prompt", "reply", "result", "drained"])


@given(st.lists(st.tuples(kinds, st.integers(1, 900)), max_size=12), st.integers(0, 90), st.integers(0, 90_000))
def test_the_parts_add_up_to_the_estimate_and_every_block_is_counted_once(
    history: list[tuple[str, int]], tools: int, estimate: int
) -> None:
    messages, drained = [], set()
    for number, (kind, length) in enumerate(history):
        if kind in ("prompt", "reply"):
            messages.append(
                Message("user" if kind == "prompt" else "assistant", ({"type": "text", "text": "x" * length},))
            )
            continue
        block = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "x" * length}
        messages.append(Message("user", (block,)))
        drained |= {f"t{number}"} if kind == "drained" else set()

    def count(message: Message) -> int:
        return sum(len(block.get("text") or block.get("content") or "") for block in message.content)

    together = 70 + tools + sum(map(count, messages))
    parts = parts_of_request(messages, drained, system=70, together=together, estimate=estimate, count=count)
    assert sum(part.tokens for part in parts) == estimate
    names = {"prompt": "prompts", "reply": "replies", "result": "tool results", "drained": "drained results"}
    found = {part.name: part for part in parts}
    for kind, name in names.items():
        assert found[name].count == sum(one == kind for one, _ in history)
        share = estimate * sum(length for one, length in history if one == kind) / together
        assert abs(found[name].tokens - share) <= 1


def test_what_was_done_is_counted_by_what_it_was() -> None:
    drain = CompactionEnded("truncation", 9, 3, succeeded=True, detail="", drained=("a", "b"))
    nothing = CompactionEnded("truncation", 9, 9, succeeded=False, detail="")
    cut = CompactionEnded("truncation", 9, 3, succeeded=False, detail="")
    summary = CompactionEnded("summary", 9, 3, succeeded=True, detail="")
    failed = CompactionEnded("summary", 9, 9, succeeded=False, detail="")
    done = CompactionCounts()
    for event in (drain, nothing, cut, summary, failed, drain):
        done = done.after(event)
    assert done == CompactionCounts(drains=2, summaries=1, cuts=1, drained=frozenset("ab"))
