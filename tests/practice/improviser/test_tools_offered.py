"""The improviser uses what it is offered: other people's tools, tools of other names, or the shell alone."""

from pathlib import Path
from typing import Literal

import pytest

from harness.practice.improviser import Improviser
from harness.practice.improviser.toolset import Ability, tool_set
from harness.tools.bash import bash_tool
from harness.tools.tool import Tool, tool
from harness.tools.toolbox import Toolbox, standard_tools
from tests.practice.improviser.driver import Conversation, calls_of, text_of


@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@tool
def weather(city: str, unit: Literal["celsius", "fahrenheit"] = "celsius") -> str:
    """The weather in a city."""
    return f"Sunny in {city}, in {unit}."


@tool
def send_note(receiver: str, text: str) -> str:
    """Send a short message to a colleague."""
    return f"Sent to {receiver}: {text}"


OWN = (*standard_tools(), add, weather, send_note)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("use add with 2 and 3", "5"),
        ("please use add with a=20 and b=22", "42"),
        ("a=20, b=22 で add を使って", "42"),
        ("What is the weather in Paris?", "Sunny in Paris, in celsius."),
        ("use weather with Oslo, unit=fahrenheit", "Sunny in Oslo, in fahrenheit."),
        ('use weather with "New York"', "Sunny in New York, in celsius."),
        ('call send_note with "Ann" and "lunch?"', "Sent to Ann: lunch?"),
        ("use weather", "also needs city"),
        ("use add with two and three", "also needs a, b"),
        ("use add with 1, 2, 3", "also needs a, b"),
        ("use hammer", "did not understand"),
        ("add 2 and 3", "did not understand"),
        ("what is the weather in Paris if it rains?", "did not understand"),
    ],
)
def test_somebody_elses_tool_is_called_with_what_the_sentence_gives(tmp_path: Path, prompt: str, expected: str) -> None:
    talk = Conversation(tmp_path, tools=OWN)
    assert expected in talk.ask(prompt)


def test_own_tools_do_not_get_in_the_way_of_the_usual_requests(project: Path) -> None:
    talk = Conversation(project, tools=OWN)
    talk.ask("read a.txt")
    talk.ask('append "x" to a.txt')
    assert [call.name for call in talk.calls] == ["read_file", "read_file", "edit_file"]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("list the files", "- src/app.py"),
        ("read a.txt", "a.txt has 2 lines"),
        ("find TODO", "src/app.py:6"),
        ("find nonsense", "did not find"),
        ("find all markdown files", "- docs/guide.md"),
        ('create a.txt with the text "x"', "exists already"),
        ('create "it\'s.txt" with the text "a\'b"', "is written"),
        ('replace "one" with "1" in a.txt', "is now"),
        ("read guide.md", "docs/guide.md does"),
    ],
)
def test_the_shell_alone_is_enough(project: Path, prompt: str, expected: str) -> None:
    talk = Conversation(project, tools=(bash_tool(),))
    assert expected in talk.ask(prompt)


def test_without_tools_it_says_so(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, tools=())
    assert "no tools" in talk.ask("read a.txt")
    assert "ツールが一つも渡されていない" in talk.ask("a.txtを読んで")


def test_without_the_right_tool_it_says_so(tmp_path: Path) -> None:
    talk = Conversation(tmp_path, tools=(add,))
    assert "run a command" in talk.ask("run `ls`")


def test_tools_of_other_clients_are_recognised() -> None:
    def spec(name: str, *fields: str) -> dict[str, object]:
        properties = {field: {"type": "string"} for field in fields}
        return {"name": name, "input_schema": {"type": "object", "properties": properties, "required": list(fields)}}

    offered = (
        spec("Bash", "command", "description"),
        spec("Read", "file_path"),
        spec("Write", "file_path", "content"),
        spec("Edit", "file_path", "old_string", "new_string"),
        spec("Glob", "pattern"),
        spec("Grep", "pattern"),
        spec("LS", "path"),
    )
    tools = tool_set(offered)
    assert {ability: tool.name for ability, tool in tools.abilities.items()} == {
        Ability.RUN: "Bash",
        Ability.READ: "Read",
        Ability.WRITE: "Write",
        Ability.EDIT: "Edit",
        Ability.FIND: "Glob",
        Ability.SEARCH: "Grep",
        Ability.LIST: "LS",
    }
    assert tools.run("ls").input == {"command": "ls", "description": ""}
    assert tools.own == ()


def test_our_own_tools_have_all_abilities_that_are_needed() -> None:
    tools = tool_set(Toolbox(standard_tools()).specs())
    assert set(tools.abilities) == set(Ability) - {Ability.LIST}
    assert tools.own == ()


@pytest.mark.parametrize("name", ["todo_write", "TodoWrite", "write_todos", "update_plan"])
def test_a_list_of_todos_is_no_tool_for_a_wish(name: str) -> None:
    spec = {"name": name, "description": "Write todos.", "input_schema": {"type": "object", "properties": {}}}
    assert tool_set((spec,)).own == ()


def test_the_answer_to_a_bare_request_is_in_words() -> None:
    reply = Improviser().answer({"messages": [{"role": "user", "content": "read a.txt"}]})
    assert not calls_of(reply)
    assert text_of(reply)


def test_the_tools_are_the_ones_of_this_request(tmp_path: Path) -> None:
    tools: tuple[Tool, ...] = (weather,)
    assert "weather" in Conversation(tmp_path, tools=tools).ask("what tools do you have?")
