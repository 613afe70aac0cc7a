"""Agents that work for an agent: their task, their result, and that a failure is never reported as an answer."""

from collections import Counter
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from harness.events import (
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Json,
    RetryBudgetSpent,
    ToolEnded,
    ToolOutcome,
    TransitionCode,
    WorkAdmitted,
    WorkReleased,
)
from harness.session import Opening
from tests.agent.stage import (
    MODEL,
    PassingClock,
    Played,
    Stage,
    calls,
    fails,
    played,
    run,
    says,
    sessions,
    stage,
)
from tests.definitions.folders import agent
from tests.engine.background.stage import lives

pytestmark = pytest.mark.anyio

HIRED = '{ lacks = "agent" }'
"""Requests of agents that work for another one."""
FAR = '{ offers = "agent" }'


def task(description: str = "look", prompt: str = "Look.", **more: object) -> str:
    """A call of task, for a script."""
    extra = "".join(f", {key} = {_toml(value)}" for key, value in more.items())
    return f'{{ name = "agent", input = {{ description = "{description}", prompt = "{prompt}"{extra} }} }}'


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case list():
            return "[" + ", ".join(f'"{one}"' for one in value) + "]"
        case _:
            return f'"{value}"'


def of_subagent(entry: str) -> str:
    """An entry of a script that is for the agents alone."""
    return entry.rstrip() + f"\nwhen = {HIRED}\n"


def on_stage(folder: Path, script: str, **more: Any) -> AbstractAsyncContextManager[Stage]:
    """A stage on which time passes."""
    return stage(folder, script, clock=PassingClock(), **more)


def result(turn: Played) -> Json:
    """The result of the only call."""
    (one,) = turn.results
    return one


def ends(turn: Played) -> list[AgentEnd]:
    """How the agents ended, in that order."""
    return [event.end for event in turn.of(AgentEnded)]


async def test_an_agent_begins_with_nothing_but_its_task_and_its_answer_comes_back(tmp_path: Path) -> None:
    script = calls(task(prompt="Count the files.")) + of_subagent(says("There are three.")) + says("Three.")
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn("How many files are there?")
        asked = here.bodies[1]
        assert [block["text"] for message in asked["messages"] for block in message["content"]][
            -1
        ] == "Count the files."
        assert "How many files" not in str(asked["messages"])
        assert {tool["name"] for tool in asked["tools"]} == {
            *("bash", "read_file", "write_file", "edit_file", "glob", "grep", "todo_write", "recall", "ask_user")
        }
        bash = next(tool for tool in asked["tools"] if tool["name"] == "bash")
        assert set(bash["input_schema"]["properties"]) == {"command", "timeout"}
        assert result(turn)["content"].startswith("There are three.")
        assert "is_error" not in result(turn)
        assert ends(turn) == [AgentEnd.ANSWERED]
        assert turn.end.answer == "Three."


async def test_what_an_agent_costs_is_part_of_the_session_and_of_the_turn(tmp_path: Path) -> None:
    script = calls(task()) + of_subagent(calls(run("one"))) + of_subagent(says("Done.")) + says("Good.")
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn()
        assert turn.end.requests == 4
        (ended,) = turn.of(AgentEnded)
        assert ended.requests == 2
        assert turn.end.cost_usd == pytest.approx(here.agent.conversation.spend.cost_usd)
        assert turn.end.cost_usd > ended.cost_usd > 0
        assert [moved.doing for moved in turn.of(AgentMoved)][:2] == ["asks the model", "bash echo one >> ran.txt"]


async def test_a_call_by_the_name_of_an_earlier_version_starts_an_agent(tmp_path: Path) -> None:
    old = task().replace('"agent"', '"task"', 1)
    script = (
        f"[[reply]]\ntools = [ {old} ]\nwhen = {{ offers = 'agent' }}\n" + of_subagent(says("Done.")) + says("Good.")
    )
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn()
        assert [reported["content"][:5] for reported in turn.results] == ["Done."]
        assert [event.tool for event in turn.of(ToolEnded)] == ["agent"]


async def test_several_agents_of_one_reply_work_at_the_same_time_and_results_keep_the_order(tmp_path: Path) -> None:
    script = calls(task("first", "Say one."), task("second", "Say two."))
    script += '\n[[reply]]\ntext = "one"\nwhen = { text = "Say one.", lacks = "agent" }\n'
    script += '\n[[reply]]\ntext = "two"\nwhen = { text = "Say two.", lacks = "agent" }\n'
    async with on_stage(tmp_path, script + says("Both.")) as here:
        turn = await here.turn()
        assert [reported["content"][:3] for reported in turn.results] == ["one", "two"]
        assert max(event.running for event in turn.of(WorkAdmitted)) == 2


async def test_a_session_starts_no_more_agents_than_it_may_and_continues_with_those_it_has(tmp_path: Path) -> None:
    three = calls(*(task(f"task {number}") for number in range(3)))
    again = calls(task("more", agent="a1"), task("another one"))
    script = three + of_subagent(says("Done.", times="2")) + again + of_subagent(says("More.")) + says("All.")
    async with on_stage(tmp_path, script, max_subagents=2) as here:
        turn = await here.turn()
        assert [event.agent for event in turn.of(AgentCreated)] == ["a1", "a2", "a1"]
        refused = [result["content"] for result in turn.results if result.get("is_error")]
        begin = "Not started: this session has started 2 agents, and max_subagents allows no more."
        assert [text[: len(begin)] for text in refused] == [begin] * 2
        assert turn.end.answer == "All."


# ── a failure is never reported as an answer ──────────────────────────────────────────


def failed(turn: Played, end: AgentEnd) -> str:
    """Check that the result says the agent did not finish; return it."""
    assert ends(turn) == [end]
    reported = result(turn)
    assert reported["is_error"] is True
    assert reported["content"].startswith("The agent did not finish")
    (ended,) = [event for event in turn.of(ToolEnded) if event.tool == "agent"]
    assert ended.outcome is ToolOutcome.ERROR
    assert ended.failure is None  # the tool itself is well, whatever the agent met
    return str(reported["content"])


async def test_an_agent_whose_turns_are_used_up(tmp_path: Path) -> None:
    looks = of_subagent(calls(run("again"), text="I look once more.", times="3"))
    async with on_stage(tmp_path, calls(task()) + looks + says("A pity."), subagent_steps=3) as here:
        text = failed(await here.turn(), AgentEnd.LIMIT)
        assert "I look once more." in text
        assert "may be incomplete" in text


async def test_an_agent_cannot_spend_more_than_the_session_may(tmp_path: Path) -> None:
    looks = of_subagent(calls(run("again"), times='"forever"'))
    async with on_stage(tmp_path, calls(task()) + looks, max_budget_usd=0.01) as here:
        turn = await here.turn()
        failed(turn, AgentEnd.LIMIT)
        assert turn.end.code is TransitionCode.BUDGET_EXHAUSTED


async def test_an_interrupted_turn_ends_its_agents(tmp_path: Path) -> None:
    slow = of_subagent(calls('{ name = "bash", input = { command = "sleep 30" } }', times="2"))
    async with on_stage(tmp_path, calls(task("one"), task("two")) + slow) as here:

        def interrupt(event: object) -> None:
            if isinstance(event, AgentMoved) and event.doing.startswith("bash"):
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert ends(turn) == [AgentEnd.CANCELLED] * 2
        assert len(turn.of(WorkReleased)) == len(turn.of(WorkAdmitted)) == 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"agent": "a9"}, "no agent a9"),
        ({"tools": ["grep", "agent"]}, "No agent can be given agent"),
    ],
)
async def test_what_cannot_be_asked_is_answered_with_what_can(tmp_path: Path, wrong: Json, said: str) -> None:
    async with on_stage(tmp_path, calls(task(**wrong)) + says("A pity.")) as here:
        turn = await here.turn()
        assert said in result(turn)["content"]
        assert turn.of(AgentCreated) == []


# ── the same breakers ───────────────────────────────────────────────────────────────────────────────


async def test_a_program_that_is_switched_off_is_so_for_agents(tmp_path: Path) -> None:
    from harness.events import BreakerCommand

    made = calls('{ name = "bash", input = { command = "touch made.txt" } }')
    script = calls(task()) + of_subagent(made) + of_subagent(says("touch is switched off.")) + says("Then not.")
    async with on_stage(tmp_path, script) as here:
        here.agent.parts.breakers.announce()
        here.agent.parts.breakers.command(BreakerCommand.ISOLATE, "bash:touch")
        await here.turn()
        assert not (here.workspace / "made.txt").exists()


async def test_an_agent_may_be_given_few_tools(tmp_path: Path) -> None:
    script = calls(task(tools=["grep", "glob"])) + of_subagent(says("Seen.")) + says("Good.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        assert [tool["name"] for tool in here.bodies[1]["tools"]] == ["glob", "grep"]


async def test_an_agent_that_is_resumed_remembers_its_work(tmp_path: Path) -> None:
    script = calls(task(prompt="Learn the word plum.")) + of_subagent(says("Learnt.")) + says("Good.")
    script += calls(task(prompt="Which word?", agent="a1")) + of_subagent(says("Plum.")) + says("Right.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        turn = await here.turn("And now?")
        assert "Learn the word plum." in str(here.bodies[4]["messages"])
        (created,) = turn.of(AgentCreated)
        assert (created.agent, created.again) == ("a1", True)


async def test_what_the_commands_of_an_agent_leave_running_ends_with_it_and_is_named(tmp_path: Path) -> None:
    leaves = '{ name = "bash", input = { command = "sleep 600 & echo $! > pid.txt" } }'
    script = calls(task()) + of_subagent(calls(leaves)) + of_subagent(says("It serves.")) + says("Good.")
    async with on_stage(tmp_path, script) as here:
        turn = await here.turn()
        pid = (here.workspace / "pid.txt").read_text().strip()
        left = f"[Its commands had left these running, and they ended with it: sleep ({pid})]"
        assert result(turn)["content"].endswith(left)
        assert not lives(int(pid))


# ── the retries they share ──────────────────────────────────────────────────────────────────────


async def test_twenty_agents_before_a_server_that_fails_make_no_more_attempts_than_the_bound(tmp_path: Path) -> None:
    script = of_subagent(fails(500, times='"forever"'))
    script += (calls(*(task(f"task {number}") for number in range(20))) + says("A pity.")) * 2
    async with stage(tmp_path, script) as here:
        bound, before = 20 * 1.1 + 10, 0
        for _ in range(2):  # the second prompt has a budget of its own
            turn = await here.turn()
            (spent,) = turn.of(RetryBudgetSpent)
            assert spent.retries >= 10
            of_agents = [body for body in here.bodies if "agent" not in {tool["name"] for tool in body["tools"]}]
            made, before = len(of_agents) - before, len(of_agents)
            assert 31 <= made <= bound  # ten, and one more that the requests have added
            assert Counter(event.end for event in turn.of(AgentEnded)) == {AgentEnd.FAILED: 20}
        assert all("Internal server error; gave up: the retries that all" in one["content"] for one in turn.results)
        assert here.agents is not None
        journals = [here.of_agent(path) for path in here.agents.glob("*.jsonl")]
        assert sum(any(isinstance(event, RetryBudgetSpent) for event in events) for events in journals) == 40


async def test_a_retry_is_no_request_and_the_step_after_it_is_one(tmp_path: Path) -> None:
    script = (
        calls(task())
        + of_subagent(fails(500))
        + of_subagent(calls(run("one")))
        + of_subagent(fails(500))
        + says("A pity.")
    )
    async with stage(tmp_path, script, retry_burst=1) as here:
        assert (await here.turn()).of(RetryBudgetSpent) == [RetryBudgetSpent(requests=2, retries=1)]


# ── kinds of agents that files define ───────────────────────────────────────────────────────────────


SEARCHER = agent("searcher", "model: haiku\ntools: Read, Grep\n", "You search. Give paths only.")


def write(workspace: Path, name: str, text: str) -> None:
    """Put a file with an agent into the folder of the project."""
    file = workspace / ".claude" / "agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def test_an_agent_of_a_kind_has_its_prompt_its_tools_and_its_model(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + of_subagent(says("src/a.py")) + says("There.")
    async with on_stage(tmp_path, script, trust_folder=True) as here:
        turn = await here.turn()
        parent, subagent, _ = here.bodies
        (described,) = [tool for tool in parent["tools"] if tool["name"] == "agent"]
        assert "- searcher: What searcher is for." in described["description"]
        assert "kind" in described["input_schema"]["properties"]
        assert subagent["model"] == "claude-haiku-5-5"
        assert [tool["name"] for tool in subagent["tools"]] == ["read_file", "grep"]
        assert subagent["system"][-1]["text"] == "# Role\n\nYou search. Give paths only."
        (created,) = turn.of(AgentCreated)
        assert (created.kind, created.model, created.tools) == ("searcher", "claude-haiku-5-5", ("read_file", "grep"))
        assert parent["model"] == MODEL


@pytest.mark.parametrize(
    ("head", "model", "effort"),
    [
        ("effort: low\n", MODEL, "low"),
        ("model: haiku\neffort: xhigh\n", "claude-haiku-5-5", "xhigh"),
        ("model: haiku\n", "claude-haiku-5-5", "max"),
        ("model: claude-haiku-4-5\n", "claude-haiku-4-5", None),
        ("model: claude-haiku-4-5\neffort: high\n", "claude-haiku-4-5", None),
        ("effort: xhigh\n", MODEL, None),
    ],
)
async def test_an_agent_has_the_effort_of_its_file_else_that_of_the_session_if_its_model_takes_it(
    tmp_path: Path, head: str, model: str, effort: str | None
) -> None:
    write(tmp_path / "workspace", "thinker", agent("thinker", head, "You think."))
    script = calls(task(kind="thinker")) + of_subagent(says("Yes.")) + says("There.")
    async with on_stage(tmp_path, script, trust_folder=True, effort="max") as here:
        await here.turn()
        parent, subagent, _ = here.bodies
        assert (subagent["model"], subagent.get("output_config", {}).get("effort")) == (model, effort)
        assert parent["output_config"] == {"effort": "max"}


async def test_without_trust_the_kind_is_there_and_the_model_of_the_session_answers(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + of_subagent(says("src/a.py")) + says("There.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        assert here.bodies[1]["model"] == MODEL
        assert [tool["name"] for tool in here.bodies[1]["tools"]] == ["read_file", "grep"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"kind": "sercher"}, "Unknown kind of agent sercher; there are searcher."),
        ({"kind": "searcher", "tools": ["bash"]}, "No agent can be given bash; there are read_file, grep."),
    ],
)
async def test_an_unknown_kind_and_a_tool_that_it_has_not_are_said(
    tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    async with on_stage(tmp_path, calls(task(**more)) + says("A pity.")) as here:
        turn = await here.turn()
        assert result(turn)["content"] == words
        assert turn.of(AgentCreated) == []


async def test_without_files_the_tool_is_as_it_always_was(tmp_path: Path) -> None:
    async with on_stage(tmp_path, says("Good.")) as here:
        await here.turn()
        (described,) = [tool for tool in here.bodies[0]["tools"] if tool["name"] == "agent"]
        assert "kind" not in described["input_schema"]["properties"]
        assert described["description"].endswith("holds what it had.")


async def test_an_agent_keeps_its_kind_when_it_is_resumed_in_a_later_session(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + of_subagent(says("src/a.py")) + says("There.")
    script += calls(task(prompt="Where else?", agent="a1")) + of_subagent(says("src/b.py")) + says("And there.")
    script += calls(task(prompt="Change.", agent="a1", kind="other")) + says("A pity.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            await played(first.run("Go."))
        async with await here.open(Opening("latest")) as second:
            turn = await played(second.run("And?"))
            (created,) = turn.of(AgentCreated)
            assert (created.kind, created.tools, created.again) == ("searcher", ("read_file", "grep"), True)
            asked = [request.body for request in here.server.requests if "Where else?" in str(request.body)]
            assert any("You search." in str(body["system"]) for body in asked)
            other = await played(second.run("Another?"))
            assert "Agent a1 is searcher; leave `kind` out to continue it." in result(other)["content"]
            (ended,) = [event for event in other.of(ToolEnded) if event.outcome is ToolOutcome.INVALID]
            assert ended


async def test_more_subagents_in_one_reply_than_agreed_are_refused_without_a_user(tmp_path: Path) -> None:
    tasks = [f'{{ name = "agent", input = {{ description = "{n}", prompt = "look {n}" }} }}' for n in range(4)]
    async with (
        sessions(
            tmp_path, calls(*tasks) + says("Done.", times='"forever"'), fan_out="ask", fan_out_subagents=3
        ) as here,
        await here.open() as session,
    ):
        turn = await played(session.run("go"))
    assert all("no user is present to agree" in str(result["content"]) for result in turn.results)
