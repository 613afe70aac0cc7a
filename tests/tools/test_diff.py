"""Diffs against difflib's own, and on files that are too large for it."""

import subprocess
from difflib import unified_diff as reference
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.tools.diff import DIFF_CHARACTERS, unified_diff

lines = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=40).map("".join)


@settings(max_examples=60, deadline=None)
@given(before=lines.filter(bool), after=lines.filter(bool), newline=st.booleans())
@example(before="a\na\na\na\na\na\na\na\n", after="a\na\na\nb\na\na\na\na\n", newline=True)
@example(before="a\na\na\nb\na\na\nb\na\na\nb\n", after="a\na\na\nc\nb\na\na\nb\n", newline=True)
def test_patch_makes_the_new_text_of_the_old_one(before: str, after: str, newline: bool) -> None:
    if not newline:
        after = after.removesuffix("\n")
    diff = unified_diff(before, after, "f").text
    with TemporaryDirectory() as folder:
        (Path(folder) / "f").write_text(before)
        if diff:
            subprocess.run(["patch", "-s", "-p1"], input=diff, text=True, cwd=folder, check=True)
        assert (Path(folder) / "f").read_text() == after


def test_a_single_change_reads_as_that_of_difflib() -> None:
    before = "".join(f"{n}\n" for n in range(50))
    after = before.replace("20\n", "twenty\n").replace("40\n", "")
    expected = "".join(reference(before.splitlines(True), after.splitlines(True), "a/f", "b/f"))  # noqa: FBT003
    assert str(unified_diff(before, after, "f")) == expected


@pytest.mark.timeout(60)
def test_files_with_nothing_in_common_take_no_time() -> None:
    before = "".join(f"{n % 7} old\n" for n in range(100_000))
    after = "".join(f"{n % 5} new\n" for n in range(100_000))
    diff = unified_diff(before, after, "f")
    assert len(diff.text) <= DIFF_CHARACTERS
    assert diff.text.endswith(" old\n")
    left = int(str(diff).rpartition("… ")[2].split()[0].replace(",", ""))
    assert diff.text.count("\n") + left == diff.lines == 200_003


def test_no_change_is_no_diff() -> None:
    assert str(unified_diff("a\n", "a\n", "f")) == ""
