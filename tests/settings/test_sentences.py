"""Each mistake gets one sentence with the place, the value found and the valid values; never a secret."""

import json
import traceback
from pathlib import Path

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.settings import settings_reference
from harness.settings.fields import Settings
from tests.settings.conftest import Place

SECRET = "a-very-secret-value"


_, *MISTAKES = json.loads(Path(__file__).with_name("mistakes.json").read_text(encoding="utf-8"))
LONG = [
    {"user": f"max_steps = '{'x' * 500}'", "says": "x…; give a whole number"},
    {"user": "plain = " + "[" * 5000, "says": " is nested too deeply; put this right."},
]


@pytest.mark.parametrize("mistake", [*MISTAKES, *LONG], ids=lambda mistake: mistake["says"][:40])
def test_a_mistake_in_a_settings_file_gets_one_sentence(place: Place, mistake: dict[str, str]) -> None:
    place.write(user=mistake["user"])
    with pytest.raises(SettingsError) as caught:
        place.load()
    said = str(caught.value)
    assert str(place.user_file) in said
    where, _, what = mistake["says"].partition("… ")
    assert where in said
    assert what in said
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 350
    assert SECRET not in said
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("flags", "environ", "sentence"),
    [
        ({"max_steps": "many"}, {}, "Cannot use flag --max-steps = 'many'; give a whole number of at least 1."),
        ({"max_step": 1}, {}, "There is no setting 'max_step', perhaps 'max_steps' was meant."),
        ({}, {"HARNESS_PLAIN": "x"}, "Cannot use environment HARNESS_PLAIN = 'x'; give true or false."),
        ({}, {"FALLBACK_MODEL_ID": "a,b,c,d"}, "Cannot use environment FALLBACK_MODEL_ID = 'a,b,c,d'; give up to"),
        (
            {"workspace": "/no/such/folder"},
            {},
            "Cannot use flag --cwd = '/no/such/folder': /no/such/folder is no folder",
        ),
    ],
)
def test_a_mistake_in_a_flag_or_variable_gets_one_sentence(
    place: Place, flags: dict[str, object], environ: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        place.load(flags, environ)
    assert str(caught.value).startswith(sentence)
    assert caught.value.exit_code == 2
    assert isinstance(caught.value, HarnessError)


def test_a_file_that_is_no_utf8_or_cannot_be_read_is_named(place: Place) -> None:
    place.user_file.parent.mkdir()
    place.user_file.write_bytes(b"model = '\xff'")
    with pytest.raises(SettingsError, match=r"settings\.toml is not UTF-8 text; save it as such"):
        place.load()
    place.user_file.unlink()
    place.user_file.mkdir()
    with pytest.raises(SettingsError, match=r"settings\.toml cannot be read: Is a directory"):
        place.load()


def test_a_byte_order_mark_does_no_harm(place: Place) -> None:
    place.write(user="\ufeffmodel = 'm'", dotenv="\ufeffFALLBACK_MODEL_ID=f")
    settings = place.load().settings
    assert (settings.model, settings.fallback_models) == ("m", ("f",))


@pytest.mark.parametrize("broken", [{"HARNESS_MAX_STEPS": "many"}, {"HARNESS_PERMISSION_MODE": "x"}])
def test_no_secret_is_in_settings_origins_errors_or_tracebacks(place: Place, broken: dict[str, str]) -> None:
    secrets = {"ANTHROPIC_API_KEY": "sk-ant-one", "ANTHROPIC_AUTH_TOKEN": "token-two"}
    place.write(dotenv="HARNESS_API_KEY=sk-ant-three")
    loaded = place.load(environ=secrets)
    with pytest.raises(SettingsError) as caught:
        place.load(environ=secrets | broken)
    shown = [
        repr(loaded),
        str(loaded.settings),
        str(loaded.settings.model_dump()),
        loaded.settings.model_dump_json(),
        "".join(traceback.format_exception(caught.value)),
    ]
    for text in shown:
        assert not any(secret in text for secret in ("sk-ant-one", "token-two", "sk-ant-three"))
    assert loaded.settings.api_key is not None
    assert loaded.settings.api_key.reveal() == "sk-ant-one"


def test_the_reference_names_every_setting_with_what_fits_and_what_it_is_for() -> None:
    reference = settings_reference()
    entries = reference.split("\n## ")[1:]
    assert [entry.splitlines()[0].strip("`") for entry in entries] == list(Settings.model_fields)
    for entry in entries:
        lines = entry.splitlines()
        assert lines[2].endswith(".")
        assert lines[4].removeprefix("- type: ").strip()
        assert "HARNESS_" in lines[6]
    assert "- default: `10`" in reference
    assert "- variables: `HARNESS_API_KEY`, `ANTHROPIC_API_KEY`" in reference
    assert "- default: `false`" in reference


def test_the_page_in_the_documentation_is_the_one_of_the_class() -> None:
    page = Path(__file__).parents[2] / "docs" / "settings.md"
    remedy = "run: harness settings > docs/settings.md"
    assert page.read_text(encoding="utf-8").rstrip() == settings_reference(), remedy
