"""Which model answers the next turn, and with how much effort."""

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.engine.conversation import Conversation
from harness.engine.model.calls import ModelCalls
from harness.engine.model.chosen_model import ModelSelection
from harness.events import OWN_EFFORT, Effort, Event, Message, SettingChanged, Usage
from tests.engine.cores import core_in

OPUS, HAIKU, UNKNOWN = "claude-opus-4-6", "claude-haiku-4-5", "nobody-knows-1"
HELLO = (Message("user", ({"type": "text", "text": "Hello, and what is the time in Oslo now?"},)),)


def selection(folder: Path, **settings: Any) -> tuple[ModelSelection, ModelCalls, list[Event]]:
    seen: list[Event] = []
    core = core_in(folder, Conversation(seen.append), **{"model": OPUS, **settings})
    calls = ModelCalls(core, (), ())
    return ModelSelection(core, calls), calls, seen


def test_a_selected_model_is_that_of_the_next_turn(tmp_path: Path) -> None:
    models, _, seen = selection(tmp_path)
    models.select(HAIKU)
    assert (models.current, models.asked, seen) == (HAIKU, HAIKU, [SettingChanged("model", HAIKU)])
    models.use(OPUS)  # for one turn
    assert (models.current, models.asked) == (HAIKU, OPUS)


def test_a_model_without_a_price_is_refused_only_under_a_cost_budget(tmp_path: Path) -> None:
    models, _, seen = selection(tmp_path, max_budget_usd=1.0)
    with pytest.raises(SettingsError, match=UNKNOWN):
        models.select(UNKNOWN)
    assert (models.current, seen) == (OPUS, [])
    models, _, _ = selection(tmp_path)
    models.select(UNKNOWN)
    assert models.current == UNKNOWN


def test_sizes_that_another_model_measured_are_forgotten(tmp_path: Path) -> None:
    models, calls, _ = selection(tmp_path)
    guess = calls.estimate(OPUS, HELLO)
    calls._estimator.observe(OPUS, calls.counted(HELLO), Usage(input=5_000), reply_count=0)
    measured = calls.estimate(OPUS, HELLO)
    assert measured > guess
    models.use(OPUS)
    assert calls.estimate(OPUS, HELLO) == measured
    models.use(HAIKU)
    assert calls.estimate(OPUS, HELLO) != measured


def test_the_choices_begin_with_the_current_model_and_name_window_and_price(tmp_path: Path) -> None:
    models, _, _ = selection(tmp_path)
    first, second, *others = models.choices([UNKNOWN])
    assert (first[0], second[0], second[2]) == (OPUS, UNKNOWN, None)
    assert first[1] >= 200_000
    assert first[2] is not None
    assert first[2][0] < first[2][1]
    assert HAIKU in {name for name, _, _ in others}


@pytest.mark.parametrize(("effort", "value"), [(Effort.LOW, "low"), (None, OWN_EFFORT)])
def test_an_effort_holds_from_the_next_turn(tmp_path: Path, effort: Effort | None, value: str) -> None:
    models, calls, seen = selection(tmp_path)
    assert models.efforts is not None
    assert Effort.LOW in models.efforts
    models.set_effort(effort)
    assert (models.effort, calls.effort, seen) == (effort, effort, [SettingChanged("effort", value)])
    assert models.effort_of(OPUS) is effort
    assert models.effort_of(HAIKU) is None


def test_an_effort_that_the_model_does_not_take_is_refused(tmp_path: Path) -> None:
    models, _, seen = selection(tmp_path, model=HAIKU)
    with pytest.raises(HarnessError, match="does not support effort"):
        models.set_effort(Effort.LOW)
    assert (models.effort, seen) == (None, [])
