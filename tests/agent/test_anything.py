"""Anything may come in any order: every turn ends with a code, and every request is one that the API takes (F1, G4).

The scripts are random, the interruptions are, and between turns the session is closed and resumed.
"""

import random
from pathlib import Path

import pytest

from harness.events import Event, RequestSent
from harness.policies.recovery.transitions import TRANSITIONS, TransitionKind
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, Session, open_session
from tests.agent.stage import (
    Played,
    VirtualClock,
    calls,
    check_events,
    check_requests,
    fails,
    kept_text,
    left_running,
    played,
    ran_in,
    run,
    says,
    settings_of,
    shown_text,
    too_long,
)
from tests.whole import stride

pytestmark = pytest.mark.anyio

IMPATIENT = {"watch_headers_s": 0.2, "watch_quiet_bytes_s": 0.2, "watch_content_bytes_s": 0.2}
READ = '{ name = "read_file", input = { path = "note.txt" } }'
UNKNOWN = '{ name = "teleport", input = { to = "Oslo" } }'
LONG = '{ name = "bash", input = { command = "head -c 20000 /dev/zero | tr \'\\\\0\' x" } }'
STREAM_FAULTS = (
    '"error_event"',
    '"reset"',
    '"cut_chunk"',
    '"clean_end"',
    '"bad_json"',
    '"bad_utf8"',
    '"bad_index"',
    '"second_start"',
    '"data_only"',
    '"html_body"',
    '"json_body"',
    '"missing_usage"',
    '"unknown_block"',
    '"unknown_delta"',
    '"stop_reason"',
    '{ kind = "stall", seconds = 0.3 }',
    '{ kind = "clean_end", at = 0 }',
    '{ kind = "clean_end", at = "message_stop" }',
    '{ kind = "reset", at = "headers" }',
    '{ kind = "reset", at = "message_delta" }',
)
CUTS = ('"max_tokens"', '"end"', '"reset"', '"silent"')
STATUSES = (400, 401, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529)


def entry(dice: random.Random, number: int) -> str:
    """An entry of a script: anything. `number` distinguishes its commands."""
    tools = dice.sample([run(f"c{number}"), READ, UNKNOWN, LONG], dice.randint(1, 3))
    fault = dice.choice(STREAM_FAULTS)
    match dice.randrange(12):
        case 0 | 1:
            return calls(*tools, text="I look.")
        case 2:
            return calls(*tools, fault=fault, chunk="5")
        case 3:
            return calls(run(f"c{number}"), fault=f'{{ kind = "cut_tool", ending = {dice.choice(CUTS)} }}')
        case 4:
            return says("Some words of an answer, and then some.", fault=fault, chunk="7")
        case 5:
            return says("Some words, and then ", stop_reason='"max_tokens"')
        case 6:
            return fails(dice.choice(STATUSES), times=str(dice.randint(1, 3)))
        case 7:
            return too_long(dice.randint(200_001, 230_000))
        case 8:
            return says(
                "No.", stop_reason=dice.choice(['"refusal"', '"pause_turn"', '"model_context_window_exceeded"'])
            )
        case 9:
            return f'\n[[reply]]\nthinking = "Hm."\ntools = [{run(f"c{number}")}]\n'
        case 10:
            return says("")
        case _:
            return says("Whole.")


def summary(dice: random.Random) -> str:
    """The reply to the next request for a summary."""
    action = dice.choice(['text = "Next: answer."', 'text = ""', "status = 529", "status = 400", f"tools = [{READ}]"])
    return f'\n[[reply]]\nwhen = {{ purpose = "summary" }}\n{action}\n'


@pytest.mark.parametrize("seed", range(0, 25, stride(4)))
async def test_every_turn_ends_with_a_code_and_every_request_is_valid(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    script = "".join(entry(dice, number) for number in range(25)) + "".join(summary(dice) for _ in range(6))
    bound = f"[server]\nbind_thinking = true\nwindow = {dice.choice((20_000, 200_000))}\n"
    async with PracticeServer(script=Script.parse(f'after = "repeat"\n{bound}{script}')) as server:
        more = IMPATIENT | {"fallback_models": ("claude-haiku-4-5",), "max_steps": 12}
        loaded = settings_of(tmp_path, server.base_url, **more)
        (loaded.settings.workspace / "note.txt").write_text("forty-two\n")
        opening: Opening | None = None
        events: list[Event] = []
        interrupted = False
        for number in range(4):
            async with await open_session(loaded, NoAsker(), opening, clock=VirtualClock()) as session:
                interrupt_at = dice.choice((None, dice.randrange(60)))
                turn = await one_turn(session, f"Prompt {number}.", interrupt_at)
                assert TRANSITIONS[turn.end.code].kind is TransitionKind.END
                assert turn.end.reason
                assert kept_text(turn.events) == shown_text(turn.events)
                events += turn.events
                interrupted |= interrupt_at is not None
                opening = Opening(session.id)
        check_requests(server.requests)
        posts = len(server.requests)
        announced = len(Played(events).of(RequestSent))
        assert announced == posts or interrupted
        check_events(events, announced)
        assert left_running(loaded.settings) == []
        assert sum(ran_in(loaded.settings.workspace).values()) <= posts


async def one_turn(session: Session, prompt: str, interrupt_at: int | None) -> Played:
    seen = 0

    def count(event: Event) -> None:
        nonlocal seen
        seen += 1
        if seen == interrupt_at:
            session.interrupt()

    return await played(session.run(prompt), count)
