"""What a repeated unit is."""

import pytest

from harness.policies.loops.text_units import Blocks, Fence, Unit, kind_of

UNITS = [
    ("a sentence", "Let me look again. ", Unit.WORDS),
    ("a line", "Let me look again.\n", Unit.WORDS),
    ("Japanese", "もう一度確認します。", Unit.WORDS),
    ("a nested list", "    - Look again.\n", Unit.WORDS),
    ("a sentence and a block", "Run it:\n```sh\npytest\n```\n", Unit.WORDS),
    ("a sentence with an inline block", "Use ```pytest``` again.\n", Unit.WORDS),
    ("a rule", "-", Unit.SIGNS),
    ("a rule in a line", "----------\n", Unit.SIGNS),
    ("box drawing", "│ ├── \n", Unit.SIGNS),
    ("a laugh in one letter", "a", Unit.SIGNS),
    ("spaces", " ", Unit.SIGNS),
    ("empty lines", "\n", Unit.SIGNS),
    ("lines of spaces", "      \n", Unit.SIGNS),
    ("a blob", "QUFB", Unit.SIGNS),
    ("a row of a table", "| job | done |\n", Unit.DATA),
    ("a row without outer bars", "job | done | none\n", Unit.DATA),
    ("columns", "job\tdone\tnone\n", Unit.DATA),
    ("an object", '{"state": "idle"},\n', Unit.DATA),
    ("a field", '  "state": "idle",\n', Unit.DATA),
    ("values", "idle,none,zero\n", Unit.DATA),
    ("indented code", "    call(it);\n", Unit.DATA),
    ("indented code with an empty line", "    call(it);\n\n    call(that);\n", Unit.DATA),
    ("code with a tab", "\tcall(it);\n", Unit.DATA),
    ("a block", "```sh\npytest\n```\n", Unit.DATA),
    ("a block in tildes with backticks inside", "~~~\n```\npytest -q\n```\n~~~\n", Unit.DATA),
]


@pytest.mark.parametrize(("unit", "kind"), [row[1:] for row in UNITS], ids=[row[0] for row in UNITS])
def test_a_unit_is_known_wherever_in_it_one_looks(unit: str, kind: Unit) -> None:
    for phase in range(len(unit)):
        text = unit * 3 + unit[:phase]
        assert kind_at_the_end(text, 2 * len(unit)) is kind, phase


def kind_at_the_end(text: str, two: int) -> Unit:
    blocks, end = Blocks(len(text)), 0
    *whole, head = text.split("\n")
    for line in whole:
        end += len(line) + 1
        blocks.see(line, end)
    return kind_of(text[-two:], head, lambda place: blocks.at(len(text) - two + place))


def test_inside_an_open_block_everything_is_code() -> None:
    assert kind_of("Look again.\n" * 2, "", lambda _: "```") is Unit.DATA
    assert kind_of("Look again. " * 2, "Look again. ", lambda _: "~~~") is Unit.DATA


def test_a_line_that_is_longer_than_the_unit_is_known_by_its_head() -> None:
    assert kind_of("job, done, " * 2, "| job, done, ", lambda _: "") is Unit.DATA
    assert kind_of("job, done, " * 2, "The job, done, ", lambda _: "") is Unit.WORDS


def test_a_fence_is_closed_by_its_own_mark_alone() -> None:
    fence = Fence()
    seen = [fence.see(line) for line in ("text", "````md", "```", "~~~~", "````py", "`````", "text")]
    assert seen == [False, True, True, True, True, True, False]


def test_blocks_are_known_as_far_back_as_they_are_asked_for() -> None:
    blocks = Blocks(reach=100)
    for end in range(8, 8_008, 8):
        blocks.see("```py" if end % 80 == 8 else "```" if end % 80 == 40 else "text", end)
    assert [blocks.at(place) for place in (7_920, 7_928, 7_952, 7_960, 8_000)] == ["", "```", "```", "", ""]
