"""Histories that grow too long are made to fit, in every way there is, and it always ends (group E)."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import (
    CompactionEnded,
    CompactionStarted,
    HistoryReplaced,
    Json,
    Message,
    Notice,
    RequestSent,
    SilenceEnded,
    SilenceHint,
    TextDelta,
    TransitionCode,
)
from harness.model.tokens import load_vocabulary
from harness.tools.tool import Effect, tool
from tests.agent.stage import Played, calls, played, run, says, sessions, stage, summarises, too_long
from tests.media.files import png
from tests.processes.traces import until
from tests.whole import stride

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True, scope="module")
def the_vocabulary_is_built() -> None:
    """So that no agent goes from the rule of thumb to exact counts in the middle of its turn, and drains once more."""
    assert load_vocabulary() is not None


ANSWER = "Forty-two."
SMALL = "claude-haiku-4-5"
"""A model with a window of 200,000 tokens."""
FULL = "{ input_tokens = 190000 }"


def prints(characters: int) -> str:
    """A tool call, for a script, with a result of that length."""
    return f'{{ name = "bash", input = {{ command = "head -c {characters} /dev/zero | tr \'\\\\0\' x" }} }}'


def summary_fails(entry: str) -> str:
    """A script entry for summary requests."""
    return f'\n[[reply]]\nwhen = {{ purpose = "summary" }}\ntimes = "forever"\n{entry}\n'


def methods(turn: Played) -> list[tuple[str, bool]]:
    return [(event.method, event.succeeded) for event in turn.of(CompactionEnded)]


def purposes(turn: Played) -> list[str]:
    return [event.purpose for event in turn.of(RequestSent)]


def said(body: Json) -> str:
    return json.dumps(body["messages"], ensure_ascii=False)


# ── by the real size ────────────────────────────────────────────────────────────────────────────────


async def test_old_images_are_drained_too_and_the_newest_stay(tmp_path: Path) -> None:
    reads = [f'{{ name = "read_file", input = {{ path = "{number}.png" }} }}' for number in range(16)]
    script = "[server]\nwindow = 30000\n" + "".join(map(calls, reads)) + says(ANSWER)
    async with stage(tmp_path, script, loop_intervention=False) as here:
        for number in range(16):
            (here.workspace / f"{number}.png").write_bytes(png(28 * 50, 28 * 40 + number))
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert "summary" not in purposes(turn)
        assert [ended.method for ended in turn.of(CompactionEnded)][:1] == ["truncation"]
        results = [block for message in here.bodies[-1]["messages"] for block in message["content"][:1]]
        kinds = [block["content"][1]["type"] for block in results if block["type"] == "tool_result"]
        assert kinds[:1] == ["text"]
        assert kinds[-5:] == ["image"] * 5
        assert "read the file again to see it" in said(here.bodies[-1])


async def test_results_that_cannot_be_kept_on_disk_are_not_drained_but_summarised(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where the folder should be")
    script = "[server]\nwindow = 30000\n" + calls(prints(9_000)) * 11 + says(ANSWER) + summarises()
    async with stage(tmp_path, script, loop_intervention=False) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert methods(turn)[-1] == ("summary", True)
        assert "[whole result: " not in said(here.bodies[-1])


@pytest.mark.grid(1)
@pytest.mark.parametrize("seed", range(0, 3, stride(3)))
async def test_a_long_task_in_a_small_window_comes_to_its_end(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    rounds = "".join(calls(*[prints(dice.choice((50, 2_000, 9_000, 30_000)))] * dice.choice((1, 2))) for _ in range(25))
    server = f"[server]\nwindow = 25200\noverflow = '{dice.choice(('error', 'accept'))}'\n"
    async with stage(tmp_path, server + rounds + says(ANSWER) + summarises()) as here:
        turn = await here.turn("Count all the letters.")
        while turn.end.code is TransitionCode.COMPACTION_THRASH:
            turn = await here.retry()
        assert (turn.end.code, turn.end.answer) == (TransitionCode.COMPLETED, ANSWER)
        refused = len(here.posts) - 26 - purposes(Played(here.events)).count("summary")
        assert refused <= 8
        assert len(turn.of(CompactionEnded)) == sum(succeeded for _, succeeded in methods(turn))


# ── before the request ──────────────────────────────────────────────────────────────────────────────


async def test_a_history_that_is_nearly_full_is_summarised_before_the_next_request(tmp_path: Path) -> None:
    script = calls('{ name = "read_file", input = { path = "note.txt" } }', usage=FULL) + says(ANSWER) + summarises()
    async with stage(tmp_path, script, model=SMALL) as here:
        (here.workspace / "note.txt").write_text("as it was\n")
        turn = await here.turn("What does the note say, word for word?")
        assert purposes(turn) == ["turn", "summary", "turn"]
        assert [event.trigger for event in turn.of(CompactionStarted)] == ["auto"]
        assert turn.end.answer == ANSWER
        sent = said(here.bodies[-1])
        assert "word for word?" in sent
        assert "Requests: what is the answer" in sent


@pytest.mark.parametrize(
    ("compact_at", "tokens", "shortened"),
    [
        (None, 201_000, True),
        (None, 190_000, False),
        ("60%", 590_000, False),
        ("60%", 601_000, True),
        (50_000, 51_000, True),
    ],
)
async def test_on_a_window_of_a_million_the_setting_says_when_the_history_is_shortened(
    tmp_path: Path, compact_at: str | int | None, tokens: int, *, shortened: bool
) -> None:
    note = '{ name = "read_file", input = { path = "note.txt" } }'
    script = calls(note, usage=f"{{ input_tokens = {tokens} }}") + says(ANSWER) + summarises()
    async with stage(tmp_path, script, model="claude-sonnet-4-6", compact_at=compact_at) as here:
        (here.workspace / "note.txt").write_text("as it was\n")
        turn = await here.turn()
        assert (purposes(turn) == ["turn", "summary", "turn"]) is shortened
        assert turn.end.answer == ANSWER


async def test_files_in_use_are_read_again_after_a_summary(tmp_path: Path) -> None:
    script = (
        calls('{ name = "read_file", input = { path = "note.txt" } }')
        + calls('{ name = "bash", input = { command = "echo changed > note.txt" } }')
        + "".join(calls(prints(100)) for _ in range(3))
        + calls(prints(40_000), prints(40_000))
        + says(ANSWER)
        + summarises()
    )
    async with stage(tmp_path, "[server]\nwindow = 20000\n" + script) as here:
        (here.workspace / "note.txt").write_text("original\n")
        assert (await here.turn()).end.answer == ANSWER
        assert "note.txt as it is now" in said(here.bodies[-1])
        assert "changed" in said(here.bodies[-1])


async def test_a_long_file_is_read_again_without_its_middle(tmp_path: Path) -> None:
    script = calls('{ name = "read_file", input = { path = "note.txt" } }') + calls(prints(40_000)) * 5 + says(ANSWER)
    async with stage(tmp_path, script + says("Good.") + summarises(), model=SMALL, loop_intervention=False) as here:
        (here.workspace / "note.txt").write_text("a line\n" * 1_900)
        await here.turn()
        await here.compact()
        await here.turn("And?")
        (text,) = (one["text"] for one in here.bodies[-1]["messages"][0]["content"] if "as it is now" in one["text"])
        assert 15_000 < len(text) < 15_100


# ── the milder layer before the request ────────────────────────────────────


WINDOW = "[server]\nwindow = 30000\nmax_output = 2000\n"


def compactions(events: Played) -> list[tuple[str, str, int]]:
    """Trigger, method and number of drained results of each."""
    begun, ended = events.of(CompactionStarted), events.of(CompactionEnded)
    return [(a.trigger, b.method, len(b.drained)) for a, b in zip(begun, ended, strict=True)]


def results_in(body: Json) -> list[str]:
    blocks = [block for message in body["messages"] for block in message["content"] if isinstance(block, dict)]
    return [str(block["content"]) for block in blocks if block["type"] == "tool_result"]


def numbered(number: int, characters: int) -> str:
    """A tool call, for a script, whose result begins with its number. Its text has about as many tokens with the
    vocabulary as by the rule of thumb, so that it does not matter when the vocabulary is there."""
    command = f"echo result {number}; yes 'order 1012 was packed by the 2 early shifts' | head -c {characters}"
    return f'{{ name = "bash", input = {{ command = "{command}" }} }}'


async def test_old_results_are_drained_before_an_overflow_and_their_originals_stay_readable(tmp_path: Path) -> None:
    rounds = "".join(calls(numbered(n, 9_000)) for n in range(15))
    async with stage(tmp_path, WINDOW + rounds + says(ANSWER) + summarises(), loop_intervention=False) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert TransitionCode.COLLAPSE_DRAIN_RETRY in turn.codes, "it learns the window from the first refusal"
        assert [one for one in compactions(turn) if one[0] == "auto"], "and does not overflow again"
        assert turn.codes.count(TransitionCode.COLLAPSE_DRAIN_RETRY) == 1
        assert "summary" not in purposes(turn)
        shown = results_in(here.bodies[-1])
        assert len(shown) == 15
        for number, text in enumerate(shown):
            assert f"result {number}\n" in text
            if "[whole result: " in text:
                file = Path(text.rpartition("[whole result: ")[2].removesuffix("]"))
                assert file.read_text().startswith(f"result {number}\n")
                assert len(file.read_text()) > 9_000
        assert all("[whole result: " not in text for text in shown[-5:])


async def test_after_a_drain_the_next_steps_do_not_drain_again(tmp_path: Path) -> None:
    rounds = "".join(calls(numbered(n, 9_000)) for n in range(16)) + calls(run("small")) * 12
    async with stage(tmp_path, WINDOW + rounds + says(ANSWER), loop_intervention=False) as here:
        await here.turn()
        drains = [at for at, event in enumerate(here.events) if isinstance(event, CompactionEnded)]
        steps = [sum(isinstance(event, RequestSent) for event in here.events[:at]) for at in drains]
        assert len(steps) >= 2
        assert all(after - before >= 3 for before, after in pairwise(steps))
        assert sum(step >= 18 for step in steps) <= 1, "what the last large result needs, and the small steps no more"


async def test_an_unanswered_result_that_a_summary_cuts_names_the_file_that_holds_it(tmp_path: Path) -> None:
    script = "[server]\nwindow = 14000\n" + calls(numbered(7, 48_000)) + says(ANSWER) + summarises()
    async with stage(tmp_path, script) as here:
        assert (await here.turn("Find the number.")).end.answer == ANSWER
        [shown] = results_in(here.bodies[-1])
        file = Path(shown.rpartition("[whole result: ")[2].removesuffix("]"))
        assert len(file.read_text()) > 48_000
        assert said(here.bodies[-1]).count("Find the number.") == 1


# ── summaries that are none ────────────────────────────────────────────────────────────


NO_SUMMARY = {
    "empty": 'text = ""',
    "blank": 'text = "  "',
    "tools": f"tools = [{run('never')}]",
    "refused": 'text = "No."\nstop_reason = "refusal"',
    "cut": 'text = "Requests: the"\nstop_reason = "max_tokens"',
    "error": "status = 402",
    "window": 'text = "Requ"\nstop_reason = "model_context_window_exceeded"',
    "too long": 'status = 400\nmessage = "prompt is too long: 205000 tokens > 200000 maximum"',
}


@pytest.mark.parametrize("kind", NO_SUMMARY)
async def test_without_a_summary_the_oldest_part_is_left_out_and_the_turn_continues(kind: str, tmp_path: Path) -> None:
    script = "".join(calls(prints(3_000)) for _ in range(3)) + too_long() + says(ANSWER)
    async with stage(tmp_path, script + summary_fails(NO_SUMMARY[kind])) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert methods(turn) == [("truncation", False)]
        assert here.ran() == {}
        assert len(here.bodies[-1]["messages"]) <= len(here.bodies[-3]["messages"])
        assert "Requests" not in said(here.bodies[-1])


async def test_a_request_for_a_summary_that_is_too_long_is_made_smaller_three_times(tmp_path: Path) -> None:
    refusals = "".join(
        f'\n[[reply]]\nwhen = {{ purpose = "summary" }}\nstatus = 400\n'
        f'message = "prompt is too long: {tokens} tokens > 200000 maximum"\n'
        for tokens in (208_000, 204_000)
    )
    script = "".join(calls(prints(30_000)) for _ in range(6)) + too_long() + says(ANSWER)
    async with stage(tmp_path, script + refusals + summarises(), loop_intervention=False) as here:
        turn = await here.turn()
        assert purposes(turn)[-5:] == ["turn", "summary", "summary", "summary", "turn"]
        assert methods(turn) == [("summary", True)]
        assert turn.end.answer == ANSWER


async def test_three_failures_switch_it_off_and_a_compaction_by_hand_on_again(tmp_path: Path) -> None:
    full = calls(run("x"), usage=FULL)
    refused = '\n[[reply]]\nwhen = { purpose = "summary" }\nstatus = 402\ntimes = 3\n'
    script = full * 5 + says(ANSWER, usage=FULL) + says(ANSWER, usage=FULL) + says("Good.")
    async with stage(tmp_path, script + refused + summarises(), model=SMALL, loop_intervention=False) as here:
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert methods(turn) == [("summary", False)] * 3
        assert not turn.of(HistoryReplaced)
        assert [event.level for event in turn.of(Notice)] == ["warning"]
        assert "summary" not in purposes(await here.turn("And?"))
        assert methods(await here.compact()) == [("summary", True)]
        await here.turn("And?")
        assert len(here.posts) == 6 + 3 + 1 + 1 + 1


async def test_compactions_that_do_not_help_end_the_turn_without_another_request(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(run("x"), usage=FULL) * 8 + summarises(), model=SMALL) as here:
        turn = await here.turn()
        assert turn.codes[-1] is TransitionCode.COMPACTION_THRASH
        assert "largest message" in turn.end.reason
        assert len(turn.of(CompactionStarted)) == 3
        assert len(here.posts) == 4 + 3
        assert turn.events[-3].__class__ is not RequestSent


# ── by hand, and switched off ─────────────────────────────────────────────────────────────


async def test_a_compaction_by_hand_looks_at_what_the_user_cares_about(tmp_path: Path) -> None:
    async with stage(tmp_path, calls(prints(9_000)) * 3 + says(ANSWER) + says("Good.") + summarises()) as here:
        await here.turn()
        compacted = await here.compact("the file names")
        assert methods(compacted) == [("summary", True)]
        assert "the file names" in said(here.bodies[-1])
        assert (await here.turn("And?")).end.answer == "Good."
        assert [event.reason for event in compacted.of(HistoryReplaced)] == ["compaction"]


@pytest.mark.parametrize("place", ["headers", "6"])
async def test_a_compaction_says_when_the_server_falls_silent_and_sends_again_and_nothing_of_the_summary(
    tmp_path: Path, place: str
) -> None:
    at = place if place.isdigit() else f'"{place}"'
    silent = f'when = {{ purpose = "summary" }}\nchunk = 5\nfault = {{ kind = "stall", at = {at}, seconds = 0.5 }}\n'
    script = says(ANSWER) + says("Requests: what is the answer.") + silent
    async with stage(tmp_path, script, watch_hint_s=0.2) as here:
        await here.turn()
        compacted = await here.compact()
        assert methods(compacted)[0][0] == "summary"
        hints = [event for event in compacted.events if isinstance(event, SilenceHint | SilenceEnded | TextDelta)]
        assert isinstance(hints[0], SilenceHint)
        assert isinstance(hints[-1], SilenceEnded)
        assert not compacted.of(TextDelta)
        assert len(compacted.of(SilenceEnded)) <= len(compacted.of(SilenceHint))


@pytest.mark.parametrize(
    ("summary", "why"),
    [("word " * 3_000, "the summary would be no shorter"), ("", "no summary")],
    ids=["longer", "empty"],
)
async def test_a_compaction_by_hand_that_gains_nothing_leaves_the_history_as_it_is(
    tmp_path: Path, summary: str, why: str
) -> None:
    async with stage(tmp_path, calls(run("x")) + says(ANSWER) + summarises(summary)) as here:
        await here.turn()
        before = here.agent.conversation.messages
        compacted = await here.compact()
        assert methods(compacted) == [("summary", False)]
        [ended] = compacted.of(CompactionEnded)
        assert ended.detail.startswith(why)
        assert here.agent.conversation.messages == before


async def test_switched_off_it_is_never_shortened_but_by_hand(tmp_path: Path) -> None:
    script = calls(prints(9_000)) * 8 + too_long(300_000, 200_000) + says(ANSWER) + says("Good.") + summarises()
    async with stage(tmp_path, script, auto_compact=False, loop_intervention=False) as here:
        turn = await here.turn()
        assert turn.codes == [*[TransitionCode.NEXT_TURN] * 8, TransitionCode.PROMPT_TOO_LONG]
        assert "auto_compact" in turn.end.reason
        assert not turn.of(HistoryReplaced)
        assert methods(await here.compact()) == [("summary", True)]
        assert (await here.retry()).end.answer == ANSWER


async def test_a_tool_of_ones_own_that_is_called_read_file_is_not_run_behind_the_models_back(tmp_path: Path) -> None:
    ran = []

    @tool(effect=Effect.READ)
    def read_file(path: str, sheet: str) -> str:
        """Read a sheet of a file."""
        ran.append((path, sheet))
        return "1, 2, 3"

    call = {"type": "tool_use", "id": "call_1", "name": "read_file", "input": {"path": "a.ods", "sheet": "first"}}
    result = {"type": "tool_result", "tool_use_id": "call_1", "content": "1, 2, 3"}
    before = [
        Message("user", ({"type": "text", "text": "Read the first sheet."},)),
        Message("assistant", (call,)),
        Message("user", (result,)),
        Message("assistant", ({"type": "text", "text": "It holds three numbers. " * 200},)),
    ]
    script = too_long() + says("Done.") + summarises()
    async with stage(tmp_path, script, tools=[read_file], messages=before) as here:
        assert (await here.turn()).end.answer == "Done."
        assert ran == []


async def test_an_answer_is_asked_for_in_its_format_and_a_summary_is_not(tmp_path: Path) -> None:
    form = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}
    script = says("{}") + summarises()
    async with sessions(tmp_path, script) as here, await here.open(answer_format=form) as session:
        await played(session.run("first"))
        await played(session.user_commands.compact(""))
        formats = [request.body.get("output_config", {}).get("format") for request in here.server.requests]
    assert formats == [form, None]


async def test_tokens_are_counted_exactly_once_a_quarter_of_the_window_is_full(tmp_path: Path) -> None:
    script = says(ANSWER, usage="{ input_tokens = 49000 }") + says(ANSWER, usage="{ input_tokens = 51000 }") * 2
    async with stage(tmp_path, script, model=SMALL) as here:
        counter = here.agent.parts.core.shared.counter
        for _ in range(2):
            await here.turn()
            assert not counter.loaded
        await here.turn()
        await until(lambda: counter.loaded)
