"""The watchdog against a naive one that keeps the whole log of what arrived."""

import asyncio
import socket
import time
from dataclasses import dataclass
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.watchdog import LATE_S, AbortableWait, Aborted, Phase, Watchdog, WatchLimits

LIMITS = WatchLimits()


def test_a_long_prompt_is_given_more_time_before_the_headers() -> None:
    assert Watchdog(LIMITS, 0, now=100.0).deadline().at == 160.0
    assert Watchdog(LIMITS, 500_000, now=100.0).deadline().at == 210.0


def test_before_the_first_block_three_minutes_without_a_byte_are_allowed() -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    dog.on_headers(10.0)
    assert dog.deadline().at == 190.0


def test_pings_move_the_byte_limit_and_not_the_event_limit() -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    dog.on_headers(0.0)
    for second in range(0, 300, 15):
        dog.on_bytes(float(second))
        assert dog.deadline().at > second
    assert dog.deadline().at == 300.0
    assert "keep-alives" in dog.deadline().reason


def test_four_minutes_of_thinking_with_pings_are_not_given_up() -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    dog.on_headers(0.0)
    dog.on_event(1.0, "thinking")
    dog.on_bytes(240.0)
    assert dog.deadline().at == 301.0


def test_inside_a_block_silence_is_given_up_after_45_seconds() -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    dog.on_headers(0.0)
    dog.on_bytes(5.0)
    dog.on_event(5.0, "content")
    assert dog.deadline().at == 50.0
    dog.on_bytes(49.0)
    assert dog.deadline().at == 94.0
    dog.on_bytes(90.0)
    assert dog.deadline().at == 125.0


def test_the_hint_comes_20_seconds_after_the_last_event() -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    assert (dog.phase, dog.hint_at()) == ("connecting", 20.0)
    dog.on_headers(7.0)
    dog.on_bytes(15.0)
    assert (dog.phase, dog.hint_at()) == ("waiting", 27.0)
    dog.on_event(16.0, "thinking")
    assert (dog.phase, dog.hint_at(), dog.silent_s(30.0)) == ("thinking", 36.0, 14.0)


@dataclass(frozen=True)
class Arrival:
    after: float
    kind: str
    phase: Phase


ARRIVALS = st.lists(
    st.builds(
        Arrival,
        st.floats(0, 100, allow_nan=False),
        st.sampled_from(["bytes", "event"]),
        st.sampled_from(cast("tuple[Phase, ...]", get_args(Phase))),
    )
)


def naive_deadline(log: list[tuple[float, Arrival]], headers_at: float) -> float:
    """Read the rules of recovery §8 off the whole log."""
    last_event = max([headers_at, *(at for at, arrival in log if arrival.kind == "event")])
    last_byte = max([headers_at, *(at for at, _ in log)])
    phases = [arrival.phase for _, arrival in log if arrival.kind == "event"]
    if phases and phases[-1] == "content":
        return min(last_byte + 45, last_event + 120)
    return min(last_byte + 180, last_event + 300)


@given(st.floats(0, 50, allow_nan=False), ARRIVALS)
def test_it_agrees_with_a_naive_one(headers_at: float, arrivals: list[Arrival]) -> None:
    dog = Watchdog(LIMITS, 0, now=0.0)
    dog.on_headers(headers_at)
    now, log = headers_at, []
    for arrival in arrivals:
        now += arrival.after
        log.append((now, arrival))
        dog.on_bytes(now)
        if arrival.kind == "event":
            dog.on_event(now, arrival.phase)
        assert dog.deadline().at == pytest.approx(naive_deadline(log, headers_at))


@pytest.mark.anyio
async def test_bytes_that_arrived_while_the_program_was_held_up_are_no_silence() -> None:
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    limits = WatchLimits(headers_s=0.1, content_bytes_s=0.1, quiet_bytes_s=0.1)
    wait = AbortableWait(
        Watchdog(limits, 0, time.monotonic()), 60, lambda _: None, asyncio.Event(), None, time.monotonic
    )

    def hold_up() -> None:
        theirs.sendall(b"b")
        time.sleep(0.1 + LATE_S + 0.1)

    async def reading() -> bytes:
        first = await reader.read(1)
        wait.on_headers()
        wait.on_bytes()
        asyncio.get_running_loop().call_soon(hold_up)
        second = await reader.read(1)
        for _ in range(5):
            await asyncio.sleep(0)  # a client hands bytes on through several tasks
        wait.on_bytes()
        return first + second

    theirs.sendall(b"a")
    assert await wait.wait_for(reading()) == b"ab"
    wait = AbortableWait(
        Watchdog(limits, 0, time.monotonic()), 60, lambda _: None, asyncio.Event(), None, time.monotonic
    )
    assert isinstance(await wait.wait_for(reader.read(1)), Aborted), "there is nothing more to read"
    writer.close()
    theirs.close()
