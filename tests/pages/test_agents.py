"""What the page about agents says is so."""

import re
from pathlib import Path

from harness.definitions import discover_agents, usable
from harness.definitions.agents import KEYS
from harness.events import AgentEnd
from harness.settings import Settings
from tests.definitions.folders import Folders
from tests.pages.blocks import text

TEXT = text("docs/agents.md")


def test_the_page_names_every_end_of_an_agent() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT.partition("## Kinds of agents")[0], re.MULTILINE) == [
        end.value for end in AgentEnd
    ]


def test_the_numbers_of_the_page_are_those_of_the_settings() -> None:
    settings = Settings()
    for name, words in (
        ("max_concurrent", f"`max_concurrent` subagents ({settings.max_concurrent})"),
        ("max_queue_size", f"`max_queue_size` ({settings.max_queue_size})"),
        ("max_background", f"`max_background`, {settings.max_background}"),
        ("subagent_steps", f"`subagent_steps` steps ({settings.subagent_steps})"),
    ):
        assert words in TEXT, name


def test_the_kind_of_agent_on_the_page_is_one_and_the_keys_are_those_that_are_read(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    [file] = re.findall(r"<!-- agent file -->\n```markdown\n(.*?)```", TEXT, re.DOTALL)
    folders.write("workspace/.claude/agents/searcher.md", file)
    found = usable(discover_agents(folders.places("agents"), trusted=True), ("read_file", "grep", "glob", "bash"))
    [agent] = found.agents
    assert (agent.name, agent.model, agent.given) == ("searcher", "haiku", ("read_file", "grep", "glob"))
    assert found.problems == ()
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", TEXT.partition("## Kinds of agents")[2].partition("\n## ")[0], re.M
    )
    assert {key.strip("`") for row in rows for key in row.split(", ")} == {"description", *KEYS}
