"""Whether the process behind a slot still runs."""

import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.slots.store import lives, this_process


def test_this_process_lives() -> None:
    assert lives(this_process("s1"))
    assert this_process("s1").pid == os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_a_machine_is_another_one_after_its_start_or_in_another_container() -> None:
    name, boot, namespace = this_process("s1").host.split("/")
    assert (name, len(boot), namespace.isdigit()) == (platform.node(), 36, True)
    assert this_process("s1").started_at == Path("/proc/self/stat").read_text().split()[21]


def test_a_process_that_ended_does_not_live_before_its_parent_has_noticed_either() -> None:
    program = (
        "from harness.slots.store import this_process as t; o = t('s1')\n"
        "print(o.pid, o.started_at, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        pid, born = process.stdout.readline().split()
        owner = replace(this_process("s1"), pid=int(pid), started_at=born)
        assert lives(owner)
        process.kill()
        assert process.stdout.read() == ""  # it has ended but was not waited for
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not lives(owner)
        process.wait()
        assert not lives(owner)


def test_another_process_with_the_same_id_is_another_one() -> None:
    assert not lives(replace(this_process("s1"), started_at="1"))


def test_of_another_machine_only_the_lease_decides() -> None:
    assert lives(replace(this_process("s1"), host="elsewhere", pid=2**22 + 1))
