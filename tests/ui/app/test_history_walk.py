"""Going back and forth in earlier prompts."""

from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.prompt_history import HistoryCursor, matching

PROMPTS = st.lists(st.text("abC\n", min_size=1, max_size=4), max_size=6)
STEPS = st.lists(st.sampled_from(["older", "newer"]) | st.text("xyz", min_size=1, max_size=2), max_size=12)


@given(PROMPTS, STEPS)
def test_a_walk_is_a_place_in_the_list_of_prompts_with_the_draft_at_its_end(
    prompts: list[str], steps: list[str]
) -> None:
    walk, shown = HistoryCursor(), "draft"
    line, place = [*prompts, "draft"], len(prompts)
    for step in steps:
        match step:
            case "older":
                place = max(place - 1, 0)
                shown = found if (found := walk.older(prompts, shown)) is not None else shown
            case "newer":
                place = min(place + 1, len(prompts))
                shown = found if (found := walk.newer(prompts, shown)) is not None else shown
            case typed:
                shown += typed
                line, place = [*prompts, shown], len(prompts)
        assert shown == line[place]


def test_where_the_history_ends_nothing_is_shown_instead() -> None:
    walk = HistoryCursor()
    assert walk.older([], "draft") is None
    assert walk.newer(["a"], "draft") is None
    assert walk.older(["a"], "draft") == "a"
    assert walk.older(["a"], "a") is None
    assert walk.newer(["a"], "a") == "draft"


def test_after_leaving_there_is_no_draft() -> None:
    walk = HistoryCursor()
    assert walk.older(["a"], "draft") == "a"
    walk.reset()
    assert walk.newer(["a"], "") is None
    assert walk.older(["a"], "") == "a"
    assert walk.newer(["a"], "a") == ""


@given(PROMPTS, st.text("abc", max_size=2))
def test_a_search_finds_each_prompt_that_holds_the_needle_once_and_the_newest_first(
    prompts: list[str], needle: str
) -> None:
    found = matching(prompts, needle)
    assert set(found) == {prompt for prompt in prompts if needle in prompt.lower()}
    last_use = [len(prompts) - prompts[::-1].index(prompt) for prompt in found]
    assert last_use == sorted(last_use, reverse=True)
    assert len(found) == len(set(found))
