"""/fault and /toolfault in front of a real session, and what a replay shows of them."""

from io import StringIO
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.events import FaultOrdered
from harness.journal import read
from harness.practice.faults.words import MODEL_KINDS, TOOL_KINDS
from harness.session import open_session
from harness.settings import load
from harness.ui.app.candidates import command_candidates
from harness.ui.app.completion import Completer
from harness.ui.commands.commands import COMMANDS, run_command, works_any_time
from harness.ui.plain.printer import RecordedPrinter
from tests.agent.stage import settings_of
from tests.ui.commands.test_prompt import said

pytestmark = pytest.mark.anyio


async def test_they_list_order_and_call_off_and_the_journal_shows_who_broke_what(tmp_path: Path) -> None:
    values = {"practice": True, "workspace": tmp_path, "state_dir": tmp_path / "state"}
    loaded = load(values, {}, tmp_path, user_file=tmp_path / "no-settings.toml")
    async with await open_session(loaded, NoAsker(), warm=False) as session:
        assert said("/fault", session).splitlines()[-2] == "waiting: nothing"
        assert said("/fault 529 3", session) == "On purpose, for the next 3 requests: the model is overloaded."
        assert said("/toolfault grep timeout", session) == (
            "On purpose, for the next call of grep: it runs out of time."
        )
        assert said("/fault", session).splitlines()[-2] == "waiting: 529 3"
        assert said("/fault off", session) == "Called off; 3 requests would have gone wrong."
        for line, words in (("/fault 528", "did you mean 529?"), ("/toolfault gerp timeout", "did you mean grep?")):
            with pytest.raises(HarnessError, match=words):
                run_command(line, session)
        out = StringIO()
        lines = RecordedPrinter(out)
        for record in read(session.path).records:
            if isinstance(record.event, FaultOrdered):
                lines.show(record.event)
        assert out.getvalue().splitlines() == [
            "↯ fault injected: /fault 529 3",
            "↯ fault injected: /toolfault grep timeout",
            "↯ fault injected: /fault off",
        ]


async def test_their_words_are_completed_and_they_work_while_a_turn_runs(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        candidates = command_candidates(COMMANDS.values(), session)
        tools = [tool.name for tool in session.tools]
    named = {one.label: one for one in candidates}

    def offered(command: str, *words: str) -> list[str]:
        return [one.label for one in named[command].following(words)]

    assert offered("/fault") == [*MODEL_KINDS, "off"]
    assert offered("/fault", "529") == []
    assert offered("/toolfault") == [*tools, "all", "off"]
    assert offered("/toolfault", "grep") == [*TOOL_KINDS]
    completion = Completer(lambda: candidates, lambda: ()).complete("/toolfault grep timo", 20)
    assert completion
    assert completion.apply("/toolfault grep timo", completion.candidates[0])[0] == "/toolfault grep timeout"
    assert works_any_time("/fault 529")
    assert works_any_time("/toolfault grep timeout")
