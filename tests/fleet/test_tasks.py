"""Tasks of a fleet on Postgres: whole transactions, a fence for each start, one job of the queue for each task."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib import resources
from random import Random
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import MailKind
from harness.fleet.database import FleetDatabase
from harness.fleet.schema import FleetError, queue_settings
from harness.fleet.tasks import FenceLost, FleetTaskRefused, FleetTasks, FleetWorker
from harness.policies.fleet import task as decisions
from harness.policies.fleet.task import (
    MOST_ATTEMPTS,
    FleetDraft,
    FleetRefusal,
    FleetState,
    FleetTask,
    TaskOutcome,
)
from harness.team.mail import SqliteMail
from tests.fleet.postgres import PASSWORD, initialized, needs_postgres, new_scope, shared_server

DONE = TaskOutcome(FleetState.DONE, "It is done.", "harness/fleet/x", 0.25, 1200)


@pytest.fixture
def scope() -> str:
    return new_scope()


@pytest.fixture
def tasks(scope: str) -> Iterator[FleetTasks]:
    with closing(FleetTasks(FleetDatabase(shared_server().url), scope=scope)) as store:
        yield store


def queued(scope: str) -> list[str]:
    """The tasks that pgqueuer has, by what it would deliver next."""

    async def read() -> list[str]:
        import asyncpg

        connection = await asyncpg.connect(shared_server().url)
        try:
            rows = await connection.fetch(
                "SELECT payload FROM harness.pgqueuer WHERE entrypoint LIKE $1 ORDER BY priority DESC, id", f"{scope}%"
            )
        finally:
            await connection.close()
        return [row["payload"].decode() for row in rows]

    return asyncio.run(read())


def test_a_task_is_queued_with_its_row_and_the_same_key_is_the_same_task(tasks: FleetTasks, scope: str) -> None:
    draft = FleetDraft("Do it.", repo="https://example.org/a.git", ref="main", tags=("gpu",), budget_usd=1.5, key="k")
    task = tasks.submit(draft)
    assert (task.state, task.fence, task.draft) == (FleetState.QUEUED, 0, draft)
    assert tasks.submit(draft) == task
    assert tasks.all() == (task,)
    assert queued(scope) == [task.id]
    assert tasks.submit(FleetDraft("Do it.")).id != tasks.submit(FleetDraft("Do it.")).id


def test_any_text_can_be_kept(tasks: FleetTasks) -> None:
    odd = "a\0b\udc80c\\u0000 \x1b ?"
    kept = "a␀b\ufffdc\\u0000 \x1b ?"
    first = tasks.submit(FleetDraft(odd, key=odd))
    second = tasks.submit(FleetDraft(odd, needs=(first.id,)))
    assert tasks.begin(first.id, odd, odd).worker == odd
    for step in (tasks.intend, tasks.intend, tasks.record):
        step(first.id, 1, odd, odd)
    tasks.result(first.id, 1, odd, odd)
    (effect,) = tasks.effects(first.id)
    assert (effect.key, effect.text, effect.outcome) == (kept,) * 3
    tasks.finish(first.id, 1, replace(DONE, text=odd))
    stored = tasks.get(first.id)
    assert stored.outcome is not None
    assert (stored.draft.prompt, stored.outcome.text) == (kept.replace("␀", "\0"),) * 2
    assert tasks.get(second.id).state is FleetState.QUEUED


def test_an_older_token_is_refused_by_every_method(tasks: FleetTasks) -> None:
    id = tasks.submit(FleetDraft("Do it.")).id
    assert tasks.begin(id, "w1", "m1").fence == 1
    tasks.intend(id, 1, "e1", "bash: make")
    assert tasks.begin(id, "w2", "m2").fence == 2
    for step in (
        lambda: tasks.intend(id, 1, "e2", "bash: make"),
        lambda: tasks.result(id, 1, "e1", "made"),
        lambda: tasks.record(id, 1, "step", "3"),
        lambda: tasks.hold(id, 1),
        lambda: tasks.finish(id, 1, DONE),
        lambda: tasks.give_back(id, 1, "ends"),
    ):
        with pytest.raises(FenceLost, match="was started again by w2 on m2"):
            step()
    assert [(effect.fence, effect.key, effect.outcome) for effect in tasks.effects(id)] == [(1, "e1", None)]
    assert tasks.get(id).state is FleetState.RUNNING
    tasks.intend(id, 2, "e3", "x" * 10_000)
    assert len(tasks.effects(id)[-1].text) == 4_000


def test_an_end_queues_what_waited_for_it(tasks: FleetTasks, scope: str) -> None:
    first, second = tasks.submit(FleetDraft("a")), tasks.submit(FleetDraft("b"))
    third = tasks.submit(FleetDraft("c", needs=(first.id, second.id), priority=3))
    assert (third.state, queued(scope)) == (FleetState.BLOCKED, [first.id, second.id])
    tasks.begin(first.id, "w", "m")
    tasks.finish(first.id, 1, DONE)
    assert tasks.get(third.id).state is FleetState.BLOCKED
    tasks.begin(second.id, "w", "m")
    assert tasks.finish(second.id, 1, DONE).outcome == DONE
    assert tasks.get(third.id).state is FleetState.QUEUED
    assert queued(scope)[0] == third.id


def test_what_needs_a_cancelled_task_is_cancelled_and_not_delivered(tasks: FleetTasks, scope: str) -> None:
    first = tasks.submit(FleetDraft("a"))
    second = tasks.submit(FleetDraft("b", needs=(first.id,)))
    tasks.cancel(first.id)
    assert queued(scope) == []
    assert [task.state for task in tasks.all()] == [FleetState.CANCELLED, FleetState.CANCELLED]
    assert tasks.get(second.id).reason == f"{first.id}, which it needs, did not succeed"
    assert [one.text for one in tasks.records(first.id)] == ["", "cancelled by the user"]
    with pytest.raises(FleetTaskRefused, match="is cancelled already"):
        tasks.cancel(first.id)
    with pytest.raises(FleetTaskRefused, match=r"is cancelled\."):
        tasks.begin(first.id, "w", "m")
    with pytest.raises(FleetTaskRefused, match="needs f0, and there is no such task"):
        tasks.submit(FleetDraft("c", needs=("f0",)))


def test_a_task_that_was_given_back_starts_again_and_lost_workers_are_counted(tasks: FleetTasks, scope: str) -> None:
    id = tasks.submit(FleetDraft("a")).id
    for fence in range(1, 4):
        tasks.begin(id, "w", "m")
        back = tasks.give_back(id, fence, "SIGTERM")
        assert back.attempts == 0
        assert tasks.give_back(id, fence, "SIGTERM") == back
        assert queued(scope) == [id]
    for _ in range(MOST_ATTEMPTS):
        tasks.begin(id, "w", "m")
    with pytest.raises(FleetTaskRefused, match="5 workers were lost with it"):
        tasks.begin(id, "w", "m")
    assert tasks.get(id).state is FleetState.FAILED
    said = [(record.fence, record.what, record.text) for record in tasks.records(id)]
    assert said[:3] == [(0, "submitted", ""), (1, "started", "by w on m"), (1, "given back", "SIGTERM")]


def test_whoever_submitted_gets_mail_with_the_end_or_neither_happens(tasks: FleetTasks) -> None:
    mailboxes = new_scope()
    first = tasks.submit(FleetDraft("a", reply_to=mailboxes))
    second = tasks.submit(FleetDraft("b", needs=(first.id,), reply_to=mailboxes))
    tasks.submit(FleetDraft("c", needs=(second.id,), reply_to=new_scope()))
    with closing(SqliteMail(tasks.database.place("mail", mailboxes))) as mail:
        lead = mail.begin("lead")
        tasks.begin(first.id, "w", "m")
        tasks.finish(first.id, 1, DONE)
        tasks.finish(first.id, 1, DONE)
        tasks.cancel(second.id)
        done, cancelled = mail.unread(lead)
    assert (done.sender.name, done.kind, cancelled.kind) == ("program", MailKind.LAST_WORDS, MailKind.FAILED)
    assert done.body == f"The fleet's task {first.id} ('a') is done. Its branch is harness/fleet/x.\n\nIt is done."
    assert cancelled.body.endswith("is cancelled.\n\ncancelled by the user")


def test_workers_report_and_are_drained_by_their_machine(tasks: FleetTasks, scope: str) -> None:
    first, second = FleetWorker("w1", "m1", ("gpu", "linux"), 4), FleetWorker("w2", "m2")
    assert not tasks.report(first)
    assert not tasks.report(second)
    assert [worker.id for worker in tasks.drain("m1")] == ["w1"]
    assert tasks.report(first)
    assert not tasks.report(second)
    assert [(one.tags, one.concurrency, one.draining) for one in tasks.workers()] == [
        (("gpu", "linux"), 4, True),
        ((), 1, False),
    ]
    tasks.leave("w1")
    shared_server().execute(f"UPDATE harness.tasks_workers SET seen = 0 WHERE scope = '{scope}' AND id = 'w2'")
    assert not tasks.report(FleetWorker("w3", "m3"))
    assert [one.id for one in tasks.workers()] == ["w3"]
    assert [one.id for one in tasks.drain()] == ["w3"]
    assert len(tasks.queues_of(("b", "a"))) == 4
    assert tasks.queue_of(("b", "a")) in tasks.queues_of(("a", "b", "c"))


async def version_1(url: str) -> None:
    """The tables as the version before made them, with a role that may use them."""
    import asyncpg
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment
    from pgqueuer.queries import Queries

    connection = await asyncpg.connect(url)
    try:
        await connection.execute(resources.files("harness.fleet").joinpath("schema.sql").read_text("utf-8"))
        await connection.execute("INSERT INTO harness.version VALUES (1)")
        await Queries(AsyncpgDriver(connection), QueryBuilderEnvironment(queue_settings())).install(create_schema=False)
        await connection.execute("""
            CREATE ROLE "an older worker" LOGIN PASSWORD 'w';
            GRANT USAGE ON SCHEMA harness TO "an older worker";
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA harness TO "an older worker";
        """)
    finally:
        await connection.close()


def test_an_older_schema_is_refused_and_init_adds_what_it_lacks_for_the_same_roles() -> None:
    server = shared_server()
    name = f"older_{new_scope().replace('-', '_')}"
    server.execute(f"CREATE DATABASE {name}", "postgres")
    try:
        url = server.of("harness", PASSWORD, name)
        asyncio.run(version_1(url))
        worker = FleetDatabase(server.of("an%20older%20worker", "w", name), patience_s=1)
        with closing(FleetTasks(worker)) as tasks:
            with pytest.raises(
                FleetError, match=r"tables of an older harness \(1, needed is 2\); run `harness fleet init`"
            ):
                tasks.submit(FleetDraft("a"))
            assert asyncio.run(initialized(url))
            assert not asyncio.run(initialized(url))
            tasks.finish(tasks.submit(FleetDraft("a")).id, tasks.begin(tasks.all()[0].id, "w", "m").fence, DONE)
    finally:
        server.execute(f"DROP DATABASE {name} WITH (FORCE)", "postgres")
        server.execute('DROP ROLE "an older worker"', "postgres")


def delivered(tasks: FleetTasks, tags: tuple[str, ...]) -> list[str]:
    """The tasks that pgqueuer hands to a worker with these tags."""
    from pgqueuer.adapters.drivers.asyncpg import AsyncpgDriver
    from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
    from pgqueuer.domain.types import QueueEntrypoint, QueueManagerId
    from pgqueuer.ports.repository import EntrypointExecutionParameter
    from pgqueuer.queries import Queries

    async def dequeue() -> list[str]:
        connection = await tasks.database.connect()
        try:
            queries = Queries(AsyncpgDriver(connection), qbq=QueryQueueBuilder(queue_settings()))
            entrypoints = {QueueEntrypoint(one): EntrypointExecutionParameter(0) for one in tasks.queues_of(tags)}
            jobs = await queries.dequeue(10, entrypoints, QueueManagerId(uuid4()), None, timedelta(seconds=60))
            return [(job.payload or b"").decode() for job in jobs]
        finally:
            await connection.close()

    return asyncio.run(dequeue())


def test_pgqueuer_delivers_each_task_once_to_a_worker_that_has_its_tags(tasks: FleetTasks) -> None:
    plain, urgent = tasks.submit(FleetDraft("a")).id, tasks.submit(FleetDraft("b", priority=5, tags=("gpu",))).id
    both = tasks.submit(FleetDraft("c", tags=("linux", "gpu"))).id
    assert delivered(tasks, ()) == [plain]
    assert sorted(delivered(tasks, ("gpu",))) == [urgent]
    assert delivered(tasks, ("x", "linux", "gpu")) == [both]
    assert delivered(tasks, ("x", "linux", "gpu")) == []


def test_a_task_that_the_queue_has_lost_is_queued_again(tasks: FleetTasks, scope: str) -> None:
    first, second = tasks.submit(FleetDraft("a")).id, tasks.submit(FleetDraft("b")).id
    tasks.begin(first, "w", "m")
    tasks.report(FleetWorker("w", "m"))
    assert queued(scope) == [first, second]
    shared_server().execute(f"DELETE FROM harness.pgqueuer WHERE entrypoint = '{scope}'")
    tasks.report(FleetWorker("w", "m"))
    assert queued(scope) == [first, second]
    assert tasks.begin(first, "w2", "m").fence == 2


def test_starts_at_the_same_time_have_tokens_of_their_own(tasks: FleetTasks, scope: str) -> None:
    id = tasks.submit(FleetDraft("a")).id
    with ExitStack() as stack, ThreadPoolExecutor(MOST_ATTEMPTS) as pool:
        stores = [stack.enter_context(closing(FleetTasks(tasks.database, scope=scope))) for _ in range(MOST_ATTEMPTS)]
        fences = list(pool.map(lambda store: store.begin(id, "w", "m").fence, stores))
    assert sorted(fences) == list(range(1, MOST_ATTEMPTS + 1))


def pair(
    tasks: FleetTasks, kind: str, task: FleetTask, known: dict[str, FleetTask], fence: int, outcome: TaskOutcome
) -> tuple[decisions.Changed | FleetRefusal, Callable[[], FleetTask]]:
    """What the policy decides, and the step of the store."""
    match kind:
        case "submit":
            return decisions.submit(task, known, 0.0), partial(tasks.submit, task.draft)
        case "begin":
            return decisions.begin(task, "w", "m", known, 0.0), partial(tasks.begin, task.id, "w", "m")
        case "finish":
            return decisions.finish(task, fence, outcome, known, 0.0), partial(tasks.finish, task.id, fence, outcome)
        case "give_back":
            return decisions.give_back(task, fence, "r", 0.0), partial(tasks.give_back, task.id, fence, "r")
        case _:
            return decisions.cancel(task, known, 0.0), partial(tasks.cancel, task.id)


@needs_postgres
@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_each_step_writes_what_the_policy_decides(seed: int) -> None:
    random, scope = Random(seed), new_scope()
    known: dict[str, FleetTask] = {}
    with closing(FleetTasks(FleetDatabase(shared_server().url), scope=scope)) as tasks:
        for _ in range(40):
            kind = random.choice(("submit", "begin", "begin", "finish", "give_back", "cancel"))
            id = random.choice(list(known)) if known and kind != "submit" else "new"
            needs = tuple(random.sample(list(known)[-4:], min(len(known), random.choice((0, 1, 2)))))
            draft = FleetDraft("x", priority=random.choice((0, 1)), needs=needs)
            task = known.get(id, FleetTask("new", draft))
            fence = task.fence - (random.random() < 0.2)
            outcome = TaskOutcome(FleetState.FAILED if random.random() < 0.3 else FleetState.DONE, "text")
            decided, step = pair(tasks, kind if id in known else "submit", task, known, fence, outcome)
            actual: FleetTask | None
            try:
                actual = step()
            except (FenceLost, FleetTaskRefused):
                actual = None
            if isinstance(decided, FleetRefusal):
                assert actual is None or actual == tasks.get(id)  # a finish that is said again
            else:
                assert actual is not None or decided[0].state is FleetState.FAILED
                changed = [replace(one, id=actual.id) if actual and one.id == "new" else one for one in decided]
                known |= {one.id: one for one in changed}
            stored = tasks.all()
            assert [replace(one, since=0.0, submitted=0.0) for one in stored] == [
                replace(one, since=0.0, submitted=0.0) for one in known.values()
            ]
        live = {one.id for one in known.values() if one.state in (FleetState.QUEUED, FleetState.RUNNING)}
        jobs = queued(scope)
        assert len(jobs) == len(set(jobs))
        assert live <= set(jobs)
        assert not {one.id for one in known.values() if one.state in (FleetState.CANCELLED, FleetState.BLOCKED)} & set(
            jobs
        )
