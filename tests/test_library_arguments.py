"""What a program hands in wrongly is refused at once, in one sentence that names the argument."""

from collections.abc import Callable
from pathlib import Path

import pytest

import harness
from harness import Agent, HookCall, Opening, Policies, hook, open_session, tool
from harness.base.errors import SettingsError

any_tool: Callable[..., object] = tool
any_hook: Callable[..., Callable[..., object]] = hook
"""Without their types, as a program that is not checked calls them."""


def weather(city: str) -> str:
    """The weather in a city."""
    return f"It rains in {city}."


@pytest.mark.parametrize(
    ("name", "value", "takes"),
    [
        ("settings", {}, "settings as"),
        ("policies", {}, "Policies"),
        ("policies", Policies, "Policies"),
        ("asker", "yes", "methods of harness.session.Asker"),
        ("clock", 5, "methods now and sleep"),
        ("conversation", [], "a Conversation"),
        ("outputs", "results", "a Path"),
        ("agents", 5, "a Path"),
        ("log", "log.txt", "a logging.Logger"),
        ("reread", 5, "a function"),
        ("answer_format", "json", "a dict"),
        ("standard", 5, "a list of names"),
        ("tools", 5, "a list of tools"),
        ("hooks", 5, "a list of hooks"),
    ],
)
def test_an_argument_of_an_agent(name: str, value: object, takes: str) -> None:
    arguments: dict[str, object] = {name: value}
    with pytest.raises(TypeError, match=rf"^{name}=? takes .*{takes}"):
        Agent(**arguments)  # type: ignore[arg-type]


def test_a_setting_is_named_as_the_keyword_that_it_is() -> None:
    with pytest.raises(
        SettingsError, match='Cannot use permission_mode = \'yes\'; give "ask", "edits", "yolo", "deny" or "plan"'
    ):
        Agent(permission_mode="yes")


@pytest.mark.anyio
async def test_an_argument_of_a_session() -> None:
    wrong: list[tuple[dict[str, object], str]] = [
        ({"opening": "latest"}, "opening= takes an Opening"),
        ({"opening": Opening(resume=5)}, "Opening.resume= takes the id"),  # type: ignore[arg-type]
        ({"loaded": {}}, "loaded= takes settings"),
        ({"observer": 5}, "observer= takes a function"),
        ({"asker": 5}, "asker= takes an object"),
        ({"policies": 5}, "policies= takes Policies"),
    ]
    for arguments, words in wrong:
        with pytest.raises(TypeError, match=words):
            await open_session(**arguments)  # type: ignore[arg-type]


def test_an_argument_of_a_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path))
    agent = Agent()
    for arguments in ({"prompt": 5}, {"prompt": "hi", "model": 5}, {"prompt": "hi", "only": "bash"}):
        with pytest.raises(TypeError, match="= takes "):
            agent.run(**arguments)
    with pytest.raises(ValueError, match=r"only= names 'nope', which this agent lacks; it has: .*read_file"):
        agent.run("hi", only=["read_file", "web_search", "nope"])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: any_tool(effect="read"), "effect= takes an Effect: read, write"),
        (lambda: any_tool(parallel="yes"), "parallel= takes True or False"),
        (lambda: any_tool(timeout_s="1"), "timeout_s= takes seconds"),
        (lambda: any_tool(timeout_s=True), "timeout_s= takes seconds"),
        (lambda: any_tool(name=5), "name= takes a text"),
        (lambda: any_tool(name="my tool"), "name= takes at most 64 letters"),
        (lambda: any_hook("before_tool", tools=5), "tools= takes a text"),
        (lambda: any_hook("before_tool", time_s="1"), "time_s= takes seconds"),
        (lambda: any_hook("before_tool")(lambda: None), "has to be a function of one argument, a HookCall"),
        (lambda: any_hook("before_tool")(lambda one, two: None), "has to be a function of one argument"),
    ],
)
def test_an_argument_of_a_tool_or_a_hook(make: Callable[[], object], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        make()


def test_what_fits_is_taken() -> None:
    def plain(call: HookCall, more: int = 1) -> None:
        """A hook may have more arguments with defaults."""

    assert hook("before_tool", tools="bash", time_s=1)(plain).name == "plain"
    assert tool(name="rain", timeout_s=2)(weather).name == "rain"


def test_the_package_shows_its_public_names() -> None:
    assert set(harness.__all__) == set(dir(harness))
    assert {"Agent", "tool", "hook", "open_session"} <= set(dir(harness))
