"""`harness fleet` as its user types it."""

import json
import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from harness.cli.main import main
from harness.engine.model.shared_endpoints import written
from harness.fleet.database import FleetDatabase
from harness.fleet.tasks import FleetTasks, FleetWorker
from harness.policies.admission.shared_endpoint import SharedEndpoint
from harness.policies.breakers.breaker import Breaker, BreakerLimits
from harness.policies.fleet.task import FleetState, TaskOutcome
from harness.slots.store import SlotClaim, SqliteSlotStore, this_process
from tests.fleet.postgres import PASSWORD, needs_postgres, own_database, shared_server

Typed = Callable[..., tuple[int, str, str]]


def init(url: str | None) -> tuple[int, str]:
    environment = {**os.environ, **({} if url is None else {"HARNESS_FLEET_URL": url})}
    done = subprocess.run(
        [sys.executable, "-m", "harness", "fleet", "init"], env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_without_an_address_it_says_what_to_set() -> None:
    code, said = init(None)
    assert code == 1
    assert "HARNESS_FLEET_URL is not set" in said


@needs_postgres
def test_it_may_run_again_and_never_shows_the_password() -> None:
    server = shared_server()
    assert init(server.url) == (0, f"The fleet's database 127.0.0.1:{server.port}/fleet was ready before.\n")
    code, said = init(server.of("harness", f"{PASSWORD}-wrong"))
    assert (code, PASSWORD in said) == (1, False)
    assert "refuses the user or the password" in said


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with own_database() as address:
        yield address


@pytest.fixture
def tasks(url: str) -> Iterator[FleetTasks]:
    with closing(FleetTasks(FleetDatabase(url))) as store:
        yield store


@pytest.fixture
def typed(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    """The exit code and what is printed."""
    monkeypatch.setenv("HARNESS_FLEET_URL", url)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["fleet", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_task_is_submitted_seen_and_cancelled_by_its_id(typed: Typed, tasks: FleetTasks) -> None:
    flags = (
        "--repo",
        "https://example.org/a.git",
        "--ref",
        "main",
        "--tag",
        "gpu",
        "--key",
        "k",
        "--budget-usd",
        "2.5",
    )
    code, said, _ = typed("submit", "Draw \x1b[2J it.", *flags)
    id = said.split()[0]
    assert (code, said) == (0, f"{id} is queued; `harness fleet logs {id}` shows what becomes of it.\n")
    assert json.loads(typed("submit", "again", "--key", "k", "--json")[1])["id"] == id
    draft = tasks.get(id).draft
    assert (draft.repo, draft.ref, draft.tags, draft.budget_usd) == ("https://example.org/a.git", "main", ("gpu",), 2.5)
    second = typed("submit", "after it", "--needs", id)[1].split()[0]
    assert tasks.get(second).state is FleetState.BLOCKED
    shown = typed("status")[1]
    assert f"{id} queued since" in shown
    assert "Draw \\x1b[2J it." in shown
    assert "are kept in this database" in shown
    assert typed("cancel", id) == (0, f"{id} is cancelled.\n", "")
    assert tasks.get(second).state is FleetState.CANCELLED
    assert typed("cancel", id) == (1, "", f"harness: The task {id} is cancelled already.\n")


def test_status_and_logs_name_workers_and_what_is_unknown(typed: Typed, tasks: FleetTasks) -> None:
    id = typed("submit", "Make it.")[1].split()[0]
    tasks.report(FleetWorker("w1", "north", ("gpu",), 2))
    tasks.report(FleetWorker("w2", "south"))
    tasks.begin(id, "w1", "north")
    tasks.intend(id, 1, "1", "bash: curl")
    tasks.begin(id, "w2", "south")
    tasks.intend(id, 2, "1", "bash: make")
    tasks.result(id, 2, "1", "ok: built\nall\x1b[2J")
    tasks.intend(id, 2, "2", "push")
    shown = typed("status")[1]
    assert f"{id} by w2 on south, start 2 since" in shown
    assert "w1  0 of 2" in shown
    assert "w2  1 of 1" in shown
    log = typed("logs", id)[1]
    assert "start 1: bash: curl → OUTCOME UNKNOWN" in log
    assert "start 2: bash: make → ok: built all\\x1b[2J" in log
    assert "start 2: push → under way" in log
    effects = json.loads(typed("logs", id, "--json")[1])["effects"]
    assert [one["outcome"] for one in effects][::2] == [None, None]
    assert typed("drain", "north")[1] == "They end their tasks and take no more: w1.\n"
    assert typed("drain", "east")[2] == "harness: No worker is on 'east'; workers are on: north, south.\n"
    assert json.loads(typed("status", "--json")[1])["workers"][0]["draining"]
    tasks.finish(id, 2, TaskOutcome(FleetState.DONE, "Made.", cost_usd=0.5))
    assert "1 task ended in the last hour, 0 failed; $0.50 then, $0.50 in all" in typed("status")[1]


def test_status_says_what_holds_requests_and_who_has_slots(typed: Typed, url: str) -> None:
    assert "models   all breakers closed, no limit lowered" in typed("status")[1]
    now = time.time()
    opened = Breaker().failed(now, BreakerLimits(threshold=1, pauses=(60.0,), lease=math.inf))
    known = {
        "large": SharedEndpoint(now, opened, "s"),
        "small": SharedEndpoint(most=3, refused_at=now, wait_until=now + 60),
    }
    with closing(SqliteSlotStore(FleetDatabase(url).place("slots", "fleet.all"), lives=lambda _: True)) as slots:
        slots.change("endpoints https://h", lambda _: written(known))
        slots.ask(SlotClaim("a", this_process("s1"), "work"), 1, now)
        slots.ask(SlotClaim("b", this_process("s2"), "work"), 1, now)
    shown = typed("status")[1]
    assert "1 of 5 in use, 1 waiting" in shown
    assert "model    large https://h: breaker open, tried again at " in shown
    assert (
        "model    small https://h: 0 of 3 requests in flight, after a refusal; the server asked to wait until " in shown
    )


@pytest.mark.parametrize(("state", "code"), [(FleetState.DONE, 0), (FleetState.FAILED, 1)])
def test_wait_prints_the_answer_and_exits_by_it(
    typed: Typed, tasks: FleetTasks, state: FleetState, code: int, url: str
) -> None:
    def works() -> None:
        with closing(FleetTasks(FleetDatabase(url))) as worker:
            for task in worker.all():
                if task.state is FleetState.QUEUED:
                    worker.begin(task.id, "w", "m")
                    worker.finish(task.id, 1, TaskOutcome(state, "The\x1b answer."))  # type: ignore[arg-type]
                    return
        threading.Timer(0.05, works).start()

    works()
    assert typed("submit", "Answer.", "--wait") == (code, "The\\x1b answer.\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("submit", " "), "The prompt is empty; say what to do."),
        (("submit", "x", "--repo", "https://u:secret@h/x"), "--repo holds a password"),
        (("submit", "x", "--repo=--upload-pack=x"), "is no address of git"),
        (("submit", "x", "--repo", "https://h/x", "--ref=-x"), "is no branch of git"),
        (("submit", "x", "--ref", "main"), "--ref needs --repo"),
        (("submit", "x", "--tag", "a b"), "The tag 'a b' cannot be used"),
        (("submit", "x", "--budget-usd", "nan"), "--budget-usd takes dollars above 0"),
        (("submit", "x", "--priority", "99999999999"), "--priority takes a number from -1000 to 1000"),
        (("submit", "x", "--permission-mode", "all"), "--permission-mode takes one of ask, "),
        (("submit", "x", "--needs", "f0"), "needs f0, and there is no such task"),
        (("logs", "f\x1b[2J"), "There is no task 'f\\x1b[2J' in the fleet"),
        (("cancel", "f0"), "`harness fleet status` lists them"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(typed: Typed, arguments: tuple[str, ...], said: str) -> None:
    code, out, error = typed(*arguments)
    assert (code, out) == (1, "")
    assert said in error
    assert "secret" not in error


@pytest.mark.parametrize("missing", ["asyncpg", "pgqueuer"])
def test_without_the_extra_it_says_what_to_install(missing: str) -> None:
    program = (
        f"import sys; sys.modules[{missing!r}] = None; from harness.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "fleet", "submit", "x"],
        env={**os.environ, "HARNESS_FLEET_URL": "postgresql://h/x"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "pip install 'harness-agent[fleet]'" in done.stderr) == (1, True)
