"""Commands in the background are started, looked at and ended, and what arrives is told."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.events import ArrivalKind, Arrived, CommandEnd, Json
from harness.model.notification_texts import arrivals_text
from harness.practice.improviser.goals import (
    Goal,
    ListBackground,
    ListFiles,
    RunCommand,
    RunTests,
    ShowBackground,
    StopBackground,
)
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.tools.background_commands import CommandRow, CommandState, CommandText, background_tools
from harness.tools.bash import bash_tool
from harness.tools.toolbox import standard_tools
from tests.practice.improviser.driver import Conversation, text_of

SLEEP = RunCommand("sleep 5", background=True)
SENTENCES: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("run `sleep 5` in the background", (SLEEP,)),
    ("run sleep 5 in the background and list the files", (SLEEP, ListFiles())),
    ("start python3 -m http.server in the background", (RunCommand("python3 -m http.server", background=True),)),
    ("run the tests in the background", (RunTests(background=True),)),
    ("what runs in the background?", (ListBackground(),)),
    ("Is anything running in the background?", (ListBackground(),)),
    ("show me the background commands", (ListBackground(),)),
    ("show b1", (ShowBackground("b1"),)),
    ("what does b12 say?", (ShowBackground("b12"),)),
    ("kill b1", (StopBackground("b1"),)),
    ("list the files and kill b1", (ListFiles(), StopBackground("b1"))),
    ("run `sleep 5`", (RunCommand("sleep 5"),)),
    ("バックグラウンドで `sleep 5` を実行して", (SLEEP,)),
    ("`sleep 5` をバックグラウンドで実行してください", (SLEEP,)),
    ("バックグラウンドでテストを実行して", (RunTests(background=True),)),
    ("バックグラウンドで何が動いていますか", (ListBackground(),)),
    ("バックグラウンドの一覧を見せて", (ListBackground(),)),
    ("b1 を見せて", (ShowBackground("b1"),)),
    ("b1 を止めて", (StopBackground("b1"),)),
)


class Commands:
    """A background in which nothing really runs."""

    def __init__(self) -> None:
        self._rows: dict[str, CommandRow] = {}

    async def start(
        self, line: str, call_id: str, time_s: float | None = None, *, read_only: bool = False
    ) -> CommandRow:
        id = f"b{len(self._rows) + 1}"
        self._rows[id] = CommandRow(id, line, CommandState.RUNS, 0.0, Path(f"{id}.txt"), pid=7)
        return self._rows[id]

    @property
    def rows(self) -> tuple[CommandRow, ...]:
        return tuple(self._rows.values())

    def read(
        self, id: str, *, lines: int | None = None, from_byte: int | None = None, most: int = 1_000
    ) -> CommandText:
        return CommandText(self._rows[id], "half done", 0, 9)

    async def stop(self, id: str, *, tell: bool = True) -> CommandRow:
        row = self._rows[id]
        return CommandRow(id, row.line, CommandState.ENDED, 0.0, row.output, end=CommandEnd.STOPPED)


def talk(folder: Path) -> Conversation:
    commands = Commands()
    usual = [tool for tool in standard_tools() if tool.name != "bash"]
    return Conversation(folder, tools=(*usual, bash_tool(background=commands), *background_tools(commands)))


@pytest.mark.parametrize(("prompt", "goals"), SENTENCES, ids=[prompt for prompt, _ in SENTENCES])
def test_a_sentence_means_the_background(prompt: str, goals: tuple[Goal, ...]) -> None:
    understood = understand((Turn(prompt),), tool_set(()))
    assert (understood.goals, understood.unclear) == (goals, "")


def test_a_command_is_started_looked_at_and_ended(project: Path) -> None:
    conversation = talk(project)
    assert "`sleep 5` is in the background: b1 runs" in conversation.ask("run `sleep 5` in the background")
    assert "sleep 5" in conversation.ask("what runs in the background?")
    assert "b1 wrote:\n\n```\nhalf done" in conversation.ask("show b1")
    assert "b1 and all its children were ended" in conversation.ask("kill b1")
    assert [(call.name, call.input) for call in conversation.calls] == [
        ("bash", {"command": "sleep 5", "background": True}),
        ("list_background", {}),
        ("read_background", {"id": "b1"}),
        ("kill_background", {"id": "b1"}),
    ]


def test_in_japanese_too(project: Path) -> None:
    conversation = talk(project)
    assert "バックグラウンドに送りました" in conversation.ask("バックグラウンドで `sleep 5` を実行して")
    assert "b1 の出力です" in conversation.ask("b1 を見せて")


def test_the_tests_can_run_in_the_background(project: Path) -> None:
    (project / "test_app.py").write_text("")
    conversation = talk(project)
    assert "python3 -m pytest -q` is in the background" in conversation.ask("run the tests in the background")


def test_where_there_is_no_background_it_says_so(project: Path) -> None:
    conversation = Conversation(project)
    assert "can run a command in the background" in conversation.ask("run `sleep 5` in the background")
    assert "can say what runs in the background" in conversation.ask("what runs in the background?")
    assert conversation.calls == []


COMMAND = Arrived(
    *(1, ArrivalKind.COMMAND_ENDED, "b1"),
    "b1 ended with exit code 2 after 3.0 s: make\nIts output, 6 bytes, is in b1.txt. The end of it:\nboom!",
)
ANSWER = Arrived(
    *(2, ArrivalKind.AGENT_ENDED, "a1"),
    'Agent a1, asked in the background to "count the lines", has ended.\n\n'
    "a.txt has 2 lines.\n\n[agent a1: 2 steps, 90 tokens]",
)
FAILURE = Arrived(
    *(3, ArrivalKind.AGENT_ENDED, "a2"),
    'Agent a2, asked in the background to "find TODO", has ended.\n\n'
    "The agent did not finish: it went in circles. This is no answer. It had said nothing yet.\n\n"
    '[agent a2] To let it go on from where it is, call task with agent="a2".',
)


def test_what_arrives_is_told_in_the_language_of_the_conversation(project: Path) -> None:
    conversation = talk(project)
    conversation.ask("read a.txt")
    said = conversation.ask(arrivals_text((COMMAND, ANSWER, FAILURE)))
    assert "News from b1 in the background: b1 ended with exit code 2 after 3.0 s: make" in said
    assert "```\nboom!\n```" in said
    assert "Agent a1 has answered from the background:\n\na.txt has 2 lines." in said
    assert "No answer to “find TODO”: the agent did not finish (it went in circles)." in said
    assert "did not understand" not in said
    conversation.ask("b.txt を読んで")
    assert "エージェント a1 の回答です" in conversation.ask(arrivals_text((ANSWER,)))


def test_an_arrival_is_no_prompt_and_changes_nothing_of_what_was_spoken_of(project: Path) -> None:
    conversation = talk(project)
    conversation.ask("read a.txt")
    conversation.ask(arrivals_text((COMMAND,)))
    assert "b1 ended" not in conversation.ask("how many lines does it have?")
    assert "a.txt has 2 lines" in conversation.ask("do it again")


def test_what_arrives_in_the_middle_of_a_turn_is_told_at_its_end(project: Path) -> None:
    conversation = talk(project)
    conversation.say('create a.txt with the text "x"')
    conversation.step()
    conversation.messages[-1]["content"].append({"type": "text", "text": arrivals_text((COMMAND,))})
    said = _to_the_end(conversation)
    assert "a.txt exists already" in said
    assert said.endswith("```\nboom!\n```")


def test_an_arrival_is_not_lost_when_the_conversation_is_summarised(project: Path) -> None:
    conversation = talk(project)
    conversation.ask("read a.txt")
    conversation.say(arrivals_text((COMMAND,)))
    conversation.say("Please summarize the conversation so far.")
    summary = text_of(conversation.step())
    conversation.messages[:] = _user(f"The earlier conversation was replaced by a summary.\n\n{summary}")
    assert "News from b1" in _to_the_end(conversation)


def _to_the_end(conversation: Conversation) -> str:
    while conversation.messages[-1]["role"] == "user":
        said = text_of(conversation.step())
    return said


def _user(text: str) -> Iterable[Json]:
    yield {"role": "user", "content": [{"type": "text", "text": text}]}
