"""The text of a review stays bounded, whatever has changed."""

from hypothesis import given
from hypothesis import strategies as st

from harness.engine.repository import ChangedFile, Changes
from harness.session.command_prompts import MOST_CHARACTERS, changes_text

sizes = st.sampled_from([0, 1, 1_000, MOST_CHARACTERS])


@given(st.lists(sizes, max_size=6), st.sampled_from([1, 5_000]))
def test_each_file_is_shown_named_or_counted(sizes: list[int], times: int) -> None:
    files = [ChangedFile("changed", f"f{index}.py", 1, 0, "", "+" * size) for index, size in enumerate(sizes * times)]
    text = changes_text(Changes("main", tuple(files)))
    assert len(text) < MOST_CHARACTERS + 50_000
    named = sum(line.startswith("f") for line in text.splitlines())
    counted = [line for line in text.splitlines() if line.startswith("… ")]
    assert len(files) == named + (int(counted[0].split()[1].replace(",", "")) if counted else 0)
