"""What the page about agents says is so."""

import re

from harness.events import AgentEnd
from harness.settings import Settings
from tests.pages.blocks import text

TEXT = text("docs/agents.md")


def test_the_page_names_every_end_of_an_agent() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT.partition("## The gate")[0], re.MULTILINE) == [
        end.value for end in AgentEnd
    ]


def test_the_numbers_of_the_page_are_those_of_the_settings() -> None:
    settings = Settings()
    for name, words in (
        ("max_concurrent", f"`max_concurrent` agents ({settings.max_concurrent})"),
        ("max_queue_size", f"`max_queue_size` ({settings.max_queue_size})"),
        ("max_background", f"`max_background`, {settings.max_background}"),
        ("agent_turns", f"`agent_turns` steps ({settings.agent_turns})"),
    ):
        assert words in TEXT, name
