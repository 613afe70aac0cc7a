"""The programs that the tests of this room talk to."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.terminal import TerminalReporter

from tests.interop.litellm_proxy import LiteLLM, running
from tests.interop.practice import Practice, serving
from tests.interop.programs import LITELLM, LLM, confined, needed
from tests.ui.program import Place


@pytest.fixture(scope="session")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiteLLM]:
    """The LiteLLM proxy, started once."""
    with running(needed(LITELLM), tmp_path_factory.mktemp("litellm")) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def llm_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of `llm` with the plugin llm-anthropic."""
    program = needed(LLM)
    home = tmp_path_factory.mktemp("llm")
    plugins = subprocess.run([program, "plugins"], env=confined(home), capture_output=True, text=True, check=True)
    if "llm-anthropic" not in plugins.stdout:
        pytest.skip(f"{program} has no plugin llm-anthropic (tests/interop/README.md)")
    return program


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder to work in."""
    folder = tmp_path / "project"
    folder.mkdir()
    return Place(folder)


@pytest.fixture(scope="session")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    """`harness practice serve` as a process, one for all clients."""
    with serving(tmp_path_factory.mktemp("practice")) as server:
        yield server


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """The table of the run: client, version, request, result."""
    rows = []
    for outcome in ("passed", "failed", "error", "skipped"):
        for report in terminalreporter.stats.get(outcome, []):
            facts = dict(getattr(report, "user_properties", ()))  # a skipped module has none
            if "client" in facts:
                reason = report.longrepr[2].removeprefix("Skipped: ") if outcome == "skipped" else ""
                rows.append((facts["client"], facts.get("version", "–"), facts["asked"], f"{outcome} {reason}".strip()))
    if not rows:
        return
    head = ("client", "version", "asked", "result")
    widths = [max(len(str(row[column])) for row in (head, *rows)) for column in range(3)]
    terminalreporter.section("other clients with the practice server")
    for row in (head, *sorted(rows)):
        cells = [str(cell).ljust(width) for cell, width in zip(row, [*widths, 0], strict=True)]
        terminalreporter.line("  ".join(cells).rstrip())
