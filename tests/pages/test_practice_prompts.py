# ruff: noqa: E501 - a list of prompts reads best close together
"""Prompts of the pages are understood by the practice model, with the tools of the chapter."""

import re

from harness.events import Json
from harness.practice.rule_model.model import understand
from harness.practice.rule_model.patterns import prepared
from harness.practice.rule_model.plans import PlanContext
from harness.practice.rule_model.tools import offered_tools
from tests.pages.blocks import ROOT, pages, text

PROMPTS = (
    "list the files", "read README.md and tell me its headings", "README.md を読んで見出しを教えて", "find TODO", "TODO を探して",
    "create a file hello.py that prints Hello World", "what does this project do?", "What is the weather in Oslo?", "read notes.txt",
    "run python3 count.py", "run `sleep 90; echo done`", "run `pgrep -a sleep`", "find *.txt", "read letters/anna.txt",
    "write hello.py that prints Hello", "run python3 words.py notes.md", "run rm -rf drafts", "read secrets/token.txt",
    "run git push --force", "run python3 greet.py", "run `mkdir audit`", "read audit/log.txt", "run python3 test_shapes.py",
    "use three agents to list the files", "use an agent to list the files", "use the skill review", "which skills are there?",
    "use the skill release", "remember that we release on Fridays", "what do you remember?", "forget about the release",
    "remember that I like tea", "remember that I want tabs", "what do you remember about tabs?", "read report.txt",
    "read last_night.txt", "read build.log", "How many files are there?", "Find TODO", "what is here?",
    "Read README.md and tell me its headings",
)  # fmt: skip
OWN: tuple[Json, ...] = tuple(
    {"name": name, "input_schema": {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}}
    for name, field in (("weather", "city"),)
)


def test_a_prompt_of_the_pages_is_understood() -> None:
    context = PlanContext(offered_tools(OWN))
    not_understood = [one for one in PROMPTS if not ((ready := prepared(one)) and understand(ready, context))]
    assert not_understood == []


def test_each_of_these_prompts_is_on_a_page() -> None:
    places = [*(text(page) for page in pages()), *(path.read_text() for path in (ROOT / "harness").rglob("*.toml"))]
    places += [(ROOT / "harness" / "ui" / "plain" / "streams.py").read_text()]
    everything = re.sub(r"\s+", " ", "\n".join(places))
    assert [prompt for prompt in PROMPTS if prompt not in everything] == []
