"""Fixtures that every room's tests share."""

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # how long an example takes says more of the machine than of us
settings.load_profile("no deadline")


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the program does."""
    return "asyncio"
