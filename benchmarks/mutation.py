"""Mutation testing of the breakers: how many small changes of the code their tests notice.

    pip install mutmut
    python -m benchmarks.mutation                  about half an hour on two cores
    python -m benchmarks.mutation --examples 25    examples of each property (fewer are faster and notice less)

Works in a copy of the tree and prints the share of mutants that tests detected, in total and by module, and the others.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROOM = "harness/policies/breakers"
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".*cache*", "__pycache__", ".hypothesis", "mutants")
CONFIGURATION = """
[tool.mutmut]
source_paths = ["{room}/"]
pytest_add_cli_args_test_selection = ["tests/policies/breakers/"]
also_copy = ["harness", "tests", "benchmarks", "chapters", "docs", "README.md"]
"""
PROFILE = """
settings.register_profile("mutation", deadline=None, max_examples={examples}, database=None)
settings.load_profile("mutation")
"""
NOTICED = {"killed", "timeout", "suspicious", "segfault"}
RESULT = re.compile(r"^\s*harness\.policies\.breakers\.(\w+)\.(\S+): ([\w ]+)$", re.MULTILINE)


def copied(root: Path, copy: Path) -> Path:
    """A copy of the tree that is a repository of its own, as some tests expect."""
    shutil.copytree(root, copy, ignore=NOT_COPIED)
    subprocess.run(["git", "init", "-q"], cwd=copy, check=True)
    return copy


def prepared(folder: Path, examples: int) -> Path:
    """A copy of the tree, configured to run tests in one process and stop at the first failure."""
    copy = copied(ROOT, folder / "tree")
    project = copy / "pyproject.toml"
    text = re.sub(r"^addopts = .*$", 'addopts = "-q -x -p no:xdist"', project.read_text("utf-8"), flags=re.MULTILINE)
    project.write_text(text + CONFIGURATION.format(room=ROOM), "utf-8")
    conftest = copy / "tests" / "conftest.py"
    conftest.write_text(conftest.read_text("utf-8") + PROFILE.format(examples=examples), "utf-8")
    return copy


def main() -> int:
    """Print the shares; exit code 1 below 90 %."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=25)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy = prepared(Path(folder), options.examples)
        environment = os.environ | {
            "HARNESS_TEST_BREAKER_EXAMPLES": str(options.examples),
            "PYTHONPATH": str(copy),
        }
        mutmut = [sys.executable, "-m", "mutmut"]
        run = [*mutmut, "run", "--max-children", str(options.processes)]
        subprocess.run(run, cwd=copy, env=environment, check=False)
        results = subprocess.run(
            [*mutmut, "results", "--all", "true"], cwd=copy, env=environment, capture_output=True, text=True, check=True
        )
    found = RESULT.findall(results.stdout)
    total, noticed = (
        Counter(module for module, _, _ in found),
        Counter(module for module, _, verdict in found if verdict in NOTICED),
    )
    for module in sorted(total):
        print(f"{module:<14} {noticed[module]:>4} of {total[module]:>4}  {noticed[module] / total[module]:.0%}")
    share = noticed.total() / max(1, total.total())
    print(f"{'all':<14} {noticed.total():>4} of {total.total():>4}  {share:.1%}")
    for module, name, verdict in found:
        if verdict not in NOTICED:
            print(f"  {verdict}: {module}.{name}")
    return int(share < 0.9)


if __name__ == "__main__":
    sys.exit(main())
