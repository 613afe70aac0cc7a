"""The garbage collector while much is imported."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def imports_kept() -> Iterator[None]:
    """Pause the collector, then exclude all present objects from later collections.

    Imported objects stay. The SDK alone is 200,000 objects: each full collection would take 0.16 s to search
    them, and one of them happens when the program ends.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()
