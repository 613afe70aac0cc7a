"""How many ordinary command lines ask a user without need.

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

VerdictName = Literal["runs", "asked", "dangerous", "refused"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A line and what the gate says."""

    line: OrdinaryLine
    verdict: VerdictName
    why: str

    @property
    def needless(self) -> bool:
        """A user is asked about a line that only looks."""
        return self.verdict != "runs" and not self.line.may_ask


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


def judged(lines: Sequence[OrdinaryLine]) -> list[Judged]:
    """What the gate says about each line in the mode that asks, without rules."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "home").mkdir()
        gate = CommandGate(make_workspace(folder), folder / "home")
        return [_judged(gate, line) for line in lines]


def _judged(gate: CommandGate, line: OrdinaryLine) -> Judged:
    match gate.decide(line.line):
        case Allow(why=why):
            return Judged(line, "runs", why)
        case Ask(why=why, dangers=dangers):
            return Judged(line, "dangerous" if dangers else "asked", why)
        case decision:
            return Judged(line, "refused", decision.why)


def totals(of: str, found: Sequence[Judged]) -> str:
    """One line of figures."""
    asked = [one for one in found if one.verdict != "runs"]
    needless = sum(one.needless for one in found)
    unexpected = sum(one.line.may_ask and one.verdict == "runs" for one in found)
    return f"{of}: asked {len(asked)}, needless: {needless} of {len(found)}, runs although it may ask: {unexpected}"


def main() -> None:
    """Print the verdicts and the totals."""
    parser = argparse.ArgumentParser(description="Verdicts about ordinary command lines.")
    parser.add_argument("--needless", action="store_true", help="only lines that ask without need")
    only = parser.parse_args().needless
    groups = {"daily": judged(DAILY), "of transcripts": judged(OF_TRANSCRIPTS)}
    for one in (one for found in groups.values() for one in found if one.needless or not only):
        mark = "NEEDLESS" if one.needless else "may ask" if one.line.may_ask else ""
        because = "" if one.verdict == "runs" else f"   [{one.why}]" if one.needless else f"   ({one.line.why})"
        print(f"{one.verdict:<10}{mark:<10}{one.line.line!r}{because}")
    print()
    for of, found in groups.items():
        print(totals(of, found))


if __name__ == "__main__":
    main()
