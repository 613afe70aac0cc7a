"""What the small commands print."""

import json

import pytest

from harness.cli.main import main
from harness.events import FaultKind, TransitionCode
from tests.ui.program import Place


def test_the_transition_table_holds_every_code_and_fault(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["transitions"], ["transitions", "--markdown"]):
        assert main(arguments) == 0
        out = capsys.readouterr().out
        assert [name for name in (*TransitionCode, *FaultKind) if name not in out] == []


def test_the_settings_page_names_every_variable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["settings"]) == 0
    assert "HARNESS_MAX_WAIT_S" in capsys.readouterr().out


def test_sessions_are_listed_and_exported(here: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions"]) == 0
    assert "No sessions" in capsys.readouterr().err

    assert main(["-p", "hello there", "--practice"]) == 0
    capsys.readouterr()
    assert main(["sessions"]) == 0
    assert "hello there" in capsys.readouterr().out

    assert main(["export", "latest", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["session"]["title"] == "hello there"
    assert main(["export", "latest", "-o", "page.md"]) == 0
    assert "hello there" in (here.folder / "page.md").read_text()
