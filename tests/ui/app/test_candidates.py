"""The slash commands as candidates."""

from pathlib import Path

import pytest

from harness.session import NoAsker, open_session
from harness.ui.app.candidates import command_candidates
from harness.ui.app.completion import Completer
from harness.ui.commands.commands import COMMANDS
from tests.agent.stage import calls, played, says, sessions, settings_of
from tests.processes.traces import until

pytestmark = pytest.mark.anyio


async def test_commands_are_offered_with_what_the_session_can_put_behind_them(tmp_path: Path) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9")
    async with await open_session(loaded, NoAsker()) as session:
        candidates = {candidate.label: candidate for candidate in command_candidates(COMMANDS.values(), session)}
        tools = {tool.name for tool in session.tools}
    assert len(candidates) == len(COMMANDS)
    arguments = {name: [argument.label for argument in found.arguments] for name, found in candidates.items()}
    assert set(arguments["/alternatives"]) == tools
    assert set(arguments["/reset"]) == tools | {"all"}
    assert arguments["/export"] == ["markdown", "json"]
    assert arguments["/model"][0] == loaded.settings.model
    assert arguments["/help"] == arguments["/diff"] == []
    assert arguments["/copy"] == ["code"]
    assert (candidates["/clear"].inserted, candidates["/alternatives"].inserted) == ("/clear", "/alternatives ")
    completion = Completer(lambda: tuple(candidates.values()), lambda: ()).complete("/trip gre", 9)
    assert completion
    assert completion.candidates[0].label == "grep"


async def test_the_number_behind_a_fault_stays_as_it_was_typed(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker()) as session:
        candidates = command_candidates(COMMANDS.values(), session)
        offered = Completer(lambda: candidates, lambda: ())

        def labels(text: str) -> list[str]:
            found = offered.complete(text, len(text))
            return [candidate.label for candidate in found.candidates] if found else []

        assert "529" in labels("/fault 5")
        assert "grep" in labels("/toolfault gr")
        assert "timeout" in labels("/toolfault grep ti")
        for text in ("/fault 529 1", "/fault 529 3", "/fault cut 2", "/toolfault grep timeout 3"):
            assert labels(text) == []


async def test_only_a_command_that_runs_can_be_kept(tmp_path: Path) -> None:
    lines = ("true", "until [ -e go ]; do sleep 0.02; done")
    script = calls(*(f'{{ name = "bash", input = {{ command = "{line}", background = true }} }}' for line in lines))
    async with sessions(tmp_path, script + says("Begun.")) as here, await here.open() as session:
        await played(session.run("Begin."))
        await until(lambda: sum(row.end is not None for row in session.background.commands.rows) == 1)
        candidates = command_candidates(COMMANDS.values(), session)
        found = Completer(lambda: candidates, lambda: ()).complete("/background keep ", 17)
        assert found
        assert [one.label for one in found.candidates] == ["b2"]
