"""What a repeated unit is."""

import pytest

from harness.policies.loops.text_loops import Blocks, Fence, TextUnit, kind_of

UNITS = [
    ("a sentence", "Let me look again. ", TextUnit.WORDS),
    ("a line", "Let me look again.\n", TextUnit.WORDS),
    ("Japanese", "もう一度確認します。", TextUnit.WORDS),
    ("a nested list", "    - Look again.\n", TextUnit.WORDS),
    ("a sentence and a block", "Run it:\n```sh\npytest\n```\n", TextUnit.WORDS),
    ("a sentence with an inline block", "Use ```pytest``` again.\n", TextUnit.WORDS),
    ("a rule", "-", TextUnit.SIGNS),
    ("a rule in a line", "----------\n", TextUnit.SIGNS),
    ("box drawing", "│ ├── \n", TextUnit.SIGNS),
    ("a laugh in one letter", "a", TextUnit.SIGNS),
    ("spaces", " ", TextUnit.SIGNS),
    ("empty lines", "\n", TextUnit.SIGNS),
    ("lines of spaces", "      \n", TextUnit.SIGNS),
    ("a blob", "QUFB", TextUnit.SIGNS),
    ("a row of a table", "| job | done |\n", TextUnit.DATA),
    ("a row without outer bars", "job | done | none\n", TextUnit.DATA),
    ("columns", "job\tdone\tnone\n", TextUnit.DATA),
    ("an object", '{"state": "idle"},\n', TextUnit.DATA),
    ("a field", '  "state": "idle",\n', TextUnit.DATA),
    ("values", "idle,none,zero\n", TextUnit.DATA),
    ("indented code", "    call(it);\n", TextUnit.DATA),
    ("indented code with an empty line", "    call(it);\n\n    call(that);\n", TextUnit.DATA),
    ("code with a tab", "\tcall(it);\n", TextUnit.DATA),
    ("a block", "```sh\npytest\n```\n", TextUnit.DATA),
    ("a block in tildes with backticks inside", "~~~\n```\npytest -q\n```\n~~~\n", TextUnit.DATA),
]


@pytest.mark.parametrize(("unit", "kind"), [row[1:] for row in UNITS], ids=[row[0] for row in UNITS])
def test_a_unit_is_known_wherever_in_it_one_looks(unit: str, kind: TextUnit) -> None:
    for phase in range(len(unit)):
        text = unit * 3 + unit[:phase]
        assert kind_at_the_end(text, 2 * len(unit)) is kind, phase


def kind_at_the_end(text: str, two: int) -> TextUnit:
    blocks, end = Blocks(len(text)), 0
    *whole, head = text.split("\n")
    for line in whole:
        end += len(line) + 1
        blocks.observe(line, end)
    return kind_of(text[-two:], head, lambda place: blocks.at(len(text) - two + place))


def test_inside_an_open_block_everything_is_code() -> None:
    assert kind_of("Look again.\n" * 2, "", lambda _: "```") is TextUnit.DATA
    assert kind_of("Look again. " * 2, "Look again. ", lambda _: "~~~") is TextUnit.DATA


def test_a_line_that_is_longer_than_the_unit_is_known_by_its_head() -> None:
    assert kind_of("job, done, " * 2, "| job, done, ", lambda _: "") is TextUnit.DATA
    assert kind_of("job, done, " * 2, "The job, done, ", lambda _: "") is TextUnit.WORDS


def test_a_fence_is_closed_by_its_own_mark_alone() -> None:
    fence = Fence()
    seen = [fence.observe(line) for line in ("text", "````md", "```", "~~~~", "````py", "`````", "text")]
    assert seen == [False, True, True, True, True, True, False]


def test_blocks_are_known_as_far_back_as_they_are_asked_for() -> None:
    blocks = Blocks(reach=100)
    for end in range(8, 8_008, 8):
        blocks.observe("```py" if end % 80 == 8 else "```" if end % 80 == 40 else "text", end)
    assert [blocks.at(place) for place in (7_920, 7_928, 7_952, 7_960, 8_000)] == ["", "```", "```", "", ""]
