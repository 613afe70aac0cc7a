"""What the program behind grep passes over without looking closely."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.grep_worker import may_match
from harness.tools.tool import ToolContext
from tests.tools.searching import grep
from tests.whole import examples

pytestmark = pytest.mark.anyio


ATOMS = st.sampled_from(["a", "k", "S", "é", "ſ", "\\w", ".", "[ab]", "^", "$", "\\.", "ß", "İ", " "])


EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        inner.map(lambda part: f"(?:{part})+"),
        inner.map(lambda part: f"(?:{part})?"),
        inner.map(lambda part: f"(?i:{part})"),
        inner.map(lambda part: f"(?={part})"),
        inner.map(lambda part: f"(?!{part})"),
    ),
    max_leaves=6,
)


@settings(max_examples=examples(800))
@given(EXPRESSIONS, st.text("aAkKsSſéÉßbiIİı. \ufffd\u212a", max_size=8), st.booleans())
def test_the_quick_look_passes_over_no_match(expression: str, text: str, ignore_case: bool) -> None:
    found = re.search(expression, text, re.IGNORECASE if ignore_case else 0)
    may, _ = may_match(expression, ignore_case=ignore_case)
    assert may(text.encode()) or not found


def test_the_quick_look_sees_what_every_match_holds() -> None:
    for expression, ignore_case in {
        "def need_\\w+\\(": False,
        "(need|door)$": False,
        "(?i)NEED": False,
        "Need": True,
    }.items():
        may, _ = may_match(expression, ignore_case=ignore_case)
        assert (may(b"def need_1("), may(b"def nee_d(")) == (True, False), expression


async def test_a_match_on_the_border_of_two_pieces_is_found(context: ToolContext, root: Path) -> None:
    for before in (65_530, 1_065_530):
        (root / "f").write_text("x" * 99 + "\n" + "y" * (before - 100) + "needle\n" + "z\n" * 9)
        assert (await grep(context, "ne+dle", files_only=True)).content == "f"
        assert (await grep(context, "needle|zebra", files_only=True)).content == "f"
