"""The statements of the page about breakers are true."""

from harness.events import Dispatch
from harness.policies.breakers.cascades import INTERVALS
from harness.settings import Settings
from tests.pages.blocks import text

TEXT = " ".join(text("docs/breakers.md").split())
WORDS = {3: "three", 5: "five", 10: "ten"}


def test_the_page_names_every_decision_once_in_its_table() -> None:
    assert [TEXT.count(f"| {dispatch.name} |") for dispatch in Dispatch] == [1] * len(Dispatch)


def test_the_numbers_of_the_page_are_those_of_the_settings() -> None:
    settings = Settings()
    for sentence in (
        f"opens after {WORDS[settings.failure_threshold]} failures in a row",
        f"After {WORDS[settings.probe_distance]} steps one call is let through",
        f"counts as lost after {WORDS[settings.probe_lease]} steps",
        f"open within {WORDS[settings.cascade_window]} steps",
        f"budget is {WORDS[settings.failure_budget]} failures in a turn",
    ):
        assert sentence in TEXT
    *first, last = INTERVALS
    assert f"after {', '.join(map(str, first))} and then every {last} steps" in TEXT


def test_the_settings_that_it_names_exist() -> None:
    numbers = {"failure_threshold", "failure_budget", "probe_distance", "probe_lease", "cascade_window"}
    named = numbers | {"count_errors", "cascade_probes", "strict_freshness"}
    assert all(f"`{name}" in TEXT for name in named)
    assert named <= Settings.model_fields.keys()
