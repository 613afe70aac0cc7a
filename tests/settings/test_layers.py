"""Rules about permissions in the settings: every layer adds, and a folder only to what is stricter."""

import pytest

from harness.base.errors import SettingsError
from tests.settings.conftest import Place


def test_the_rules_of_all_layers_count_together(place: Place) -> None:
    place.write(
        user='permissions_deny = ["bash(a)"]\npermissions_allow = ["bash(b)"]',
        project='permissions_deny = ["bash(c)"]\npermissions_ask = ["bash(d)"]',
    )
    loaded = place.load(environ={"HARNESS_PERMISSIONS_DENY": "bash(e), read(f)", "HARNESS_PERMISSIONS_ALLOW": "agent"})
    assert loaded.settings.permissions_deny == ("bash(e)", "read(f)", "bash(c)", "bash(a)")
    assert loaded.settings.permissions_allow == ("agent", "bash(b)")
    assert loaded.settings.permissions_ask == ("bash(d)",)
    assert loaded.origins["permissions_deny"].count(",") == 2


def test_a_comma_inside_of_brackets_belongs_to_the_rule(place: Place) -> None:
    loaded = place.load(environ={"HARNESS_PERMISSIONS_ASK": "bash(a b,c),write(d)"})
    assert loaded.settings.permissions_ask == ("bash(a b,c)", "write(d)")


@pytest.mark.parametrize("value", ["3", "[1]", "true"])
def test_what_is_no_list_of_rules_gets_one_sentence(place: Place, value: str) -> None:
    place.write(user=f"permissions_deny = {value}")
    with pytest.raises(SettingsError, match="give a list of rules, such as"):
        place.load()


def test_rules_that_are_kept_are_beside_the_settings_of_the_person(place: Place) -> None:
    assert place.load().settings.permissions_file == place.user_file.parent / "permissions.toml"
    place.write(user='permissions_file = "mine.toml"')
    assert place.load().settings.permissions_file == place.user_file.parent / "mine.toml"
