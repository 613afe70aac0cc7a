"""Results in the forms of other clients are read, and what cannot be read is shown as it came."""

import pytest

from harness.practice.rule_model.plans import PlanContext
from harness.practice.rule_model.results import first_paragraph, hits_in, lines_in, paths_in
from harness.practice.rule_model.tools import offered_tools
from tests.practice.rule_model.requests import Talk

TITLE = ["# Title", "text"]
READ = {
    "harness": "     1\t# Title\n     2\ttext",
    "claude code": "     1→# Title\n     2→text\n",
    "opencode": (
        "<path>/w/a.md</path>\n<type>file</type>\n<content>\n"
        "1: # Title\n2: text\n\n(End of file - total 2 lines)\n</content>"
    ),
    "opencode, before": "<file>\n00001| # Title\n00002| text\n\n(End of file - total 2 lines)\n</file>",
    "pi, gemini-cli": "# Title\ntext\n",
    "vibe": "path: /w/a.md\ncontent: # Title\ntext\nlines_read: 2\nwas_truncated: False",
    "codex": "L1: # Title\nL2: text",
    "codex, shell": "Exit code: 0\nWall time: 0.1 seconds\nOutput:\n# Title\ntext",
    "codex, JSON": '{"output": "# Title\\ntext\\n", "metadata": {"exit_code": 0}}',
    "cline": "1 | # Title\n2 | text",
}


@pytest.mark.parametrize("client", READ)
def test_the_lines_of_a_file_are_read(client: str) -> None:
    lines = [line for line in lines_in(READ[client])[0] if line and not line.startswith("path: ")]
    assert lines == TITLE
    assert "- Title" in Talk({"read_file": (READ[client],)}).ask("read a.md and tell me its headings")


@pytest.mark.parametrize(
    "text",
    [
        "1: one\nand a line without a number",
        "10: a\n7: b",
        "{ not: json }",
        '{"name": "x"}',
        "<html>\n<body>Hello</body>\n</html>",
    ],
)
def test_a_file_that_only_looks_like_a_form_is_itself(text: str) -> None:
    assert lines_in(text)[0] == text.split("\n")


HITS = {
    "harness, pi, ripgrep": "./a.py:3: # TODO x",
    "opencode": "Found 1 matches\n/w/a.py:\n  Line 3: # TODO x\n",
    "gemini-cli": 'Found 1 match for pattern "TODO" in path ".":\n---\nFile: a.py\nL3: # TODO x\n---',
    "vibe": "matches: a.py:3: # TODO x\nmatch_count: 1\nwas_truncated: False",
    "ripgrep with headings": "a.py\n3:# TODO x",
}


@pytest.mark.parametrize("client", HITS)
def test_hits_of_a_search_are_read(client: str) -> None:
    answer = Talk({"grep": (HITS[client],)}).ask("find TODO")
    assert "“TODO” is in 1 line of 1 file:" in answer
    assert "a.py:3` # TODO x" in answer


def test_where_only_files_are_named_the_files_are_the_answer() -> None:
    answer = Talk({"grep": ("Found 2 files\n/w/a.py\n/w/b.py",)}).ask("find TODO")
    assert "“TODO” is in 2 files:\n\n- /w/a.py\n- /w/b.py" in answer


@pytest.mark.parametrize("none", ["No files found", "No matches found", "No match in 3 files.", "Found 0 matches", ""])
def test_no_hit_is_no_hit(none: str) -> None:
    assert "I did not find “TODO”." in Talk({"grep": (none,)}).ask("find TODO")


def test_what_cannot_be_read_is_shown_and_nothing_is_claimed() -> None:
    strange = "The index is being built, ask again later."
    assert hits_in(strange) is None
    assert paths_in(strange) is None
    for prompt, tool in (("find TODO", "grep"), ("list the files", "glob")):
        answer = Talk({tool: (strange,)}).ask(prompt)
        assert "a form that I cannot read" in answer
        assert strange in answer


@pytest.mark.parametrize(
    "text",
    [
        "a.py\nsrc/b.py",
        'Found 2 file(s) matching "**/*" within /w, sorted by time (newest first):\na.py\nsrc/b.py',
        "Found 2 files\na.py\nsrc/b.py",
        "stdout: a.py\nsrc/b.py\nstderr: \nreturncode: 0",
        "a.py\nsrc/b.py\n(Results are truncated. Consider a narrower path.)",
        "Exit code: 0\nWall time: 0 seconds\nOutput:\n./a.py\n./src/b.py",
    ],
)
def test_a_list_of_files_is_read(text: str) -> None:
    assert paths_in(text) == (["a.py", "src/b.py"], 0)


def test_of_many_files_the_top_is_shown() -> None:
    many = "\n".join(f"src/deep/m{number}.py" for number in range(500)) + "\n[34 more, changed longer ago; narrow it.]"
    answer = Talk({"glob": (many,), "bash": ("README.md\nsrc/\ntests/\nuv.lock",)}).ask("list the files")
    assert "There are 534 files in this folder; at its top:\n\n- src/\n- tests/\n- README.md\n- uv.lock" in answer


PROSE = "This tool counts the boats in a harbour."


@pytest.mark.parametrize(
    "readme",
    [
        f"# Boats\n\n{PROSE}\n\nMore.",
        f"English · [日本語](README.ja.md)\n\n# Boats\n\n{PROSE}",
        f"[English](a.md) | [中文](b.md) | [Deutsch](c.md)\n\n{PROSE}",
        f"# Boats\n\n[![PyPI](https://x/y.svg)](https://pypi.org) ![CI](https://x/z.svg)\n\n{PROSE}",
        f'<p align="center">\n  <img src="x.png" alt="a logo of a boat">\n</p>\n\n<h1>Boats and boats</h1>\n\n{PROSE}',
        f'<div align="center">\n<a href="x">Install it</a> • <a href="y">Read the docs</a>\n</div>\n\n{PROSE}',
        f"Boats\n=====\n\n.. image:: https://x/y.svg\n   :target: https://z\n\n|build| |docs|\n\n{PROSE}\n\nUse\n---",
        f"# Boats\n\n> Any boat that you like.\n\nCopyright (c) 2001 The Boat Software Foundation.\n\n{PROSE}",
        f"<!-- a comment of many words\nthat goes on -->\n\n{PROSE}",
        f"| a table | of words | that is long |\n|---|---|---|\n\n```sh\nsome code that is not prose\n```\n\n{PROSE}",
    ],
    ids=["plain", "languages", "languages only", "badges", "html", "navigation", "rst", "quote", "comment", "table"],
)
def test_a_project_is_described_by_the_first_paragraph_of_its_readme(readme: str) -> None:
    assert first_paragraph(readme.split("\n")) == PROSE
    assert f"- It begins: {PROSE}" in Talk({"read_file": (readme,), "glob": ("a.py",)}).ask(
        "what does this project do?"
    )


def test_a_readme_of_another_name_is_found_and_a_missing_one_is_said() -> None:
    gone = "README.md does not exist."
    talk = Talk({"read_file": (gone, PROSE), "glob": ("README.rst", "a.py")}, failures=frozenset({gone}))
    assert f"README.rst (1 line), in short:\n- It begins: {PROSE}" in talk.ask("what does this project do?")
    none = Talk({"read_file": (gone,), "glob": ("No file matches.", "a.py")}, failures=frozenset({gone}))
    assert "There is no README here." in none.ask("what does this project do?")


def test_large_counts_are_grouped() -> None:
    said = PlanContext(offered_tools(())).say("listed", are="are", count=174_236, where="this folder")
    assert said == "There are 174,236 files in this folder:"
