"""Steps of a task cut at each of their messages: the process killed, the database killed; all of a step or nothing."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass

import pytest

from harness.fleet.database import FleetDatabase
from harness.fleet.schema import FleetError
from harness.fleet.tasks import FleetTasks
from harness.policies.fleet.task import FleetDraft, FleetState, TaskOutcome
from harness.team.mail import SqliteMail
from tests.fleet.postgres import Server, needs_postgres, new_scope
from tests.fleet.relay import relayed

pytestmark = [needs_postgres, pytest.mark.stories]

DONE = TaskOutcome(FleetState.DONE, "It is done.", "harness/fleet/x", 0.25, 1200)
STEPS = {
    "finish": "tasks.finish({first!r}, 1, TaskOutcome(FleetState.DONE, 'It is done.', 'harness/fleet/x', 0.25, 1200))",
    "submit": "tasks.submit(FleetDraft('third', key='k'))",
}
PROGRAM = """
import sys
from harness.fleet.database import FleetDatabase
from harness.fleet.tasks import FleetTasks
from harness.policies.fleet.task import FleetDraft, FleetState, TaskOutcome
tasks = FleetTasks(FleetDatabase(sys.argv[1], patience_s=1), scope=sys.argv[2])
sys.stdin.readline()
"""


@pytest.fixture
def server() -> Iterator[Server]:
    """One that the test may hurt."""
    server = Server.made()
    server.initialize()
    yield server
    server.remove()


@dataclass
class Case:
    """A running task, one that waits for it, and a mailbox."""

    tasks: FleetTasks
    scope: str
    first: str
    second: str
    mailboxes: str

    @classmethod
    def made(cls, url: str) -> "Case":
        scope, mailboxes = new_scope(), new_scope()
        tasks = FleetTasks(FleetDatabase(url), scope=scope)
        with closing(SqliteMail(tasks.database.place("mail", mailboxes))) as mail:
            mail.begin("lead")
        first = tasks.submit(FleetDraft("first", reply_to=mailboxes)).id
        second = tasks.submit(FleetDraft("second", needs=(first,))).id
        tasks.begin(first, "w", "m")
        return cls(tasks, scope, first, second, mailboxes)

    def step(self, name: str) -> Callable[[], object]:
        return {
            "finish": lambda: self.tasks.finish(self.first, 1, DONE),
            "submit": lambda: self.tasks.submit(FleetDraft("third", key="k")),
        }[name]

    def happened(self, name: str) -> list[int]:
        """How often each part of a step has happened."""
        jobs = asyncio.run(self._jobs())
        if name == "submit":
            third = [task.id for task in self.tasks.all() if task.draft.key == "k"]
            return [len(third), sum(job in third for job in jobs)]
        with closing(SqliteMail(self.tasks.database.place("mail", self.mailboxes))) as mail:
            letters = len(mail.unread(mail.boxes()["lead"].address))
        done = self.tasks.get(self.first).state is FleetState.DONE
        lines = [record.what for record in self.tasks.records(self.first)].count("done")
        freed = self.tasks.get(self.second).state is FleetState.QUEUED
        return [done, lines, freed, jobs.count(self.second), letters]

    async def _jobs(self) -> list[str]:
        import asyncpg

        connection = await asyncpg.connect(self.tasks.database.url)
        try:
            question = "SELECT payload FROM harness.pgqueuer WHERE entrypoint LIKE $1"
            return [row["payload"].decode() for row in await connection.fetch(question, f"{self.scope}%")]
        finally:
            await connection.close()


@pytest.mark.parametrize("name", STEPS)
def test_a_process_killed_at_any_message_of_a_step_leaves_all_or_nothing_of_it(server: Server, name: str) -> None:
    cut = []
    for at in range(1, 200):
        case = Case.made(server.url)
        with closing(case.tasks), relayed(server.url, at, lambda: process.kill()) as relay:  # noqa: B023, PLW0108  it is not there yet
            program = PROGRAM + STEPS[name].format(first=case.first)
            process = subprocess.Popen(
                [sys.executable, "-c", program, relay.url, case.scope], stdin=subprocess.PIPE, stderr=subprocess.PIPE
            )
            _, error = process.communicate(b"\\n")
            assert process.returncode == (-9 if relay.acted else 0), error
            found = case.happened(name)
            assert found in ([0] * len(found), [1] * len(found))
            if not relay.acted:
                break
            cut.append(found[0])
            case.step(name)()
            assert case.happened(name) == [1] * len(found)
    assert len(cut) > 8
    assert found[0] == 1


def test_a_database_killed_at_any_message_of_a_step_leaves_all_or_nothing_of_it(server: Server) -> None:
    for at in range(1, 200):
        case = Case.made(server.url)
        case.tasks.close()
        with relayed(server.url, at, server.kill) as relay:
            patient = FleetDatabase(relay.url, patience_s=0.2)
            with closing(FleetTasks(patient, scope=case.scope)) as hurt:
                direct, case.tasks = case.tasks, hurt
                with suppress(FleetError):
                    case.step("finish")()
                    assert not relay.acted or relay.seen > at
                case.tasks = direct
            if relay.acted:
                server.start()
        with closing(case.tasks):
            found = case.happened("finish")
            assert found in ([0] * len(found), [1] * len(found))
            case.step("finish")()
            assert case.happened("finish") == [1] * len(found)
        if not relay.acted:
            assert at > 8
            return
    raise AssertionError("the step did not end")
