"""Work is given to agents, who are the practice model too, and what came of it is told as it was."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.practice.improviser.delegation import MOST_AGENTS
from harness.practice.improviser.goals import CreateFile, Delegate, DelegateEach, Goal, ReadFile, SearchText, Task
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.tools.tool import Tool, ToolError, tool
from harness.tools.toolbox import standard_tools
from tests.practice.improviser.driver import Conversation

UNFINISHED = (
    "The agent did not finish: the model refused the request (fatal). This is no answer. What it had said until then "
    "may be incomplete or wrong:\n\nI will look.\n\n"
    '[agent a9] To let it go on from where it is, call task with agent="a9".'
)


def tasks(*prompts: str, background: bool = False, agent: str | None = None) -> tuple[Goal, ...]:
    return (Delegate(tuple(Task(prompt, prompt, agent, background) for prompt in prompts)),)


def several(prompt: str, count: int) -> tuple[Goal, ...]:
    return (Delegate(tuple(Task(f"{prompt} ({number} of {count})", prompt) for number in range(1, count + 1))),)


ENGLISH: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("use an agent to count the lines of src/a.py", tasks("count the lines of src/a.py")),
    ("Can you use a subagent to list the files?", tasks("list the files")),
    ("Use an agent to read A.md and tell me its headings.", tasks("read A.md and tell me its headings")),
    ("have an agent find TODO in src", tasks("find TODO in src")),
    (
        "please use three agents to count the lines of a.py, b.py and c.py",
        tasks("count the lines of a.py", "count the lines of b.py", "count the lines of c.py"),
    ),
    ("ask 2 agents to read a.md, b.md and c.md", tasks("read a.md and c.md", "read b.md")),
    ("ask three agents to find TODO", several("find TODO", 3)),
    ("ask two agents to each list the files", several("list the files", 2)),
    ("use an agent in the background to find TODO", tasks("find TODO", background=True)),
    ("ask a background agent to find TODO", tasks("find TODO", background=True)),
    ("delegate: count the lines of a.py", tasks("count the lines of a.py")),
    ("delegate this to an agent: read a.md and b.md", tasks("read a.md and b.md")),
    ("ask a1 to list the files too", tasks("list the files too", agent="a1")),
    ('use an agent to find "two words"', tasks('find "two words"')),
    ("read a.txt, then use an agent to find TODO", (ReadFile("a.txt"), *tasks("find TODO"))),
    ("Use an agent to find TODO. Then read a.txt", (*tasks("find TODO"), ReadFile("a.txt"))),
    ("use an agent per python file to count its lines", (DelegateEach("*.py", None, "count its lines"),)),
    ("use an agent for each *.md file in docs to summarise it", (DelegateEach("*.md", "docs", "summarise it"),)),
    ("find agent in src", (SearchText("agent", "src"),)),
    ("read agents.md", (ReadFile("agents.md"),)),
    ("create agent.py that prints hi", (CreateFile("agent.py", 'print("hi")\n'),)),
)
JAPANESE: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("エージェントに src/a.py の行数を数えさせて", tasks("src/a.py の行数を数えて")),
    ("エージェントを使って README.md の見出しを教えて", tasks("README.md の見出しを教えて")),
    ("サブエージェントに任せて: TODO を探して", tasks("TODO を探して")),
    ("エージェントに README.md を読ませて、見出しを教えて", tasks("README.md を読んで、見出しを教えて")),
    ("2つのエージェントに a.md と b.md を要約させて", tasks("a.md を要約して", "b.md を要約して")),
    ("エージェント3つに TODO を探してもらって", several("TODO を探して", 3)),
    ("バックグラウンドでエージェントに TODO を探させて", tasks("TODO を探して", background=True)),
    ("各pythonファイルについて、エージェントに行数を数えさせて", (DelegateEach("*.py", None, "行数を数えて"),)),
    ("a1 に b.py の行数を数えさせて", tasks("b.py の行数を数えて", agent="a1")),
)


@pytest.mark.parametrize(("prompt", "goals"), [*ENGLISH, *JAPANESE], ids=[p for p, _ in (*ENGLISH, *JAPANESE)])
def test_a_sentence_gives_work_to_agents(prompt: str, goals: tuple[Goal, ...]) -> None:
    understood = understand((Turn(prompt),), tool_set(()))
    assert (understood.goals, understood.unclear) == (goals, "")


def agents(folder: Path, fails: Callable[[str], bool] = lambda prompt: False) -> tuple[Tool, ...]:
    """The standard tools, and agents that have them and are the practice model; some fail."""

    @tool(parallel=True)
    def task(description: str, prompt: str, agent: str = "", background: bool = False) -> str:
        """Give a part of the work to another agent and get its answer."""
        if fails(prompt):
            raise ToolError(UNFINISHED)
        if background:
            return "Agent a1 works on it in the background. You will be told when it ends; go on with other work."
        answer = Conversation(folder).ask(prompt)
        return f"{answer}\n\n[agent {agent or 'a1'}: 2 steps, 900 tokens]"

    return (*standard_tools(), task)


def talk(folder: Path, **how: Any) -> Conversation:
    return Conversation(folder, tools=agents(folder, **how))


def test_an_agent_answers_and_its_answer_is_told_once_and_bare(project: Path) -> None:
    said = talk(project).ask("use an agent to count the lines of a.txt")
    assert "The agent answered:\n\na.txt has 2 lines." in said
    assert said.count("rule-based") == 1
    assert "900 tokens" not in said


def test_several_agents_are_asked_in_one_reply(project: Path) -> None:
    conversation = talk(project)
    said = conversation.ask("use two agents to count the lines of a.txt and src/app.py")
    assert [call.name for call in conversation.calls] == ["task", "task"]
    assert len(conversation.replies) == 2
    assert "2 of 2 agents answered" in said
    assert "a.txt has 2 lines" in said
    assert "src/app.py has 10 lines" in said


def test_each_file_is_given_to_an_agent_of_its_own(project: Path) -> None:
    conversation = talk(project)
    said = conversation.ask("use an agent per markdown file to count its lines")
    assert [call.input.get("prompt") for call in conversation.calls[1:]] == [
        "README.md: count its lines",
        "docs/guide.md: count its lines",
    ]
    assert "README.md has 15 lines" in said
    assert "docs/guide.md has 3 lines" in said
    assert "No file matches *.rs" in conversation.ask("use an agent per rust file to count its lines")


def test_there_is_a_most_of_agents_and_what_is_left_is_told(project: Path) -> None:
    for number in range(MOST_AGENTS + 2):
        (project / f"{number}.csv").write_text("")
    conversation = talk(project, fails=lambda prompt: True)
    said = conversation.ask("use an agent per csv file to count its lines")
    assert len(conversation.calls) == 1 + MOST_AGENTS
    assert "2 files more were not given to anybody" in said


def test_in_japanese_too(project: Path) -> None:
    said = talk(project).ask("2つのエージェントに a.txt と src/app.py の行数を数えさせて")
    assert "2 個のエージェントのうち 2 個が回答しました" in said
    assert "a.txt は 2 行です" in said


def test_a_failure_is_named_and_never_told_as_an_answer(project: Path) -> None:
    said = talk(project, fails=lambda prompt: True).ask("use an agent to find TODO")
    assert "No answer to “find TODO”: the agent did not finish (the model refused the request (fatal))" in said
    assert "may be wrong:\n\nI will look." in said
    assert "answered" not in said


def test_where_some_fail_both_are_told(project: Path) -> None:
    said = talk(project, fails=lambda prompt: "b.txt" in prompt).ask("use two agents to read a.txt and b.txt")
    assert "1 of 2 agents answered" in said
    assert "No answer to “read b.txt”" in said
    assert "a.txt has 2 lines" in said


def test_of_many_every_failure_is_named(project: Path) -> None:
    failing = iter([True, False, False, False] * 3)
    said = talk(project, fails=lambda prompt: next(failing)).ask("ask 12 agents to find TODO")
    assert "9 of 12 agents answered" in said
    failures, answers = said.split("Without an answer (3):")[1].split("The answers:")
    assert [line[:22] for line in failures.strip().splitlines()] == [
        f"- find TODO ({number} of 12):"[:22] for number in (1, 5, 9)
    ]
    assert answers.count("“TODO” stands in one place") == 9


def test_a_task_that_was_not_allowed_is_no_answer(project: Path) -> None:
    conversation = talk(project)
    conversation.deny = lambda call: call.name == "task"
    said = conversation.ask("use an agent to find TODO")
    assert "I was not allowed to do that" in said
    assert "answered" not in said


def test_an_agent_in_the_background_is_told_as_at_work(project: Path) -> None:
    conversation = talk(project)
    said = conversation.ask("use an agent in the background to find TODO")
    assert conversation.calls[0].input["background"] is True
    assert "work on this in the background" in said
    assert "answered" not in said


def test_without_the_tool_it_says_so(project: Path) -> None:
    said = Conversation(project).ask("use an agent to find TODO")
    assert "None of the tools I was given can give work to an agent." in said


def test_the_tool_is_used_for_nothing_else(project: Path) -> None:
    conversation = talk(project)
    conversation.ask("what is my next task?")
    conversation.ask("read a.txt")
    assert [call.name for call in conversation.calls] == ["read_file"]


def test_tasks_that_a_script_gave_away_are_reported_too(project: Path) -> None:
    conversation = talk(project)
    conversation.say("Go")
    calls = [("toolu_1", "Count", "a.txt has 2 lines."), ("toolu_2", "Look", UNFINISHED)]
    blocks = [
        {"type": "tool_use", "id": id, "name": "task", "input": {"description": title, "prompt": "x"}}
        for id, title, _ in calls
    ]
    results = [
        {"type": "tool_result", "tool_use_id": id, "content": text, "is_error": text == UNFINISHED}
        for id, _, text in calls
    ]
    conversation.messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
    conversation.step()
    said = str(conversation.messages[-1]["content"][0]["text"])
    assert "1 of 2 agents answered" in said
    assert "**Count**\n\na.txt has 2 lines." in said
    assert "No answer to “Look”" in said
    assert "did not understand" not in said
