"""Completions of command arguments reflect the current state of a real session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Session, open_session
from harness.ui.app.candidates import command_candidates
from harness.ui.app.completion import Candidate, Completer
from harness.ui.app.pickers import SCREEN_COMMANDS
from harness.ui.commands.commands import COMMANDS
from tests.agent.stage import calls, played, says, settings_of
from tests.agent.test_agents import of_subagent, task
from tests.memory.shelves import draft
from tests.skills.folders import Folders, skill

pytestmark = pytest.mark.anyio

WAITS = "until [ -e go ]; do sleep 0.05; done"
COMMAND = f'{{ name = "bash", input = {{ command = "{WAITS}", background = true }} }}'
SCRIPT = calls(COMMAND, task("find the tests")) + of_subagent(says("There are ten.")) + says("Both are asked for.")


class Typist:
    """Types in a session and collects the completions offered."""

    def __init__(self, session: Session) -> None:
        candidates = command_candidates((*COMMANDS.values(), *SCREEN_COMMANDS.values()), session)
        self._completer = Completer(lambda: candidates, tuple)

    def offered(self, text: str) -> dict[str, str]:
        """The candidates after this text, each with its help."""
        completion = self._completer.complete(text, len(text))
        return {one.label: one.help for one in completion.candidates} if completion else {}

    def taken(self, text: str) -> str:
        """The text completed with the first candidate."""
        completion = self._completer.complete(text, len(text))
        assert completion
        return completion.apply(text, completion.candidates[0])[0]


@asynccontextmanager
async def typing(folder: Path, script: str = "") -> AsyncIterator[tuple[Typist, Session]]:
    """A session before a server that plays a script."""
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        loaded = settings_of(folder, server.base_url)
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            yield Typist(session), session


async def test_agents_and_commands_are_offered_by_their_ids_and_what_they_are_about(tmp_path: Path) -> None:
    async with typing(tmp_path, SCRIPT) as (typist, session):
        assert typist.offered("/kill ") == {}
        assert list(typist.offered("/agents ")) == ["stop"]
        assert typist.taken("/background ") == "/background keep "
        await played(session.run("Look."))
        assert typist.offered("/kill ") == {"b1": WAITS}  # a1 is done
        assert typist.offered("/agents ") == {"a1": "find the tests", "stop": "stop one"}
        assert typist.offered("/agents stop ") == {}
        assert typist.taken("/background ") == "/background b1"
        assert typist.offered("/background keep ") == {"b1": WAITS}
        assert typist.offered("/background keep b1 ") == {}
        await session.background.stop("b1")
        assert typist.offered("/kill ") == {}
        assert list(typist.offered("/background ")) == ["b1", "keep"]


async def test_agents_that_run_are_offered_first(tmp_path: Path) -> None:
    waits = of_subagent(calls(f'{{ name = "bash", input = {{ command = "{WAITS}" }} }}'))
    script = calls(task("one")) + of_subagent(says("Done.")) + calls(task("two", background=True)) + waits
    async with typing(tmp_path, script + says("Both are asked for.")) as (typist, session):
        await played(session.run("Look."))
        assert list(typist.offered("/agents ")) == ["a2", "a1", "stop"]


async def test_memories_are_offered_by_name_and_what_can_come_back_where_that_is_asked_for(tmp_path: Path) -> None:
    async with typing(tmp_path) as (typist, session):
        store = session.memory.store
        kept = {
            store.keep(draft(name), place).place for name, place in zip(("tabs", "tabs"), store.folders, strict=True)
        }
        assert len(kept) == 2
        folder = next(iter(store.folders.values()))
        (folder / "broken.md").write_bytes(b"\0")
        (folder / "\x1b[2J.md").write_text("nothing of ours")
        assert list(typist.offered("/memory ")) == ["broken", "tabs", "edit", "forget", "undo"]
        assert typist.taken("/memory edit b") == "/memory edit broken"
        assert typist.offered("/memory undo ") == {}
        store.forget("tabs", next(iter(store.folders)))
        assert list(typist.offered("/memory undo ")) == ["tabs"]
        assert typist.offered("/memory forget tabs ") == {}


async def test_skills_are_offered_as_they_were_read_last(tmp_path: Path) -> None:
    async with typing(tmp_path) as (typist, session):
        Folders.write(tmp_path / "skills", "review", skill("review", "Reads code.", "Look twice."))
        assert typist.offered("/skill ") == {}
        session.reload_skills()
        assert typist.offered("/skill ") == {"review": "Reads code."}


async def test_turns_are_offered_with_their_prompts_the_last_one_first(tmp_path: Path) -> None:
    async with typing(tmp_path, says("One.") + says("Two.")) as (typist, session):
        assert list(typist.offered("/rewind ")) == ["undo"]
        await played(session.run("the first\nof all"))
        await played(session.run("the second"))
        assert list(typist.offered("/rewind ").items())[:2] == [("2", "the second"), ("1", "the first of all")]
        assert list(typist.offered("/rewind 2 ")) == ["files"]
        assert typist.offered("/rewind undo ") == {}


async def test_every_breaker_command_offers_the_tools(tmp_path: Path) -> None:
    async with typing(tmp_path) as (typist, session):
        tools = [tool.name for tool in session.tools]
        for command in ("alternatives", "trip", "isolate", "release"):
            assert list(typist.offered(f"/{command} ")) == tools
        assert list(typist.offered("/reset ")) == [*tools, "all"]


def test_a_candidate_is_the_same_whatever_finds_its_arguments() -> None:
    assert Candidate("/kill", looked_up=lambda _: ()) == Candidate("/kill")
