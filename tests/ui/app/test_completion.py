"""What a word before the cursor can become."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.app.candidates import with_folders
from harness.ui.app.completion import Candidate, Completer, Completion, best_paths
from tests.ui.app.host import COMMANDS, FILES

COMPLETER = Completer(lambda: COMMANDS, lambda: FILES)


def labels(text: str) -> list[str]:
    """The candidates at the `|` in a text."""
    completion = completed(text)
    return [candidate.label for candidate in completion.candidates] if completion else []


def completed(text: str) -> Completion | None:
    before, _, after = text.partition("|")
    return COMPLETER.complete(before + after, len(before))


def taken(text: str) -> str:
    """The text completed with the best candidate, and the cursor position."""
    completion = completed(text)
    assert completion
    after, cursor = completion.apply(text.replace("|", ""), completion.candidates[0])
    return f"{after[:cursor]}|{after[cursor:]}"


# ── commands ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/|", ["/help", "/clear", "/compact", "/model"]),
        ("/c|", ["/clear", "/compact"]),
        ("/cp|", ["/compact"]),
        ("／mo|", ["/model"]),
        ("/MO|", ["/model"]),
        ("/zzz|", []),
        ("//c|", []),
        ("／／c|", []),
        ("|/c", []),
        (" /c|", []),
        ("go /c|", []),
        ("/help|", []),
        ("/model |", ["opus-5", "haiku-4"]),
        ("/model h|", ["haiku-4"]),
        ("/model\u3000h|", ["haiku-4"]),
        ("/model haiku-4|", []),
        ("/clear |", []),
        ("/model\n|", []),
    ],
)
def test_commands_and_their_arguments(text: str, found: list[str]) -> None:
    assert labels(text) == found


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("/mo|", "/model |"),
        ("／mo|", "/model |"),
        ("/m|o", "/model |"),
        ("/mo| opus-5", "/model |opus-5"),
        ("/cl|", "/clear|"),
        ("/model ha|", "/model haiku-4|"),
    ],
)
def test_a_command_takes_the_place_of_its_whole_word(text: str, after: str) -> None:
    assert taken(text) == after


# ── files ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("@|", ["README.md", "docs/", "src/", "天気/", "docs/a b.md", "src/config.py", "src/loop.py", "天気/予報.md"]),
        ("@src/|", ["src/", "src/loop.py", "src/config.py"]),
        ("@lp|", ["src/loop.py"]),
        ("@readme|", ["README.md"]),
        ("see @con|", ["src/config.py"]),
        ("see\n@con|", ["src/config.py"]),
        ("これは、@con|", ["src/config.py"]),
        ("「＠con|", ["src/config.py"]),
        ("予報\u3000@con|", ["src/config.py"]),
        ("me@con|", []),
        ("@con |", []),
        ("@@con|", []),
        ('@"a b|', ["docs/a b.md"]),
        ("/model @con|", ["src/config.py"]),
        ("@src/loop.py|", []),
    ],
)
def test_files_behind_the_sign(text: str, found: list[str]) -> None:
    assert labels(text) == found


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("@con|", "@src/config.py |"),
        ("@con| and", "@src/config.py |and"),
        ("see、＠予|。", "see、@天気/予報.md |。"),
        ("@doc|", "@docs/|"),
        ("@a b|", None),
        ('@"a b|', '@"docs/a b.md" |'),
        ('@"a b|" x', '@"docs/a b.md" |x'),
        ("@docs/a|", '@"docs/a b.md" |'),
    ],
)
def test_a_file_takes_the_place_of_sign_and_path(text: str, after: str | None) -> None:
    if after is None:
        assert labels(text) == []
    else:
        assert taken(text) == after


def test_a_folder_with_a_space_stays_open_for_what_is_in_it() -> None:
    completer = Completer(lambda: (), lambda: ["my folder/", "my folder/x.md"])
    first = completer.complete("@myf", 4)
    assert first
    text, cursor = first.apply("@myf", first.candidates[0])
    assert text == '@"my folder/'
    second = completer.complete(text + "x", cursor + 1)
    assert second
    assert second.apply(text + "x", second.candidates[0])[0] == '@"my folder/x.md" '


def holds_in_order(path: str, needle: str) -> bool:
    letters = iter(path)
    return all(letter in letters for letter in needle)


@given(st.lists(st.text("ab/._^]-", min_size=1, max_size=8), unique=True), st.text("ab/.^]-", max_size=4))
def test_paths_are_found_by_letters_in_their_order_and_those_that_hold_the_word_come_first(
    paths: list[str], needle: str
) -> None:
    found = best_paths(paths, needle)
    assert sorted(found) == sorted(path for path in paths if holds_in_order(path, needle))
    whole = [needle in path for path in found]
    assert whole == sorted(whole, reverse=True)
    assert best_paths(paths, needle, most=2) == found[:2]


@given(st.text('/@＠ab、" \n', max_size=12), st.integers(0, 12))
def test_any_text_can_be_completed_and_only_the_completed_part_changes(text: str, cursor: int) -> None:
    cursor = min(cursor, len(text))
    completion = COMPLETER.complete(text, cursor)
    if completion is None:
        return
    assert 0 <= completion.start <= cursor <= completion.end <= len(text)
    for candidate in completion.candidates:
        after, place = completion.apply(text, candidate)
        assert after[: completion.start] == text[: completion.start]
        assert after[completion.start : place] == candidate.inserted
        assert text[completion.end :].removeprefix(" ").endswith(after[place:].removeprefix(" "))


def test_of_very_many_candidates_the_best_are_kept() -> None:
    many = Completer(lambda: (), lambda: [f"file {number}" for number in range(5_000)])
    completion = many.complete("@file", 5)
    assert completion
    assert len(completion.candidates) == 100


def test_a_candidate_is_put_in_as_it_is_shown_unless_it_says_otherwise() -> None:
    assert Candidate("/a").inserted == "/a"
    assert Candidate("/a", insert="/a ").inserted == "/a "


# ── folders ─────────────────────────────────────────────────────────────────────────────────────


def test_every_folder_on_the_way_to_a_file_is_offered_too() -> None:
    assert with_folders(["a/b/c.md", "a/d.md", "e.md", 'q"uote', "new\nline"]) == (
        "a/",
        "a/b/",
        "a/b/c.md",
        "a/d.md",
        "e.md",
    )
