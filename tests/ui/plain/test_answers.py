"""The answers of a terminal are no input in plain mode either."""

import pytest

from tests.ui.program import Place
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

ANSWERS = (
    "\x1b[?62;22c\x1b[>0;276;0c\x1b[8;24;80t\x1b[12;40R\x1b[?2026;2$y\x1b[?0u",
    "\x1b]11;rgb:1e1e/1e1e/1e1e\x07",
    "\x1b]10;rgb:1e1e/1e1e/1e1e\x1b\\",
    "\x1bP>|XTerm(390)\x1b\\\x1b_Gi=31;OK\x1b\\",
)


@pytest.mark.parametrize("term", ["xterm", "dumb"])
async def test_a_prompt_is_what_was_typed_between_them(place: Place, term: str) -> None:
    async with Terminal(place, environment={"TERM": term}) as terminal:
        await terminal.sees("> ")
        await terminal.waits()
        for answer, typed in zip(ANSWERS, ("list", " the", " fi", "les"), strict=True):
            terminal.type(answer + typed)
        terminal.type("\r")
        await terminal.sees("glob")
        terminal.type("\x04")
