"""Kinds of agents that files define, in the forms that other programs have made usual."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.definitions import Agents, DefinitionOrigin, discover_agents, usable
from harness.definitions.files import MOST_BYTES, MOST_FILES
from tests.definitions.folders import Folders, agent

TOOLS = ("read_file", "write_file", "edit_file", "glob", "grep", "bash", "todo_write", "skill")


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Without any file."""
    return Folders(tmp_path)


def found(folders: Folders, *, trusted: bool = True) -> Agents:
    """What a session would have."""
    return usable(discover_agents(folders.places("agents"), trusted=trusted), TOOLS)


def told(agents: Agents) -> str:
    """All problems as one text."""
    return "\n".join(f"{problem.file}: {problem.text}" for problem in agents.problems)


@pytest.mark.parametrize(
    ("line", "given"),
    [
        ("", TOOLS),
        ("tools: Read, Grep, Glob\n", ("read_file", "grep", "glob")),
        ("tools: [Read, 'Edit']\n", ("read_file", "edit_file")),
        ('tools: ["read", "search"] # of another editor\n', ("read_file", "grep")),
        ("tools: # those it may use\n  - Read\n  - Bash(git diff:*)\n", ("read_file", "bash")),
        ("tools: Read  # to look\n", ("read_file",)),
        ("tools: '*'\n", TOOLS),
        ("tools: read_file bash\n", ("read_file", "bash")),
        ("disallowedTools: Write, Edit, Bash\n", ("read_file", "glob", "grep", "todo_write", "skill")),
        ("tools: Read, Bash\ndisallowedTools: Bash\n", ("read_file",)),
    ],
)
def test_tools_are_named_in_many_forms_and_mean_those_that_there_are(
    folders: Folders, line: str, given: tuple[str, ...]
) -> None:
    folders.write("workspace/.claude/agents/explorer.md", agent("explorer", line))
    agents = found(folders)
    (one,) = agents.agents
    assert one.given == given
    assert (one.name, one.description, one.prompt) == ("explorer", "What explorer is for.", "Look closely.")
    assert told(agents) == ""


def test_tools_that_are_not_here_are_left_off_and_named_and_the_agent_is_kept(folders: Folders) -> None:
    for name, tools in {
        "a": "Glob, Read, WebSearch, mcp__docs__find",
        "b": "Read, TeamCreate, SendMessage",
        "c": "WebFetch",
        "d": "[]",
        "e": "READ, multi-edit, run_terminal_cmd",
    }.items():
        folders.write(f"workspace/.claude/agents/{name}.md", agent(name, f"tools: {tools}\n"))
    folders.write("workspace/.claude/agents/f.md", agent("f", "tools: Read\ndisallowedTools: Reed\n"))
    agents = found(folders)
    assert {one.name: one.given for one in agents.agents} == {
        "a": ("glob", "read_file"),
        "b": ("read_file",),
        "c": (),
        "d": (),
        "e": ("read_file", "edit_file", "bash"),
        "f": ("read_file",),
    }
    assert [(problem.file.name, problem.text) for problem in agents.problems] == [
        ("a.md", "names WebSearch, mcp__docs__find, which are not here"),
        ("b.md", "names TeamCreate, SendMessage, which are not here"),
        ("c.md", "names WebFetch, which is not here"),
        ("c.md", "has no tools; its subagents can only answer"),
        ("d.md", "has no tools; its subagents can only answer"),
        ("f.md", "names Reed, which is not here"),
    ]


@pytest.mark.parametrize("line", ["tools:\n", "tools: [Read,\ndescription: a: b\n", "tools:\n  Read: yes\n"])
def test_a_list_of_tools_that_cannot_be_read_never_means_all_of_them(folders: Folders, line: str) -> None:
    folders.write("workspace/.claude/agents/a.md", agent("a", line))
    agents = found(folders)
    assert agents.agents == ()
    assert "a.md: is left out: line 4: tools has to be a list of names" in told(agents)


def test_the_project_goes_before_the_user_and_our_own_folder_before_the_others(folders: Folders) -> None:
    order = ["home/.claude", "home/.agents", "config", "workspace/.claude", "workspace/.agents", "workspace/.harness"]
    for number, folder in enumerate(order, 1):
        file = folders.write(f"{folder}/agents/deep/down/a.md", agent("a", body=f"From {folder}."))
        agents = found(folders)
        (one,) = agents.agents
        assert (one.prompt, one.file) == (f"From {folder}.", file)
        assert one.origin is (DefinitionOrigin.PROJECT if folder.startswith("workspace") else DefinitionOrigin.USER)
        assert told(agents).count("is hidden by") == number - 1


def test_a_link_to_the_same_folder_hides_nothing_and_none_leads_out_of_the_project(folders: Folders) -> None:
    folders.write("workspace/.agents/agents/a.md", agent("a"))
    (folders.workspace / ".claude").mkdir()
    (folders.workspace / ".claude" / "agents").symlink_to("../.agents/agents")
    secret = folders.write("elsewhere.md", agent("secret"))
    (folders.workspace / ".agents" / "agents" / "out.md").symlink_to(secret)
    agents = found(folders)
    assert [one.name for one in agents.agents] == ["a"]
    assert told(agents).count("outside of the project") == 2
    assert "hidden" not in told(agents)


def test_a_model_of_the_project_waits_for_trust_and_one_of_the_user_does_not(folders: Folders) -> None:
    folders.write("workspace/.claude/agents/a.md", agent("a", "model: haiku\n"))
    folders.write("home/.claude/agents/b.md", agent("b", "model: haiku\n"))
    folders.write("home/.claude/agents/c.md", agent("c", "model: inherit\n"))
    assert [one.model for one in found(folders).agents] == ["haiku", "haiku", ""]
    untrusted = found(folders, trusted=False)
    assert [one.model for one in untrusted.agents] == ["", "haiku", ""]
    assert "a.md: names the model haiku, which waits for your trust in this folder" in told(untrusted)


def test_what_is_no_agent_is_left_out_with_a_reason_and_harms_no_other(folders: Folders) -> None:
    here = "workspace/.claude/agents"
    folders.write(f"{here}/README.md", "About these agents.")
    folders.write(f"{here}/good.md", agent("good"))
    folders.write(f"{here}/quoted.md", '---\nname: "Reviewer 👀"\ndescription: Use when: asked\n---\nReview.')
    folders.write(f"{here}/plain.md", "# Reviewer\nReviews.")
    folders.write(f"{here}/nameless.md", "---\ndescription: x\n---\nText.")
    folders.write(f"{here}/silent.md", agent("silent", body=""))
    folders.write(f"{here}/twin.md", agent("good"))
    folders.write(f"{here}/large.md", agent("large", body="x" * MOST_BYTES))
    folders.write(f"{here}/binary.md", b"---\nname: \0")
    os.mkfifo(folders.workspace / ".claude" / "agents" / "pipe.md")
    (folders.workspace / ".claude" / "agents" / "circle.md").symlink_to("circle.md")
    agents = found(folders)
    assert [one.name for one in agents.agents] == ["good", "quoted"]
    for words in (
        *("plain.md: is left out: it has no front matter", "nameless.md: is left out: it has no name"),
        *("silent.md: is left out: it has no prompt", "twin.md: is left out: "),
        *("large.md: is left out: it is larger than 100,000 bytes", "binary.md: is left out: it is no text in UTF-8"),
        *("pipe.md: is left out: it is not a regular file", "circle.md: cannot be read"),
        "quoted.md: line 3 is not valid YAML",
    ):
        assert words in told(agents), told(agents)
    assert "README" not in told(agents)


def test_a_place_with_too_many_files_is_read_in_part(folders: Folders) -> None:
    for number in range(MOST_FILES + 1):
        folders.write(f"home/.claude/agents/{number}.md", agent(f"a{number}"))
    agents = found(folders)
    assert len(agents.agents) == MOST_FILES
    assert f"holds more files than {MOST_FILES}" in told(agents)


@given(st.text("-:\n [],#|>'\"ab", max_size=60).map(lambda head: f"---\n{head}\n---\nText."))
def test_whatever_a_file_holds_nothing_is_raised_and_lost_tools_are_never_all_tools(text: str) -> None:
    with TemporaryDirectory() as root:
        folders = Folders(Path(root))
        head = "---\nname: a\ndescription: d\ntools: "
        folders.write("workspace/.claude/agents/a.md", text.replace("---\n", head, 1))
        assert all(one.given != TOOLS or "*" in text for one in found(folders).agents)


@pytest.mark.parametrize(
    ("line", "effort"),
    [("", None), ("effort: high\n", "high"), ("effort: Max # rarely\n", "max"), ("effort: inherit\n", None)],
)
def test_an_effort_is_one_of_the_levels(folders: Folders, line: str, effort: str | None) -> None:
    folders.write("workspace/.claude/agents/a.md", agent("a", line))
    (one,) = found(folders).agents
    assert one.effort == effort
    assert told(found(folders)) == ""


@pytest.mark.parametrize("value", ["huge", "3", "[low, high]", ""])
def test_an_effort_that_there_is_not_is_reported_with_its_line_and_left_out(folders: Folders, value: str) -> None:
    path = folders.write("workspace/.claude/agents/a.md", agent("a", f"effort: {value}\n"))
    (one,) = found(folders).agents
    assert one.effort is None
    lines = path.read_text("utf-8").splitlines()
    line = 1 + next(number for number, text in enumerate(lines) if text.startswith("effort:"))
    assert f"a.md: line {line}: " in told(found(folders))
    assert "there are low, medium, high, xhigh, max" in told(found(folders))


def test_an_effort_of_the_project_waits_for_trust_and_one_of_the_user_does_not(folders: Folders) -> None:
    folders.write("workspace/.claude/agents/a.md", agent("a", "effort: max\n"))
    folders.write("home/.claude/agents/b.md", agent("b", "effort: max\n"))
    untrusted = found(folders, trusted=False)
    assert [one.effort for one in untrusted.agents] == [None, "max"]
    assert "a.md: names the effort max, which waits for your trust in this folder" in told(untrusted)
