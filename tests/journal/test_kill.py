"""kill -9 at 200 random moments loses at most the message that was being written."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.journal import read
from tests.journal import acknowledging_writer
from tests.whole import WHOLE

KILLS = 200 if WHOLE else 25
NURSERIES = 2 if WHOLE else 1
KILLS_OF_A_JOURNAL = 5


@pytest.mark.stories
@pytest.mark.parametrize("seed", range(NURSERIES))
def test_a_killed_writer_loses_at_most_the_record_it_was_writing(tmp_path: Path, seed: int) -> None:
    moments = random.Random(seed)
    arguments = [sys.executable, acknowledging_writer.__file__]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as nursery:
        for journal in range(KILLS // NURSERIES // KILLS_OF_A_JOURNAL):
            path = tmp_path / f"{journal}.jsonl"
            path.touch()
            known = 0
            for _ in range(KILLS_OF_A_JOURNAL):
                acknowledged = killed_after(moments.randrange(8), nursery, path, seed=moments.randrange(1000))
                records = read(path).records
                assert known + acknowledged <= len(records) <= known + acknowledged + 1
                assert [record.seq for record in records] == list(range(1, len(records) + 1))
                known = len(records)
            assert len(read(path).skipped) <= KILLS_OF_A_JOURNAL


def killed_after(count: int, nursery: "subprocess.Popen[bytes]", path: Path, seed: int) -> int:
    """Have a writer killed once it has acknowledged `count` records; how many it acknowledged in the end."""
    assert nursery.stdin
    assert nursery.stdout
    nursery.stdin.write(f"{path} {seed}\n".encode())
    writer = int(nursery.stdout.readline())
    seen = sum(len(nursery.stdout.read(1)) for _ in range(count))
    os.kill(writer, signal.SIGKILL)
    return seen + len(nursery.stdout.readline()) - 1
