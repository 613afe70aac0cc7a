"""Markdown as terminal text: layout, arbitrary input, and equal results for pieces and whole texts."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content

from harness.ui.transcript.markdown import LARGEST_BLOCK, StreamedMarkdown, markdown_content

WIDTH = 40

PIECES = st.sampled_from(
    [
        *(
            "# ",
            "- ",
            "* ",
            "1. ",
            "2) ",
            "> ",
            "    ",
            "  ",
            "```",
            "```python\n",
            "~~~\n",
            "---\n",
            "===\n",
            "\n",
            "\n\n",
        ),
        *(
            "| a | b |\n",
            "|---|:-:|\n",
            "| 1 | 2 |\n",
            "|",
            "\\",
            "`",
            "*",
            "**",
            "_",
            "~~",
            "[",
            "](",
            ")",
            "![",
            "<",
            ">",
        ),
        *(
            "word",
            "a longer text that has to be wrapped at some point",
            "天気予報",
            "&#27;",
            "&amp;",
            "\x1b[31m",
            "\r\n",
        ),
        *(
            "\t",
            "[bold]",
            "[/]",
            "http://x.y",
            "1",
            "-",
            "+",
            "=",
            "def f():\n    return 1\n",
            "\u202e",
            "e\u0301",
            " ",
        ),
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60)


def look(text: str, width: int = WIDTH) -> str:
    """The text without its styles."""
    return markdown_content(text, width).plain


def styled(text: str) -> set[tuple[str, str]]:
    """Each piece that has a style, with it."""
    content = markdown_content(text, WIDTH)
    return {(content.plain[start:end], str(style)) for start, end, style in content.spans}


def lines(*expected: str) -> str:
    return "\n".join(expected)


# ── how it looks ────────────────────────────────────────────────────────────────────────────────


def test_a_task_list_has_boxes() -> None:
    assert look("- [x] read\n- [ ] write\n- [no] box\n\n1. [x] in a numbered list") == (
        "☑ read\n☐ write\n• [no] box\n\n1. [x] in a numbered list"
    )


def test_a_table_does_not_cut_words_that_have_room() -> None:
    table = "| file | what it does |\n|-|-|\n| harness/ui/content.py | draws each entry of the conversation |"
    assert look(table, 40).split("\n")[2:] == [
        "harness/ui/content.py  draws each entry",
        "                       of the",
        "                       conversation",
    ]


def test_marks_become_styles() -> None:
    text = "# Head\n\n**bold** *italic* ~~gone~~ `code`"
    assert look(text) == "Head\n\nbold italic gone code"
    assert styled(text) == {
        ("Head", "bold underline"),
        ("bold", "bold"),
        ("italic", "italic"),
        ("gone", "strike"),
        ("code", "$text-accent"),
    }


def test_a_link_shows_its_address_unless_that_is_its_text() -> None:
    assert look("[docs](https://a.b/c)") == "docs (https://a.b/c)"
    assert look("<https://a.b/c>") == "https://a.b/c"
    assert look("![a cat](cat.png)") == "a cat (cat.png)"


def test_lists_hang_and_nest() -> None:
    text = "- first item that is longer than the line is\n- second\n  1. one\n  2. two\n- third"
    assert look(text) == lines(
        "• first item that is longer than the",
        "  line is",
        "• second",
        "  1. one",
        "  2. two",
        "• third",
    )


def test_a_list_with_room_between_its_items_keeps_it() -> None:
    assert look("1. one\n\n2. two\n\n   more") == "1. one\n\n2. two\n\n   more"


def test_a_quote_has_a_bar_at_every_line() -> None:
    text = "> quoted text that is longer than the line is\n>\n> - item"
    assert look(text) == lines("▌ quoted text that is longer than the", "▌ line is", "▌", "▌ • item")


def test_code_is_indented_and_coloured_where_its_language_is_known() -> None:
    text = "```python\nif x:\n\treturn 1\n```"
    assert look(text) == "  if x:\n      return 1"
    assert ("return", "$text-accent") in styled(text)
    assert look("```no-such-language\nif x\n```") == "  if x"
    assert look("```\n[bold]\n```") == "  [bold]"


def test_a_table_is_laid_out_in_columns_by_cells() -> None:
    assert look("| name | 値段 |\n|---|---:|\n| 天気予報 | 1 |\n| ab | 100 |") == lines(
        "name      値段",
        "──────────────",
        "天気予報     1",
        "ab         100",
    )


def test_a_table_that_is_too_wide_wraps_its_widest_cells() -> None:
    text = "|n|text|\n|-|-|\n|1|words that do not fit on one line of so few cells|"
    assert look(text, 20) == lines(
        "n  text",
        "─" * 20,
        "1  words that do not",
        "   fit on one line",
        "   of so few cells",
    )


def test_a_table_with_more_columns_than_cells_becomes_lines() -> None:
    many = "|" + "ab|" * 30
    assert look(f"{many}\n|{'-|' * 30}\n{many}", 20).startswith("ab | ab | ab")


def test_rules_are_as_wide_as_the_screen() -> None:
    assert look("a\n\n---\n\nb") == f"a\n\n{'─' * WIDTH}\n\nb"


def test_what_is_no_markdown_is_left_alone() -> None:
    assert look("a [bold]b[/bold] <b>c</b> snake_case_name 2 * 3 * 4") == (
        "a [bold]b[/bold] <b>c</b>\nsnake_case_name 2 * 3 * 4"
    )


def test_no_control_character_gets_through_however_it_is_written() -> None:
    shown = look("a\x1b[31m &#27; `\x07` [x](\x9b)\n\n```\n\x1b\n```\n\n\u202e &#x202e;", 80)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_what_is_nested_too_deep_is_shown_as_it_is() -> None:
    deep = ">" * 200 + " end"
    assert "end" in look(deep)
    assert "end" in look("- " * 200 + "end")


# ── any text ────────────────────────────────────────────────────────────────────────────────────


@given(TEXTS, st.integers(2, 60))
def test_no_line_is_wider_than_it_may_be(text: str, width: int) -> None:
    content = markdown_content(text, width)
    assert all(line.cell_length <= width for line in content.split("\n", allow_blank=True))


@settings(max_examples=60)
@given(st.lists(TEXTS, max_size=6), st.integers(10, 60))
def test_pieces_make_the_same_as_the_whole(pieces: list[str], width: int) -> None:
    streamed = StreamedMarkdown()
    whole = ""
    for piece in pieces:
        whole += piece
        streamed.append(piece)
        expect_same(streamed.content(width), markdown_content(whole, width))


@settings(max_examples=50)
@given(TEXTS)
def test_single_characters_make_the_same_as_the_whole(text: str) -> None:
    streamed = StreamedMarkdown()
    for end in range(len(text)):
        streamed.set(text[: end + 1])
        streamed.content(WIDTH)
    expect_same(streamed.content(WIDTH), markdown_content(text, WIDTH))


@given(TEXTS, TEXTS, st.integers(10, 60))
def test_a_text_that_is_taken_back_or_drawn_at_another_width_leaves_nothing_behind(
    first: str, second: str, width: int
) -> None:
    streamed = StreamedMarkdown()
    streamed.set(first)
    streamed.content(WIDTH)
    streamed.set(second)
    expect_same(streamed.content(width), markdown_content(second, width))


@pytest.mark.stories
def test_a_block_that_is_too_large_is_the_same_in_pieces() -> None:
    text = "```\n" + "x = 1\n" * (LARGEST_BLOCK // 4) + "```\n\nThe *end*."
    streamed = StreamedMarkdown()
    for start in range(0, len(text), 23_001):
        streamed.append(text[start : start + 23_001])
        streamed.content(WIDTH)
    expect_same(streamed.content(WIDTH), markdown_content(text, WIDTH))
    assert streamed.content(WIDTH).plain.endswith("The end.")


def expect_same(one: Content, other: Content) -> None:
    """Texts and styles agree."""
    assert one.plain == other.plain
    assert one.spans == other.spans


# ── large texts ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "part", [">", "[", "*", "- ", "![", "[a](", "`", "<a ", "*a_ ", "|", "\\", "~~", "a", "天", "\n", "&"]
)
def test_the_worst_texts_take_no_more_than_a_moment(part: str) -> None:
    began = time.process_time()
    markdown_content(part * 10_000, 80)
    assert time.process_time() - began < 1.0


@pytest.mark.stories
def test_a_text_twice_as_long_takes_about_twice_as_long() -> None:
    def seconds(times: int) -> float:
        began = time.process_time()
        markdown_content("Some **words** of `prose`, and a few more of them.\n\n- an item\n\n" * times, 80)
        return time.process_time() - began

    seconds(10)
    assert seconds(1_000) < 5 * seconds(500)


def test_a_line_that_continues_has_a_space_only_in_a_script_that_has_spaces() -> None:
    assert markdown_content("one\ntwo", 40).plain == "one two"
    assert markdown_content("書くように訓練されて\nいます。", 40).plain == "書くように訓練されています。"
    assert markdown_content("**訓練**\n**です**", 40).plain == "訓練 です"
    assert markdown_content("天気\nweather", 40).plain == "天気 weather"
