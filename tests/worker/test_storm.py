"""Workers that die, are stopped for longer than their lease, or lose their database: no task is lost or done twice."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.policies.fleet.task import FleetState
from tests.fleet.postgres import Server, needs_postgres
from tests.worker.stage import Fleet, done, ended, storm

pytestmark = [needs_postgres, pytest.mark.stories]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    made = Server.made()
    made.initialize()
    yield made
    made.remove()


@pytest.fixture
def fleet(server: Server, tmp_path: Path) -> Iterator[Fleet]:
    made = Fleet(server.url, tmp_path)
    yield made
    made.end()


def test_no_task_is_lost_and_no_effect_happens_twice(fleet: Fleet, server: Server) -> None:
    fleet.longest_s = 0.4
    found = storm(fleet, server, 60, 4, 4)
    assert (found["lost"], found["twice"], found["missing and not named unknown"]) == ([], [], [])
    assert found["started again"]


def test_a_worker_that_was_stopped_for_longer_than_its_lease_stops_its_work(fleet: Fleet) -> None:
    fleet.longest_s = 1.5
    fleet.submit(1)
    fleet.start("w1")
    fleet.until(lambda tasks: tasks[0].state is FleetState.RUNNING)
    fleet.processes["w1"].send_signal(signal.SIGSTOP)
    fleet.start("w2")
    fleet.until(lambda tasks: tasks[0].fence == 2)
    fleet.processes["w1"].send_signal(signal.SIGCONT)
    fleet.until(ended)
    fleet.processes["w1"].send_signal(signal.SIGTERM)
    assert fleet.processes["w1"].wait(20) == 0
    assert "was started again by w2 on m1" in fleet.said("w1")
    assert max(fleet.effects().values()) == 1


@pytest.mark.parametrize("how", ["restarted", "stopped by SIGSTOP"])
def test_a_database_that_is_away_costs_no_work(fleet: Fleet, server: Server, how: str) -> None:
    import psutil

    fleet.longest_s, fleet.lease_s = 1.0, 60.0
    fleet.submit(6)
    fleet.start("w1", concurrency=3)
    fleet.until(lambda tasks: sum(task.state is FleetState.RUNNING for task in tasks) == 3)
    if how == "restarted":
        server.stop()
        fleet.until_said("w1", "store away")
        server.start()
    else:
        first = psutil.Process(int((server.data / "postmaster.pid").read_text().split()[0]))
        every = [first, *first.children(recursive=True)]
        for process in every:
            process.suspend()
        fleet.until_said("w1", "store away")
        for process in every:
            process.resume()
    tasks = fleet.until(ended)
    assert (done(tasks), [task.fence for task in tasks]) == (6, [1] * 6)
    assert (fleet.said("w1").count("store away"), fleet.said("w1").count("store back")) == (1, 1)
    assert set(fleet.effects().values()) == {1}
    assert len(fleet.effects()) == 18
