"""How many ordinary command lines ask a user without need, without a sandbox and in a full one.

python -m benchmarks.questions              every line with its verdict, and the totals
python -m benchmarks.questions --needless   only the lines that ask without need
"""

import argparse
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.command_gate import CommandGate
from benchmarks.ordinary_lines import DAILY, OF_TRANSCRIPTS, OrdinaryLine
from harness.permissions import Allow, Ask
from harness.sandbox import Profile, ProfileName, SandboxLevel

VerdictName = Literal["runs", "asked", "dangerous", "refused"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A line and what the gate says."""

    line: OrdinaryLine
    verdict: VerdictName
    why: str
    level: SandboxLevel

    @property
    def may_ask(self) -> bool:
        """A question is right. In a full sandbox it is only where the line leaves the workspace or loses something."""
        return self.line.may_ask and not (self.level is SandboxLevel.FULL and self.line.stays)

    @property
    def needless(self) -> bool:
        """A user is asked without need."""
        return self.verdict != "runs" and not self.may_ask


def make_workspace(folder: Path) -> Path:
    """A small project in a git repository, with a file of keys that git ignores."""
    workspace = folder / "project"
    files = {
        "README.md": "# A project\n\nWhat it does. Write to ada@example.\n",
        "CHANGELOG.md": "# Changes\n\n## 0.2\n\n- faster\n",
        "package.json": '{"name": "x", "version": "0.2.0", "scripts": {"test": "true"}, "dependencies": {"a": "1"}}\n',
        "app.log": "start\nerror: nothing\n",
        "src/app.py": "import os\n\n\ndef main():\n    return os.name\n" * 8,
        "src/util.py": "class Util:\n    pass\n",
        "src/app/__init__.py": "",
        "tests/test_app.py": "def test_main():\n    assert True\n",
        "docs/guide.md": "# Guide\n\nRead this.\n",
        "data/items.csv": "apple,3\npear,4\napple,5\n",
        "data/numbers.txt": "1\n2\n3\n",
        ".gitignore": ".env\nnode_modules/\n",
        ".env": "TOKEN=not-to-be-seen\n",
        "node_modules/a/package.json": '{"name": "a", "version": "1.0.0"}\n',
        "run.sh": "#!/bin/sh\n",
        "Makefile": "all:\n",
    }
    for name, text in files.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")
    with tarfile.open(workspace / "dist.tgz", "w:gz") as archive:
        archive.add(workspace / "README.md", "README.md")
    with zipfile.ZipFile(workspace / "data" / "a.zip", "w") as pack:
        pack.write(workspace / "README.md", "README.md")
    git = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "Begin"), ("tag", "v0.2")):
        subprocess.run([*git, *arguments], cwd=workspace, check=True, capture_output=True)
    (workspace / "README.md").write_text("# A project\n\nWhat it does now.\n", encoding="utf-8")
    subprocess.run([*git, "commit", "-qam", "Say more"], cwd=workspace, check=True, capture_output=True)
    return workspace


def work_in(workspace: Path) -> Profile:
    """What the profile WORK grants in that project."""
    root = str(workspace.resolve())
    system = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/opt")
    return Profile(ProfileName.WORK, system, (root,), hidden=(f"{root}/.env",))


def judged(lines: Sequence[OrdinaryLine], level: SandboxLevel = SandboxLevel.NONE) -> list[Judged]:
    """What the gate says about each line in the mode that asks, without rules."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "home").mkdir()
        workspace = make_workspace(folder)
        sandbox = work_in(workspace) if level is SandboxLevel.FULL else None
        gate = CommandGate(workspace, folder / "home", sandbox=sandbox)
        return [_judged(gate, line, level) for line in lines]


def _judged(gate: CommandGate, line: OrdinaryLine, level: SandboxLevel) -> Judged:
    match gate.decide(line.line):
        case Allow(why=why, profile=profile):
            return Judged(line, "runs", f"{profile}: {why}", level)
        case Ask(why=why, dangers=dangers):
            return Judged(line, "dangerous" if dangers else "asked", why, level)
        case decision:
            return Judged(line, "refused", decision.why, level)


def totals(of: str, found: Sequence[Judged]) -> str:
    """One line of figures."""
    asked = [one for one in found if one.verdict != "runs"]
    needless = sum(one.needless for one in found)
    unexpected = sum(one.may_ask and one.verdict == "runs" for one in found)
    return f"{of}: asked {len(asked)}, needless: {needless} of {len(found)}, runs although it may ask: {unexpected}"


def main() -> None:
    """Print the verdicts and the totals."""
    parser = argparse.ArgumentParser(description="Verdicts about ordinary command lines.")
    parser.add_argument("--needless", action="store_true", help="only lines that ask without need")
    only = parser.parse_args().needless
    groups = {
        f"{of}, sandbox {level}": judged(lines, level)
        for level in (SandboxLevel.NONE, SandboxLevel.FULL)
        for of, lines in (("daily", DAILY), ("of transcripts", OF_TRANSCRIPTS))
    }
    for of, found in groups.items():
        print(of)
        for one in (one for one in found if one.needless or not only):
            mark = "NEEDLESS" if one.needless else "may ask" if one.may_ask else ""
            shown = one.needless or one.level is SandboxLevel.FULL
            because = f"   [{one.why}]" if shown else "" if one.verdict == "runs" else f"   ({one.line.why})"
            print(f"  {one.verdict:<10}{mark:<10}{one.line.line!r}{because}")
    print()
    for of, found in groups.items():
        print(totals(of, found))


if __name__ == "__main__":
    main()
