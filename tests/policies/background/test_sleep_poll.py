"""Sleeping and looking is a poll; sleeping before work is not."""

import pytest

from harness.engine.background.commands import commands_in
from harness.policies.background.sleep_poll import note_due, polls


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sleep 30; cat /tmp/b1.out", True),
        ("sleep 30 && /usr/bin/tail -n 5 b1.out | grep -c done", True),
        ("sleep 2m", True),
        ("while kill -0 4711; do sleep 1; done; echo over", True),
        ("until grep -q ready b1.out; do sleep 1; done", True),
        ("cat b1.out", False),
        ("sleep 0.2; cat b1.out", False),
        ("sleep 5; make test", False),
        ("sleep 3; curl localhost:3000", False),
        ("sleep 5; kill 4711", False),
        ("echo 'sleep 30'", False),
        ("sleep 30; 'unclosed", False),
    ],
)
def test_a_poll_only_sleeps_and_looks(line: str, expected: bool) -> None:
    assert polls(commands_in(line)) is expected


def test_the_first_poll_has_a_note_and_then_every_third() -> None:
    assert [polled for polled in range(1, 10) if note_due(polled)] == [1, 4, 7]
