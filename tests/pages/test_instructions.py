"""What the page about instruction files says is so."""

import re

from harness.engine.instruction_files import MOST_CHARACTERS, NAME
from harness.settings import Settings
from harness.ui.commands.commands import COMMANDS
from tests.pages.blocks import text

TEXT = text("docs/instructions.md")


def test_the_page_names_the_file_the_settings_the_limit_and_the_command_as_they_are() -> None:
    assert f"`{NAME}`" in TEXT
    assert f"{MOST_CHARACTERS:,} characters" in TEXT
    assert all(name in Settings.model_fields for name in ("instructions", "user_dir"))
    assert {"instructions", "user_dir"} <= set(re.findall(r"`(\w+)(?: = false)?`", TEXT))
    assert set(re.findall(r"`/(\w+)[^`]*`", TEXT)) <= set(COMMANDS)
