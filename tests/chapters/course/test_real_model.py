"""The settings of the user that a demo with a real model takes over, and the chapters and platforms without one."""

import pytest

from chapters.course import LessonError, lesson, with_model
from harness.settings import Settings

KEY = "sk-ant-x"


def test_the_demo_takes_over_the_model_and_its_server_and_has_no_steps() -> None:
    given = {"api_key": KEY, "model": "claude-opus-5-5"}
    chapter = with_model(lesson("s10"), Settings.model_validate(given))
    assert chapter.steps == ()
    assert chapter.connection is not None
    assert chapter.connection["model"] == "claude-opus-5-5"
    assert chapter.connection["base_url"] == "https://api.anthropic.com"
    own = with_model(lesson("s10"), Settings.model_validate({**given, "base_url": "http://127.0.0.1:9"}))
    assert own.connection is not None
    assert own.connection["base_url"] == "http://127.0.0.1:9"
    token = Settings.model_validate({"auth_token": KEY, "model": "claude-opus-5-5"})
    assert with_model(lesson("s03"), token).connection is not None


@pytest.mark.parametrize(
    ("chapter", "given", "error"),
    [
        ("s02", {"api_key": KEY}, "from s03 on"),
        ("s10", {}, "set ANTHROPIC_API_KEY"),
        ("s10", {"api_key": KEY, "endpoint": "bedrock"}, "not bedrock"),
    ],
)
def test_what_cannot_be_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, chapter: str, given: dict[str, str], error: str
) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(LessonError, match=error):
        with_model(lesson(chapter), Settings.model_validate(given))
