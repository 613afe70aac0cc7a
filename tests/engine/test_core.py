"""What the parts of an agent share: requests of the user, the tools of a turn, the cost budget."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.core import Signals, ToolRestriction
from harness.events import TransitionCode, Usage
from harness.policies.recovery import TurnState
from tests.agent.test_warming import listening, practising
from tests.engine.cores import core_in, core_with


def names(signals: Signals) -> list[str]:
    """The requests that are open."""
    every = ("interrupt", "retry_now", "reconnect", "other_model")
    return [name for name in every if getattr(signals, name).is_set()]


def test_a_new_turn_drops_every_request() -> None:
    signals = Signals()
    for name in ("interrupt", "retry_now", "reconnect", "other_model"):
        getattr(signals, name).set()
    signals.reset()
    assert names(signals) == []


def test_what_is_closed_stays_interrupted() -> None:
    signals = Signals()
    signals.close()
    signals.reset()
    assert names(signals) == ["interrupt"]


def test_tools_are_restricted_until_the_block_is_left() -> None:
    restriction = ToolRestriction()
    assert restriction.allows("bash")
    with suppress(KeyError), restriction.to(frozenset({"grep"})):
        assert (restriction.allows("grep"), restriction.allows("bash")) == (True, False)
        raise KeyError
    assert restriction.allows("bash")


@pytest.mark.parametrize(("own", "of_parent", "over"), [(0.5, 0.5, False), (1.0, 0.5, True), (0.5, 2.0, True)])
def test_an_agent_stops_when_its_money_or_that_of_its_parent_is_spent(
    tmp_path: Path, own: float, of_parent: float, over: bool
) -> None:
    parent = core_in(tmp_path, model="claude-opus-4-6", max_budget_usd=2.0)
    child = replace(core_in(tmp_path, model="claude-opus-4-6", max_budget_usd=1.0), parent=parent)
    child.conversation.add_spend(Usage(), own, wasted=False)
    parent.conversation.add_spend(Usage(), of_parent, wasted=False)
    stop = child.over_budget(TurnState("m"))
    assert (stop is not None) == over
    assert stop is None or stop.code is TransitionCode.BUDGET_EXHAUSTED


def test_a_subagent_is_named_within_its_session(tmp_path: Path) -> None:
    parent = core_in(tmp_path)
    parent = replace(parent, outputs=tmp_path / "20261121-0345-7f3a9c.outputs")
    child = replace(core_in(tmp_path), parent=parent, outputs=parent.outputs / "a1")
    assert (parent.is_subagent, parent.id, parent.session) == (False, "", "20261121-0345-7f3a9c")
    assert (child.is_subagent, child.id, child.session) == (True, "a1", parent.session)
    assert child.journal == parent.journal == tmp_path / "20261121-0345-7f3a9c.jsonl"


def test_the_web_is_what_settings_and_turn_allow(tmp_path: Path) -> None:
    core = core_in(tmp_path, web_search=True, web_fetch=True, web_max_uses=3)
    assert (core.web().search, core.web().fetch, core.web().max_uses) == (True, True, 3)
    with core.restriction.to(frozenset({"web_search"})):
        assert (core.web(turn=True).search, core.web(turn=True).fetch) == (True, False)
        assert core.web().fetch
    of_subagent = replace(core, standard=["web_fetch"])
    assert (of_subagent.web().search, of_subagent.web().fetch) == (False, True)


def test_a_notice_is_given_once(tmp_path: Path) -> None:
    shared = core_in(tmp_path).shared
    shared.notices.extend(["one", "two"])
    assert list(shared.take_notices()) == ["one", "two"]
    assert list(shared.take_notices()) == []


@pytest.mark.anyio
async def test_the_end_of_the_session_ends_its_connection_and_processes(tmp_path: Path) -> None:
    before = listening()
    shared = core_with(practising(tmp_path).settings).shared
    await shared.connection.open()
    assert listening() == before + 1
    await shared.aclose()
    assert listening() == before
