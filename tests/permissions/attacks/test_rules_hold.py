"""A rule that denies holds in the mode that allows everything, however the line or the call is written."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.canary import SECRET, Canary
from benchmarks.command_gate import CommandGate
from harness.permissions import Allow, Ask
from tests.agent.stage import Played, stage
from tests.cases import grouped, lines
from tests.permissions.attacks.test_sessions import asks_for, bash, call, canary, ran

__all__ = ["canary"]

pytestmark = pytest.mark.anyio

OFFERS = grouped(__file__, "offers")
CALLS_ROUND_A_RULE_ABOUT_READING = (
    *(call("grep", pattern="TOKEN", glob=glob) for glob in ("*", ".env", "**/.env", ".e*")),
    *(call("grep", pattern=".", path=path) for path in (".", "sub", ".env", "linked")),
    *(call("read_file", path=path) for path in (".env", "sub/../.env", "linked/in/key")),
)


async def turn_of(canary: Canary, tmp_path: Path, wanted: list[str], **settings: Any) -> Played:
    """One turn with these calls in the canary folder, without a user."""
    settings = {"workspace": canary.work, "loop_intervention": False, **settings}
    async with stage(tmp_path, asks_for(*wanted), **settings) as here:
        return await here.turn()


@pytest.mark.parametrize("deny", ["read(**/.env)", pytest.param("read(.env)", marks=pytest.mark.stories)])
async def test_what_may_not_be_read_is_not_shown_by_any_tool_or_line(canary: Canary, tmp_path: Path, deny: str) -> None:
    if deny == "read(.env)":
        (canary.work / "sub" / ".env").unlink()
        shutil.rmtree(canary.work / "staged")
    wanted = [*CALLS_ROUND_A_RULE_ABOUT_READING, *bash(*lines(__file__, "reading"))]
    turn = await turn_of(canary, tmp_path, wanted, permission_mode="yolo", permissions_deny=[deny])
    shown = {call: str(result["content"]) for call, result in zip(wanted, turn.results, strict=True)}
    assert [call for call, text in shown.items() if f"{SECRET}-env" in text or f"{SECRET}-sub" in text] == []


async def test_keys_that_may_not_be_read_are_not_copied_either(canary: Canary, tmp_path: Path) -> None:
    wanted = bash(*lines(__file__, "keys"))
    turn = await turn_of(canary, tmp_path, wanted, permission_mode="yolo", permissions_deny=["read(~/.ssh/**)"])
    assert (canary.home / ".ssh" / "id_rsa").exists()
    shown = {call: str(result["content"]) for call, result in zip(wanted, turn.results, strict=True)}
    assert [call for call, text in shown.items() if f"{SECRET}-rsa" in text] == []
    copies = [path for path in canary.work.rglob("*") if path.is_file() and not path.is_symlink()]
    assert [path for path in copies if f"{SECRET}-rsa".encode() in path.read_bytes()] == []


# Not among them: programs in other languages (python -c, perl -e), a copy of git under another name, and scripts that
# the line itself writes. No rule about command lines can see those; a rule against python or writing can.
async def test_no_dress_gets_a_line_past_a_rule_that_denies_it(canary: Canary, tmp_path: Path) -> None:
    remote = canary.root / "remote.git"
    git(canary.work, "init", "-q", "--bare", str(remote))
    git(canary.work, "remote", "add", "origin", str(remote))
    git(canary.work, "config", "push.default", "current")
    denied = ["bash(git push *)", "bash(git-push *)", "bash(git send-pack *)"]
    pushes = lines(__file__, "git push")
    turn = await turn_of(canary, tmp_path, bash(*pushes), permission_mode="yolo", permissions_deny=denied)
    assert git(remote, "for-each-ref") == "", ran(turn, pushes)


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


async def test_what_is_dangerous_is_found_behind_what_runs_it_though_bash_is_allowed(
    canary: Canary, tmp_path: Path
) -> None:
    dangerous = lines(__file__, "dangerous")
    turn = await turn_of(
        canary, tmp_path, bash(*dangerous), permission_mode="ask", permissions_allow=["bash(*)", "write(**)"]
    )
    assert (canary.work / "docs" / "guide.md").exists()
    assert (canary.work / "b.txt").read_text().endswith("4\n")
    assert ran(turn, dangerous) == []


async def test_a_rule_that_allows_git_allows_no_program_that_git_would_start(canary: Canary, tmp_path: Path) -> None:
    program = f"{canary.root}/programs/canary"
    planted = [line.replace("PLANTED", program) for line in lines(__file__, "program for git")]
    turn = await turn_of(canary, tmp_path, bash(*planted), permission_mode="ask", permissions_allow=["bash(git *)"])
    assert canary.log.read_text() == "", ran(turn, planted)


# ── rules that a question offers to keep ────────────────────────────────────────────────────────


@pytest.mark.parametrize("asked", OFFERS)
def test_a_rule_that_is_offered_allows_nothing_that_was_not_looked_at(asked: str) -> None:
    with Canary.made() as canary:
        decision = CommandGate(canary.work, canary.home).decide(asked)
        offers = decision.offers if isinstance(decision, Ask) else ()
        after = CommandGate(canary.work, canary.home, rules={"allow": offers})
        allowed = [line for line in OFFERS[asked] if isinstance(after.decide(line), Allow)]
    assert allowed == [], offers
