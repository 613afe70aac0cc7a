"""`harness admission`: what a person and a program see of the slots that all sessions share, by the real command."""

import json
import os
from pathlib import Path

import pytest

from harness.base.clock import SystemClock
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore, slots_file
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An empty folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Place(folder)


@pytest.fixture
def store(place: Place) -> SqliteSlotStore:
    """The one of a session that runs beside the command; closed with its slots."""
    return SqliteSlotStore(slots_file(place.state))


async def test_before_any_session_shared_there_is_one_sentence_and_nothing_is_made(place: Place) -> None:
    status = await run(place, "admission", "status")
    assert (status.code, status.err) == (0, "")
    assert status.out.startswith("No session has shared slots yet")
    assert not slots_file(place.state).exists()
    assert json.loads((await run(place, "admission", "status", "--json")).out)["entries"] == []


async def test_each_agent_is_listed_with_its_session_process_and_lease(place: Place, store: SqliteSlotStore) -> None:
    slots = SharedSlots(store, owner="20261121-0345-7f3a9c", clock=SystemClock())
    await slots.acquire("a1", 2)
    await slots.acquire("a\x1b[31m2", 2)
    await slots.change("api.anthropic.com", lambda _: "open")
    status = await run(place, "admission", "status", env={"HARNESS_MAX_CONCURRENT": "7"})
    await slots.aclose()
    assert (status.code, status.err) == (0, "")
    head, columns, *rows, endpoint = status.out.splitlines()
    assert head == "2 of 7 running, 0 queued"
    assert columns.split() == ["session", "agent", "pid", "since", "limit", "lease"]
    state, session, agent, pid, _, limit, lease, unit = rows[0].split()
    assert (state, session, agent, pid, limit, unit) == (
        "running",
        "20261121-0345-7f3a9c",
        "a1",
        str(os.getpid()),
        "2",
        "s",
    )
    assert 0 < float(lease) <= 10
    assert "a\\x1b[31m2" in rows[1]
    assert endpoint == "api.anthropic.com: open"


async def test_a_program_reads_the_same_as_json(place: Place, store: SqliteSlotStore) -> None:
    slots = SharedSlots(store, owner="s1", clock=SystemClock())
    await slots.acquire("a1", 2)
    status = json.loads((await run(place, "admission", "status", "--json")).out)
    await slots.aclose()
    assert (status["shared"], status["limit"], status["file"]) == (True, 5, str(slots_file(place.state)))
    (entry,) = status["entries"]
    assert (entry["session"], entry["agent"], entry["state"], entry["pid"]) == ("s1", "a1", "runs", os.getpid())
    assert status["at"] < entry["expires"] <= status["at"] + 10


async def test_what_was_given_back_is_gone_and_sharing_that_is_off_is_said(
    place: Place, store: SqliteSlotStore
) -> None:
    slots = SharedSlots(store, owner="s1", clock=SystemClock())
    await slots.release(await slots.acquire("a1", 2))
    await slots.aclose()
    status = await run(place, "admission", "status", env={"HARNESS_SHARED_ADMISSION": "off"})
    assert status.out.splitlines() == [
        "sessions with these settings do not share slots (shared_admission is off)",
        "0 of 5 running, 0 queued",
    ]


async def test_a_file_that_cannot_be_used_is_one_sentence_and_exit_code_1(place: Place) -> None:
    slots_file(place.state).mkdir(parents=True)
    status = await run(place, "admission", "status")
    assert (status.code, status.out) == (1, "")
    assert status.err.startswith("harness: ")
    assert len(status.err.splitlines()) == 1
