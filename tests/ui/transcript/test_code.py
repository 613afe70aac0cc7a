"""Code is coloured where that is certain to be quick, and is itself in any case."""

import time

import pytest

from harness.ui.transcript.code import LANGUAGES, MOST_CHARACTERS, MOST_CHARACTERS_OPEN, change_lines, coloured, tint_of

EVERYTHING = '<a href="1"> # - { return "x" } 1 // ```\n- a: 1\n>>> 1\n<?php return 1;\n'
"""Something for every lexer."""


def test_known_languages_are_coloured_and_others_are_not() -> None:
    assert coloured("return 1", "Python", closed=True).spans
    assert not coloured("return 1", "idris", closed=True).spans
    assert not coloured("return 1", "", closed=True).spans


def test_a_change_has_a_colour_for_what_comes_and_one_for_what_goes() -> None:
    change = coloured("@@ -1 +1 @@\n-old\n+new\n same", "diff", closed=False)
    assert change.plain == "@@ -1 +1 @@\n-old\n+new\n same"
    assert [change.plain[span.start : span.end] for span in change.spans] == [
        "@@ -1 +1 @@",
        *["-old"] * 2,
        *["+new"] * 2,
    ]
    assert [tint_of(line) for line in change.split("\n")] == ["", "on $diff-removed", "on $diff-added", ""]


@pytest.mark.parametrize("second", ["diff --git a/y b/y\n", "--- a/y\n+++ b/y\n@@ -1 +1 @@\n"])
def test_lines_that_name_the_files_of_a_change_are_no_changes(second: str) -> None:
    first = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- old\n-x\n+++ new\n"
    change = coloured(f"{first}{second}", "diff", closed=True)
    tinted = [line.plain for line in change.split("\n") if tint_of(line)]
    assert tinted == ["--- old", "-x", "+++ new"]
    assert tint_of(coloured("--- only\n+ signs", "diff", closed=True).split("\n")[0]), (
        "without hunks there are no headers"
    )


def test_a_change_of_a_known_file_is_coloured_by_hunk_up_to_a_limit() -> None:
    hunk = ["@@ -1 +1,2 @@", " ", "-x = 'old'", "+x = 'new'", " "]
    shown = change_lines([*hunk, *hunk], "b/a.py", limit=30)
    assert [line.plain for line in shown] == [*hunk, *hunk]
    first, second = shown[3], shown[8]
    assert len(first.spans) > 2
    assert [(span.start, span.end) for span in second.spans] == [(0, len(second.plain))] * 2, "the limit is used up"
    fenced = coloured("--- a/a.py\n+++ b/a.py\n" + "\n".join(hunk), "diff", closed=True)
    assert len(fenced.spans) > len(coloured("\n".join(hunk), "diff", closed=True).spans) + 2


def test_a_very_long_change_is_drawn_in_a_moment() -> None:
    lines = ["@@ -0,0 +1,10000 @@"] + ["+    value = compute(item, 'text') + 1.5  # why"] * 10_000
    change_lines(lines[:2], "a.py")
    began = time.process_time()
    assert len(change_lines(lines, "a.py")) == len(lines)
    assert time.process_time() - began < 0.3, "0.1 s on a quiet machine"


def test_code_that_is_long_or_strange_is_left_alone() -> None:
    line = "x = 1\n"
    assert coloured(line * (MOST_CHARACTERS // len(line)), "python", closed=True).spans
    assert not coloured(line * MOST_CHARACTERS, "python", closed=True).spans
    assert not coloured(line * MOST_CHARACTERS_OPEN, "python", closed=False).spans
    assert not coloured("x" * 500, "python", closed=True).spans
    assert not coloured("x" + "\n" * 50, "python", closed=True).spans


@pytest.mark.parametrize("lexer", sorted(set(LANGUAGES.values())))
def test_every_language_has_a_lexer_that_takes_no_more_than_a_moment_for_the_worst_code(lexer: str) -> None:
    assert len(coloured(EVERYTHING, lexer, closed=True).spans) > 1
    code = "".join(((part * 200)[:200] + "\n") * 24 for part in ("a ", "{"))
    began = time.process_time()
    assert coloured(code, lexer, closed=True).plain == code.removesuffix("\n")
    assert time.process_time() - began < 0.75, "what takes quadratic time takes four times this for the longest code"
