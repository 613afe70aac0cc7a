"""Every block of TOML or JSON on a page is taken by what reads such a file."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.hooks import declared
from harness.mcp.config import parse_entries
from harness.practice.faults.tool_faults import parse as faults_in
from harness.practice.script import Script
from harness.session.answer_schema import AnswerSchema
from harness.settings import Settings, load
from harness.settings.capability_files import load_capabilities
from tests.pages.blocks import Block, every_block


def script(text: str, _: Path) -> None:
    assert Script.parse(text, "script") != Script(name="script")


def tool_faults(text: str, _: Path) -> None:
    assert faults_in(text, "faults").faults


def settings(text: str, _: Path) -> None:
    given = tomllib.loads(text)
    assert given.keys() <= Settings.model_fields.keys()
    hooks = declared(given.pop("hooks", []))
    assert Settings.model_validate({**given, "hooks": hooks})


def settings_file(text: str, folder: Path) -> None:
    file = folder / "settings.toml"
    file.touch(mode=0o600)
    file.write_text(text, encoding="utf-8")
    origins = load({}, {}, folder, user_file=file).origins
    assert {origins[name] for name in tomllib.loads(text)} == {f"{file}: {name}" for name in tomllib.loads(text)}


def capabilities(text: str, folder: Path) -> None:
    file = folder / "capabilities.toml"
    file.write_text(text, encoding="utf-8")
    tools = tomllib.loads(text)
    found = load_capabilities(file, None, ["bash", *tools])
    assert all((entry := found.get(tool)) and entry.alternatives for tool in tools)


def mcp_servers(text: str, _: Path) -> None:
    entries = json.loads(text)["mcpServers"]
    found = parse_entries(entries, "the page", own=True)
    assert (len(found.servers), found.problems) == (len(entries), ())


def answer_schema(text: str, folder: Path) -> None:
    file = folder / "schema.json"
    file.write_text(text, encoding="utf-8")
    assert AnswerSchema.load(str(file)).output_format()


def agents(text: str, _: Path) -> None:
    (agent,) = json.loads(text)["agent_servers"].values()
    assert [agent["command"], *agent["args"]] == ["harness", "acp"]


READ_BY: dict[tuple[str, str], Callable[[str, Path], None]] = {
    ("docs/editors.md", "agents"): agents,
    ("docs/endpoints.md", "gateway"): settings_file,
    ("docs/hooks.md", "settings"): settings,
    ("docs/json-answers.md", "schema"): answer_schema,
    ("docs/mcp.md", "servers"): mcp_servers,
    ("docs/permissions.md", "settings"): settings,
    ("docs/sandbox.md", "settings"): settings_file,
    ("docs/worktrees.md", "settings"): settings_file,
    ("docs/scripts.md", "script"): script,
    ("docs/scripts.md", "tool-faults"): tool_faults,
    ("docs/tools.md", "capability"): capabilities,
    ("docs/web.md", "settings"): settings,
    ("harness/practice/script/SCRIPTS.md", ""): script,
    ("harness/practice/faults/TOOL_FAULTS.md", ""): tool_faults,
}
"""What reads the block below a comment on a page."""
DATA = list(every_block("toml", "json"))


@pytest.mark.parametrize("one", DATA, ids=lambda one: one.place)
def test_a_block_of_data_can_be_read(one: Block, tmp_path: Path) -> None:
    held = json.loads(one.code) if one.language == "json" else tomllib.loads(one.code)
    assert held
    if (one.page, one.name) in READ_BY:
        READ_BY[one.page, one.name](one.code, tmp_path)


def test_it_is_known_for_every_block_outside_of_the_chapters_what_reads_it() -> None:
    assert {(one.page, one.name) for one in DATA if not one.page.startswith("chapters/")} == READ_BY.keys()
