"""How much of the long grids is played: a part in the test command, all of it with HARNESS_TEST_WHOLE=1."""

import os

WHOLE = os.environ.get("HARNESS_TEST_WHOLE") == "1"
"""Play every case of every grid, and more examples."""


def stride(cases: int) -> int:
    """The distance between two cases that are played, where one in so many is enough for every day."""
    return 1 if WHOLE else cases


def examples(most: int) -> int:
    """Examples of a property: `most` of them in a whole run, and enough for every day otherwise."""
    return most if WHOLE else min(most, 50)
