"""Real programs with one state folder: together they keep to one limit, also when some are killed (issue 6)."""

from pathlib import Path

import pytest

from tests.slots.sessions import check, kill_holders, sessions
from tests.whole import WHOLE

PROGRAMS = 64 if WHOLE else 4
"""What a few plain processes do, test_processes shows more quickly."""


@pytest.mark.stories
@pytest.mark.timeout(900 if WHOLE else 300)
def test_programs_share_one_limit_and_those_that_are_killed_leave_their_slots_and_nothing_else(tmp_path: Path) -> None:
    with sessions(tmp_path, PROGRAMS, hold_s=1.0 if WHOLE else 0.3, warm=not WHOLE) as here:
        here.let_go()
        killed = kill_holders(here, PROGRAMS // 3)
        outcomes = here.ended(within_s=60 + 6 * PROGRAMS)
        check(here, outcomes, killed.programs)
    assert max(killed.until_one) < 8.0  # the lease would have taken ten
    assert max(killed.until_gone) < 30.0
