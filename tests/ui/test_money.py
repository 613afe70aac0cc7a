"""What a user and a program are shown of the cost: amounts where there is a price, and that there is none."""

import json
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import BudgetReached, CacheMissed, SpendChanged, TurnEnded, Usage
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Session, open_session
from harness.ui.app.activity import status_of
from harness.ui.lines.events import ending_line, line_of
from harness.ui.lines.line import priced
from harness.ui.lines.reports import cache_miss_line
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.model_lines import spent
from harness.ui.plain.headless import result
from tests.agent.stage import played, says, settings_of
from tests.ui.commands.shown import shown_by

pytestmark = pytest.mark.anyio

UNKNOWN = "claude-mythos-9"
SCRIPT = (
    f'[server]\nmodels = ["{UNKNOWN}", "claude-opus-5-5"]\n'
    + says("Yes.", usage="{ input_tokens = 100000, output_tokens = 5000 }") * 2
)


async def one_turn(session: Session, panel: PanelFold) -> TurnEnded:
    turn = await played(session.run("Is it?"))
    for event in turn.events:
        panel.on_event(event, 0.0)
    return turn.end


def shown(session: Session, panel: PanelFold) -> str:
    return str(status_of(session, panel.now, running=False, past=False, warning="").facts)


def on_panel(panel: PanelFold) -> str:
    return "".join(line.plain for lines in spent(panel.now, 60) for line in lines)


async def test_an_unknown_price_is_shown_as_unknown_everywhere_and_a_known_part_as_at_least(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        loaded, panel = settings_of(tmp_path, server.base_url, model=UNKNOWN), PanelFold()
        async with await open_session(loaded, NoAsker(), warm=False) as session:
            end = await one_turn(session, panel)
            assert json.loads(json.dumps(result(end, session.id)))["total_cost_usd"] is None
            assert "cost unknown" in shown(session, panel)
            assert "cost unknown" in on_panel(panel)
            assert "cost unknown" in str(ending_line(end))
            assert "cost unknown" in await shown_by("/status", session)
            cost = await shown_by("/cost", session)
            assert "\ncost unknown\n" in cost
            assert '1 request without a known price; set one as [prices."NAME"]' in cost
            status = await shown_by("/status", session)
            everything = (shown(session, panel), on_panel(panel), str(ending_line(end)), cost, status)
            assert not any("$" in text for text in everything)

            session.models.select("claude-opus-5-5")
            end = await one_turn(session, panel)
            assert result(end, session.id)["total_cost_usd"] == pytest.approx(0.5)
            assert "at least $0.50" in shown(session, panel)
            assert "≥ $0.50" in on_panel(panel)
            assert "at least $0.50" in await shown_by("/cost", session)
            assert "$0.50" in str(ending_line(end))


def test_what_is_spent_of_a_budget_is_one_line() -> None:
    assert str(line_of(BudgetReached(80, 4.02, 5.0))) == "$ 80 % of the budget is spent: $4.02 of $5.00"


def test_an_amount_without_unpriced_requests_is_the_amount() -> None:
    assert [priced(1.25, 0), priced(0.0, 0), priced(0.0, 2), priced(1.25, 2)] == [
        *("$1.25", "$0.0000"),
        *("cost unknown", "at least $1.25"),
    ]


def test_an_old_journal_without_the_count_is_read_as_priced() -> None:
    assert SpendChanged(1, Usage(), 0.5, Usage(), 0.0).unpriced == 0


def test_cache_misses_are_one_line_by_reason() -> None:
    missed = [CacheMissed("messages_changed", 1_200), CacheMissed("tools_changed", 300, "summary")]
    assert cache_miss_line(()) == ""
    assert cache_miss_line([*missed, CacheMissed("messages_changed", 500), CacheMissed("unavailable", None)]) == (
        "prompt cache missed in 3 requests, about 2,000 tokens: earlier messages changed (2), the tools changed (1); "
        "the server could not compare 1 request with the previous one"
    )
