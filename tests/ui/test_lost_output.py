"""An answer that cannot be written is a failure: one line, a non-zero exit code, no traceback."""

import subprocess
from pathlib import Path

import pytest

from tests.ui.program import COMMAND, Place

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")

PROMPT = ("--practice", "-p", "say hello")
LOST = {
    "text": (PROMPT, ">&-", ""),
    "json": ((*PROMPT, "--output-format", "json"), ">/dev/full", "1"),
    "stream-json": ((*PROMPT, "--output-format", "stream-json"), ">/dev/full", ""),
    "settings": (("settings",), ">/dev/full", ""),
    "transitions": (("transitions",), ">&-", ""),
    "--version": (("--version",), ">/dev/full", "1"),
}
"""Arguments, redirection of the output, and PYTHONUNBUFFERED."""


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", LOST)
def test_output_that_is_lost_is_one_line_and_no_success(place: Place, name: str) -> None:
    arguments, where, unbuffered = LOST[name]
    line = " ".join(f"'{word}'" for word in (*COMMAND, *arguments))
    ended = subprocess.run(
        ["/bin/sh", "-c", f"exec {line} {where}"],
        check=False,
        cwd=place.folder,
        env=place.environment | {"PYTHONUNBUFFERED": unbuffered},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )
    (told,) = [text for text in ended.stderr.splitlines() if "no key is set" not in text]
    assert told.startswith("harness: cannot write to standard output: ")
    assert ended.returncode == 1


@pytest.mark.stories
def test_closed_standard_error_and_input_change_nothing(place: Place) -> None:
    command = " ".join(f"'{word}'" for word in (*COMMAND, *PROMPT))
    line = ["/bin/sh", "-c", f"exec {command} 2>&- <&-"]
    assert subprocess.check_output(line, cwd=place.folder, env=place.environment, timeout=60).strip()
