"""/fleet shows what `harness fleet status` prints."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.fleet.database import FleetDatabase
from harness.fleet.tasks import FleetTasks
from harness.policies.fleet.task import FleetDraft
from harness.session import open_session
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import sessions
from tests.fleet.postgres import own_database
from tests.ui.commands.test_worktree_commands import text_of

pytestmark = pytest.mark.anyio


@pytest.fixture
def url() -> Iterator[str]:
    with own_database() as address:
        yield address


async def test_it_lists_tasks_or_says_what_to_set(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with sessions(tmp_path, "") as here, await open_session(here.loaded, AnsweringUser()) as session:
        with pytest.raises(HarnessError, match="HARNESS_FLEET_URL is not set"):
            await text_of("/fleet", session)
        with closing(FleetTasks(FleetDatabase(url))) as tasks:
            id = tasks.submit(FleetDraft("Make\x1b it.")).id
        monkeypatch.setenv("HARNESS_FLEET_URL", url)
        assert f"{id} queued since" in await text_of("/fleet", session)
