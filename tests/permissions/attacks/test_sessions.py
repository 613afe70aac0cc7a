"""Hostile lines in whole sessions: the real loop, the real shell, no user. Nothing happens and nothing leaks."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.canary import Canary, Watch, shows_secret
from harness.events import ToolEnded, ToolOutcome
from tests.agent.stage import Played, calls, says, stage
from tests.permissions.attacks.test_lines import ATTACKS
from tests.whole import stride

pytestmark = pytest.mark.anyio


MODES = ("ask", *(pytest.param(mode, marks=pytest.mark.stories) for mode in ("edits", "deny")))
"""test_lines covers the decision about every line; here some lines in one mode show that a session obeys it."""


@pytest.fixture
def canary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Canary]:
    """The folder, and an environment with secrets as the program would have it."""
    with Canary.made(own=True) as made:
        for name, value in made.environment().items():
            monkeypatch.setenv(name, value)
        yield made


def call(tool: str, **input: object) -> str:
    values = ", ".join(f"{name} = {json.dumps(value)}" for name, value in input.items())
    return f'{{ name = "{tool}", input = {{ {values} }} }}'


def asks_for(*wanted: str) -> str:
    """A script that makes these calls, some with each reply."""
    replies = [wanted[at : at + 20] for at in range(0, len(wanted), 20)]
    return "".join(calls(*some) for some in replies) + says("Done.")


async def tried(canary: Canary, tmp_path: Path, wanted: Sequence[str], **settings: Any) -> Played:
    """One turn with these calls; fails where anything happened that a line may not do."""
    settings = {"workspace": canary.work, "loop_intervention": False, "permission_mode": "ask", **settings}
    async with stage(tmp_path, asks_for(*wanted), **settings) as here:
        with Watch(canary, folders=False) as watch:
            turn = await here.turn()
            assert watch.harm(str(turn.results)) == (), ran(turn, wanted)
        assert not shows_secret(str(here.recorded))
    assert len(turn.results) == len(wanted)
    return turn


def ran(turn: Played, wanted: Sequence[str]) -> list[str]:
    """The calls that were let through."""
    ended = turn.of(ToolEnded)
    return [call for call, end in zip(wanted, ended, strict=False) if end.outcome is not ToolOutcome.DENIED]


def bash(*lines: str) -> list[str]:
    return [call("bash", command=line, timeout=5) for line in lines]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", ATTACKS)
async def test_hostile_lines_do_nothing_without_a_user(canary: Canary, tmp_path: Path, group: str, mode: str) -> None:
    await tried(canary, tmp_path, bash(*ATTACKS[group][:: stride(8)]), permission_mode=mode)


# ── file tools ──────────────────────────────────────────────────────────────────────────────────

READS = (
    *(("read_file", {"path": path}) for path in (".env", "lin", "way/secret.txt", "../outside/secret.txt", "sub/.env")),
    *(("read_file", {"path": path}) for path in ("x:/../.env", "x://../.env", "./" * 170 + ".env", "linked/in/key")),
    *(("read_file", {"path": path}) for path in ("secrets/prod.yml", ".env.staging", "server.p12", "homeward/.netrc")),
    *(("read_file", {"path": path}) for path in ("/proc/self/environ", "~/.netrc", "file:.env", "SUB/.ENV")),
    *(
        ("grep", {"pattern": "CANARY|TOKEN", "path": path})
        for path in (".env", "lin", "way", "sub", "secrets", "..", "~")
    ),
    *(("grep", {"pattern": "CANARY|TOKEN", "glob": glob}) for glob in (".env", ".env*", "**/.env", "*.pem", ".e[n]v")),
    *(("grep", {"pattern": "CANARY|TOKEN", "path": "sub", "glob": ".*"}), ("grep", {"pattern": "CANARY|TOKEN"})),
    *(
        ("glob", {"pattern": pattern})
        for pattern in ("../*", "way/*", "../outside/**", "/etc/*", "~/*", "cmpa/inner/*")
    ),
)


@pytest.mark.parametrize("mode", MODES)
async def test_file_tools_show_no_keys_and_nothing_outside(canary: Canary, tmp_path: Path, mode: str) -> None:
    wanted = [call(tool, **values) for tool, values in READS]
    turn = await reading(canary, tmp_path, wanted, permission_mode=mode)
    assert len(turn.results) == len(READS)


async def reading(canary: Canary, tmp_path: Path, wanted: Sequence[str], **settings: Any) -> Played:
    """One turn with these calls; none of them may show a key."""
    settings = {"workspace": canary.work, "loop_intervention": False, **settings}
    async with stage(tmp_path, asks_for(*wanted), **settings) as here:
        turn = await here.turn()
        shown = {call: result["content"] for call, result in zip(wanted, turn.results, strict=True)}
        assert {call: text for call, text in shown.items() if shows_secret(str(text))} == {}
        assert {call: text for call, text in shown.items() if "plan.txt" in str(text) or "id_rsa" in str(text)} == {}
        assert not shows_secret(str(here.recorded))
    return turn


# ── mode edits ──────────────────────────────────────────────────────────────────────────────────


async def test_what_the_agent_wrote_is_not_run_unasked_in_the_mode_that_lets_it_write(
    canary: Canary, tmp_path: Path
) -> None:
    planted = f"import subprocess; subprocess.run(['{canary.root}/programs/canary'])\n"
    repository = {
        "v/HEAD": "ref: refs/heads/main\n",
        "v/config": f"[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {canary.root}/programs/canary\n",
        "v/objects/x": "",
        "v/refs/x": "",
    }
    written = {
        "tests/conftest.py": planted,
        "pytest.py": planted,
        "pip.py": planted,
        "usercustomize.py": planted,
        "w/Makefile": f"x := $(shell {canary.root}/programs/canary)\nall:\n",
        "w/package.json": '{"name": "w", "scripts": {"prepare": "canary", "test": "canary"}}',
        "w/.npmrc": "node-options=--require=./evil.js\n",
        "w/evil.js": f"require('child_process').execFileSync('{canary.root}/programs/canary')\n",
        "w/p.awk": 'BEGIN { system("canary") }\n',
        "w/p.sed": "1e canary\n",
        "w/build.rs": "fn main() {}\n",
        "w/run.sh": "canary\n",
        **repository,
    }
    lines = (
        *("pytest --version", "cd tests && pytest --version", "python -m pytest --version"),
        *("python pytest.py --version", "cd v && git status -s", "git -C v status", "cd v && git diff"),
        *("cd v && git ls-files -m", "cd v/refs && git status", "make -C w -n", "cd w && make -n", "cd w && npm ls"),
        *("cd w && npm --version", "cd w && npm test", "cd w && npx x", "awk -f w/p.awk a.txt", "sed -f w/p.sed a.txt"),
        *("sed -n -f w/p.sed a.txt", "sh w/run.sh", "bash -n w/run.sh", "source w/run.sh", "xargs -a w/run.sh env"),
        *("python -m pip list", "cd w && cargo --version", "node -r ./w/evil.js -v"),
    )
    writes = [call("write_file", path=path, content=text) for path, text in written.items()]
    settings: dict[str, Any] = {"workspace": canary.work, "loop_intervention": False, "permission_mode": "edits"}
    async with stage(tmp_path, asks_for(*writes, *bash(*lines)), **settings) as here:
        turn = await here.turn()
    assert (canary.work / "w" / "run.sh").exists()
    assert canary.log.read_text() == "", ran(turn, [*writes, *lines])
