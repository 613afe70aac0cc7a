"""Imported modules are neither collected during the import nor scanned afterwards."""

import gc
from collections.abc import Iterator

import pytest

from harness.base.collector import imports_kept


@pytest.fixture(autouse=True)
def collector_as_before() -> Iterator[None]:
    """Other tests search all objects, and want the collector to run."""
    yield
    gc.unfreeze()
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_what_is_made_meanwhile_is_not_searched_and_the_collector_is_as_before(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()
    with imports_kept():
        assert not gc.isenabled()
        made: list[object] = [[]]
    assert gc.isenabled() == enabled
    assert not any(made is one for one in gc.get_objects())


def test_the_collector_runs_again_after_an_import_that_failed() -> None:
    with pytest.raises(ImportError), imports_kept():
        raise ImportError
    assert gc.isenabled()
