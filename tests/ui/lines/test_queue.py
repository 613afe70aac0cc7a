"""What waits, in lines."""

import pytest

from harness.events import ToolStarted
from harness.ui.lines.queue import SHOWN, TAKES_BACK, joins_after, queue_text, waiting_rows
from harness.ui.turn_queue import TurnQueue

WHERE = "joins after this reply"


def queue_of(*lines: str) -> TurnQueue:
    queue = TurnQueue()
    for line in lines:
        queue.put(line)
    return queue


def test_a_text_says_where_it_joins_and_how_to_take_it_back() -> None:
    assert waiting_rows((), WHERE, queue_of(), brief=False) == []
    assert waiting_rows(["one\ntwo"], WHERE, queue_of(), brief=False) == [
        ("▸ one (+ 1 line)", f"{WHERE} · {TAKES_BACK}")
    ]
    assert waiting_rows(["one", "two"], WHERE, queue_of(), brief=False) == [("▸ one", WHERE), ("▸ two", TAKES_BACK)]


def test_texts_and_prompts_of_their_own_are_told_apart() -> None:
    rows = waiting_rows(["one"], WHERE, queue_of("two", "three"), brief=False)
    assert rows == [
        ("▸ one", WHERE),
        ("2 queued (↑ edits the last, Esc returns all)", ""),
        ("  two", ""),
        ("  three", ""),
    ]
    assert waiting_rows(["one"], WHERE, queue_of("two"), brief=True) == [("▸ one", f"{WHERE}, 1 more")]
    assert waiting_rows((), WHERE, queue_of("two"), brief=True) == [("1 queued: two", "")]
    many = waiting_rows([f"{number}" for number in range(SHOWN + 2)], WHERE, queue_of(), brief=False)
    assert (len(many), many[-1]) == (SHOWN + 1, ("  … 2 more", TAKES_BACK))
    assert [note for _, note in many[1:-1]] == [""] * (SHOWN - 1), "the key takes back the last one"


@pytest.mark.parametrize(
    ("running", "why"),
    [
        ("/compact", " until /compact ends"),
        ("/review main", " until /review ends"),
        ("!make all", " until !make ends"),
        ("/etc/hosts what is this?", ""),
        ("a prompt", ""),
    ],
)
def test_lines_that_wait_for_a_command_say_so(running: str, why: str) -> None:
    queue = queue_of(running, "two")
    queue.begin(arrived=False)
    assert waiting_rows((), WHERE, queue, brief=False)[0] == (f"1 queued{why} (↑ edits the last, Esc returns all)", "")


def test_a_list_of_all_that_waits() -> None:
    assert queue_text((), queue_of(), clear=False) == "Nothing is queued."
    assert queue_text(["one"], queue_of("two"), clear=True).splitlines() == [
        "1 prompt for the running turn removed:",
        "  one",
        "1 queued prompt removed:",
        "  two",
    ]


def test_the_call_that_a_text_joins_after_is_short_and_without_control_characters() -> None:
    assert joins_after([]) == "joins the next request"
    assert joins_after([ToolStarted("a", "bash", "npm test\n--all", {})]) == "joins after npm test --all"
    assert joins_after([ToolStarted("a", "grep", "\x1b[31m" + "x" * 40, {})]).endswith("x…")
    assert joins_after([ToolStarted(id, "grep", "x", {}) for id in "ab"]) == "joins after 2 calls"
