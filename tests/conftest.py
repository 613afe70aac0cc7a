"""Fixtures that every room's tests share."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the program does."""
    return "asyncio"
