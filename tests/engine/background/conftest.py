"""A session's background that leaves nothing behind."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.background.stage import Stage, close, stage


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Stage]:
    """A session that leaves nothing behind."""
    session = stage(tmp_path)
    yield session
    await close(session)
    assert session.clock.sleepers == []
    assert [task.get_name() for task in asyncio.all_tasks() if "command" in task.get_name()] == []
