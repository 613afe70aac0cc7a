"""The programs that the tests of this room talk to."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.litellm_proxy import LiteLLM, running
from tests.interop.programs import LITELLM, LLM, confined, needed
from tests.ui.program import Place


@pytest.fixture(scope="session")
def litellm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiteLLM]:
    """The LiteLLM proxy, started once."""
    with running(needed(LITELLM), tmp_path_factory.mktemp("litellm")) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def llm_program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of `llm`, which has the plugin llm-anthropic."""
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
