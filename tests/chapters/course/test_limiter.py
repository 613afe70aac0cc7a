"""Code of a learner that blocks is interrupted, and ours is not."""

import asyncio
import time
from pathlib import Path

import pytest

from chapters.course import LessonError
from chapters.course.checks.solution import load
from chapters.course.limiter import Blocked, Limiter

pytestmark = pytest.mark.anyio


async def test_code_that_blocks_is_interrupted_also_where_it_catches_every_exception(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "def f():\n    while True:\n        try:\n            pass\n        except Exception: pass\n", "utf-8"
    )
    began = time.monotonic()
    with Limiter(str(mine), __file__, 0.3):
        endless = asyncio.create_task(asyncio.to_thread(time.sleep, 0))  # the loop continues afterwards
        with pytest.raises(LessonError, match=r"mine\.py, line \d: no end after 0\.3 s"):
            load(mine).f()
        await endless
    assert time.monotonic() - began < 5


async def test_our_own_code_is_not_limited() -> None:
    with Limiter("nowhere.py", "nobody.py", 0.1):
        try:
            time.sleep(0.7)  # noqa: ASYNC251 (it blocks on purpose)
        except Blocked as error:
            pytest.fail(str(error))
