"""Real processes and a server that is overloaded: one limit and one probe for all, by the log of the server."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from harness.practice.checks.shapes import request_fields
from tests.fleet.asker import PAUSE_S
from tests.fleet.busy_server import BusyServer, Seen
from tests.fleet.postgres import shared_server

pytestmark = [pytest.mark.stories, pytest.mark.anyio]
ROOT = Path(__file__).parents[2]
LARGE, SMALL = "claude-opus-4-8", "claude-haiku-4-5"


class Askers:
    """Processes that ask a server turn after turn, each with some agents."""

    def __init__(self, server: BusyServer, folder: Path, limit: int, *, fleet: str) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("HARNESS_", "ANTHROPIC_"))}
        own = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "key", "HARNESS_MODEL": LARGE}
        own |= {"HARNESS_STATE_DIR": str(folder), "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        own |= {"HARNESS_MAX_CONCURRENT": str(limit), "PYTHONPATH": str(ROOT)}
        self._environment = kept | own | ({"HARNESS_FLEET_URL": fleet} if fleet else {})
        self._folder = folder
        self._processes: list[asyncio.subprocess.Process] = []

    async def start(self, processes: int, agents: int, seconds: float, *fallbacks: str) -> None:
        """Start them, and let all begin at the same time."""
        arguments = ("-m", "tests.fleet.asker", str(agents), str(seconds), *fallbacks)
        for _ in range(processes):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, *arguments), cwd=self._folder, env=self._environment, stdin=-1, stdout=-1
            )
            self._processes.append(process)
        for process in self._processes:
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        for process in self._processes:
            assert process.stdin is not None
            process.stdin.write(b"\n")

    async def ended(self) -> list[Mapping[str, int]]:
        """How the turns of each ended, and what its requests waited for."""
        printed = [await process.communicate() for process in self._processes]
        return [json.loads(out) for out, _ in printed]


@pytest.fixture(params=["files", "postgres"])
def fleet(request: pytest.FixtureRequest) -> str:
    """The address of the database that the processes share; empty: files. Each server has its own texts there."""
    return shared_server().url if request.param == "postgres" else ""


def mean_in_flight(log: list[Seen], since: float, until: float) -> float:
    """Requests that were served at the same time, on average."""
    parts = [min(one.ended, until) - max(one.began, since) for one in log if one.status == 200]
    return sum(part for part in parts if part > 0) / (until - since)


async def test_an_overloaded_server_gets_as_many_requests_as_it_takes(tmp_path: Path, *, fleet: str) -> None:
    """24 agents in four processes; more than 8 requests at a time are refused. Settled: the last 50 of 100 seconds."""
    await asyncio.to_thread(request_fields)  # what the server loads for its first request
    async with BusyServer(capacity=8, hold_s=2.0) as server:
        askers = Askers(server, tmp_path, 24, fleet=fleet)
        await askers.start(4, 6, 100.0)
        ends = await askers.ended()
    since, until = server.log[0].began + 50, server.log[0].began + 100
    settled = [one for one in server.log if since <= one.began <= until]
    refused = sum(one.status != 200 for one in settled) / len(settled)
    mean = mean_in_flight(server.log, since, until)
    assert max(one.in_flight for one in server.log) <= 24
    assert max(one.in_flight for one in settled) <= 9  # the one too many that finds the limit
    assert refused <= 0.05, (refused, mean, ends)
    assert 0.8 * 8 <= mean <= 8, (refused, mean, ends)
    assert all(end["completed"] and not end.get("api_error") for end in ends)


async def opened(server: BusyServer, folder: Path, *, fleet: str) -> list[Seen]:
    """Let one process open the breaker of the large model; returns the rest of the log, which fills later."""
    server.overloaded.add(LARGE)
    alone = Askers(server, folder, 24, fleet=fleet)
    await alone.start(1, 1, 0.0, SMALL)
    assert [end["completed"] for end in await alone.ended()] == [1]
    server.log = []
    return server.log


async def test_with_a_fallback_one_request_of_all_tests_an_overloaded_model_after_each_pause(
    tmp_path: Path, *, fleet: str
) -> None:
    async with BusyServer(refuse_s=0.3) as server:
        log = await opened(server, tmp_path, fleet=fleet)
        askers = Askers(server, tmp_path, 24, fleet=fleet)
        await askers.start(8, 1, 5 * PAUSE_S, SMALL)
        ends = await askers.ended()
    probes = [one for one in log if one.model == LARGE]
    assert 2 <= len(probes) <= 7, (probes, ends)
    assert min(after.began - before.ended for before, after in pairwise(probes)) >= PAUSE_S, (probes, ends)
    assert all(end["completed"] and not end.get("api_error") for end in ends)


async def test_without_a_fallback_all_wait_for_one_that_tries_again(tmp_path: Path, *, fleet: str) -> None:
    async with BusyServer(refuse_s=0.3) as server:
        log = await opened(server, tmp_path, fleet=fleet)
        askers = Askers(server, tmp_path, 24, fleet=fleet)
        await askers.start(8, 1, 0.0)
        await asyncio.sleep(4 * PAUSE_S)  # the outage lasts
        server.overloaded.clear()
        ends = await askers.ended()
    attempts = [one for one in log if one.status != 200]
    assert 3 <= len(attempts) <= 12  # of eight that would each have tried five times
    assert all(after.began >= before.ended for before, after in pairwise(attempts))
    assert [end.get("completed") for end in ends] == [1] * 8
