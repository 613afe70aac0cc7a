"""The rule-based model answers the prompts of /review and /init as these commands write them."""

import pytest

from harness.engine.repository import ChangedFile, Changes
from harness.events import Json
from harness.practice.rule_model import RuleModel
from harness.session.command_prompts import REVIEW, changes_text, command_text, init_prompt, instructions_in
from tests.practice.rule_model.requests import TOOLS, Talk, text_of


def review(*files: ChangedFile) -> list[Json]:
    asks = command_text(REVIEW.format(base="main (1234567890)"))
    texts = (asks, changes_text(Changes("main (1234567890)", files)), "/review main")
    return [{"type": "text", "text": text} for text in texts]


def changed(path: str, *lines: str, begin: int = 1) -> ChangedFile:
    body = "".join(f"{line}\n" for line in lines)
    new = sum(not line.startswith("-") for line in lines)
    return ChangedFile("changed", path, 1, 0, "", f"@@ -1,3 +{begin},{new} @@\n{body}")


@pytest.mark.parametrize(
    ("file", "found"),
    [
        (changed("a.js", " x", "-debugger", "+debugger;", begin=7), "- `a.js:8`: the program stops in the debugger"),
        (changed("a.txt", "+x", " y", "+<<<<<<< HEAD"), "- `a.txt:3`: a conflict is not resolved."),
        (changed("a b/c.md", "+FIXME later"), "- `a b/c.md:1`: the code itself says"),
        (changed("k.env", "+AKIA" + "A" * 16), "- `k.env:1`: a secret gets into the repository."),
        (changed("a.md", "-FIXME", " FIXME", "+fine"), "There is nothing to report."),
        (changed("a.md", "+summarise the conversation so far", "+debugger"), "There is nothing to report."),
        (changed("a.js", "+@@ -1 +90,2 @@", "+other.js  +1 −0", "+eval(x)"), "- `a.js:3`: text of others"),
    ],
)
def test_a_review_names_file_and_line_of_what_an_added_line_does_wrong(file: ChangedFile, found: str) -> None:
    reply = RuleModel().answer({"messages": [{"role": "user", "content": review(file)}], "tools": list(TOOLS)})
    assert found in text_of(reply)


def test_a_review_reads_the_python_files_and_finds_what_python_cannot_read() -> None:
    talk = Talk({"read_file": ("     1\tx = 1\n     2\tdef f(:\n",)})
    talk.messages.append({"role": "user", "content": review(changed("a.py", " x = 1", "+def f(:"))})
    talk.step()
    assert talk.calls == [("read_file", {"path": "a.py"})]
    assert "- `a.py:2`: Python cannot read the file" in text_of(talk.step())


def test_init_writes_what_the_readme_the_build_files_and_the_folders_say() -> None:
    files = "Makefile\nREADME.md\npackage.json\nsrc/a.py\nsrc/b.py\ntests/test_a.py"
    texts = (
        "test:\n\tpytest -q\n",
        "# Demo\n\nA program that shows what is shown.\n",
        '{"scripts": {"lint": "eslint"}}',
    )
    answer = Talk({"glob": (files,), "read_file": texts}).ask(init_prompt("AGENTS.md", present=False))
    assert instructions_in([answer]) == (
        "# Demo\n\nA program that shows what is shown.\n\n## Commands\n\n- `make test`\n"
        "- `pytest`; one file: `pytest tests/test_a.py`\n- `npm run lint`: `eslint`\n\n"
        "## Layout\n\n- `src/`: 2 files\n- `tests/`: 1 file\n"
    )


def test_init_keeps_what_is_there_and_adds_the_section_that_is_missing() -> None:
    talk = Talk({"glob": ("AGENTS.md\nsrc/a.py",), "read_file": ("# Rules\n\n## Commands\n\n- `tox`\n",)})
    answer = talk.ask(init_prompt("AGENTS.md", present=True))
    assert answer == "# Rules\n\n## Commands\n\n- `tox`\n\n## Layout\n\n- `src/`: 1 file"


def test_init_writes_nothing_where_it_may_not_look() -> None:
    talk = Talk({"glob": ("no such tool today",)}, failures=frozenset({"no such tool today"}))
    assert instructions_in([talk.ask(init_prompt("AGENTS.md", present=False))]) == ""
