"""No hostile line does harm unasked. Real permissions check a real disk; allowed lines run under observation."""

import pytest

from benchmarks.canary import Canary
from benchmarks.command_gate import CommandGate
from harness.permissions import Allow, Mode
from tests.cases import grouped, lines
from tests.whole import WHOLE, stride

ATTACKS = grouped(__file__, "attacks")
EVERY_LINE = list(dict.fromkeys(line for group in ATTACKS.values() for line in group))
OF_THE_MACHINE = lines(__file__, "of the machine")
HARMFUL = {
    "touch PWNED": "work/PWNED appeared",
    "rm a.txt": "work/a.txt went away",
    "echo x >> a.txt": "work/a.txt changed",
    "chmod 600 a.txt": "work/a.txt changed",
    "touch ../outside/x": "outside/x appeared",
    "./canary": "ran: ",
    "cd hostile && git status": "ran: ",
    "cat .env": "a secret was printed",
    "echo $GITHUB_TOKEN | rev": "a secret was printed",
    "base64 <<< x$MY_API_KEY": "a secret was printed",
    "wc -l lin": "outside/secret.txt was read",
    "tail -c 1 .env.local": ".env.local was read",
    "ls way/": "outside was listed",
    "ls ~": "home was listed",
}


@pytest.fixture(scope="module", params=["bash", "sh"])
def shell(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("line", "harm"), HARMFUL.items())
def test_the_witness_sees_what_a_line_does(line: str, harm: str) -> None:
    with Canary.made() as canary:
        effects = canary.run([line])
    assert any(harm in one for one in effects.harm), effects


def test_the_witness_sees_a_file_that_is_mapped_into_memory() -> None:
    mapped = "import mmap; file = open('.env'); mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)[:1]"
    with Canary.made() as canary:
        assert canary.run([f'python3 -c "{mapped}"']).harm == ("work/.env was read",)


def test_a_file_that_is_opened_and_not_read_is_no_harm() -> None:
    with Canary.made() as canary:
        effects = canary.run(["df .env ../outside", "cd ../outside", ": < .env", "test -r ../outside/secret.txt"])
    assert effects.harm == ()


def test_the_witness_sees_nothing_in_lines_that_only_look(shell: str) -> None:
    lines = ["cat README.md", "ls -la . way", "git status; git log -p; git diff", "grep -rn main src", "find . -name x"]
    with Canary.made() as canary:
        effects = canary.run(lines, shell)
    assert effects.harm == ()
    assert "def main" in effects.output


@pytest.mark.parametrize("group", ATTACKS)
def test_what_runs_unasked_of_the_hostile_lines_does_no_harm(group: str) -> None:
    """Those of a group one after the other; each in a folder of its own with HARNESS_TEST_WHOLE=1."""
    harmful = {}
    with Canary.made() as canary:
        gates = [CommandGate(canary.work, canary.home, mode) for mode in (Mode.ASK, Mode.EDITS)]
        allowed = [line for line in ATTACKS[group] if any(isinstance(gate.decide(line), Allow) for gate in gates)]
    for some in [[line] for line in allowed] if WHOLE else [allowed] if allowed else []:
        with Canary.made() as canary:
            effects = canary.run(some, limit_s=5 * len(some))
            if effects.harm or not effects.ended:
                harmful["\n".join(some)] = effects.harm or "it does not end"
    assert harmful == {}


def test_what_would_change_the_machine_is_asked_about() -> None:
    with Canary.made() as canary:
        gate = CommandGate(canary.work, canary.home)
        assert [line for line in OF_THE_MACHINE if isinstance(gate.decide(line), Allow)] == []


@pytest.mark.stories
def test_a_session_that_only_reads_refuses_every_hostile_line() -> None:
    with Canary.made() as canary:
        gate = CommandGate(canary.work, canary.home, Mode.DENY)
        assert [
            line for line in [*EVERY_LINE, *OF_THE_MACHINE][:: stride(8)] if isinstance(gate.decide(line), Allow)
        ] == []


def test_there_are_lines_for_every_hole() -> None:
    assert len(EVERY_LINE) >= 1000
    assert min(map(len, ATTACKS.values())) >= 20
