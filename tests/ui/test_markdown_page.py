"""A session on a page: readable, whole, and without keys."""

import json
import re

import pytest

from harness.base.secrets import Secret
from harness.events import (
    AgentEnd,
    CommandHandedOver,
    Deferred,
    Event,
    ItemStatus,
    Json,
    Message,
    MessageAdded,
    Notice,
    Origin,
    PauseReport,
    PauseReported,
    PlanChanged,
    PlanItem,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    Rung,
    SessionResumed,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
    decode,
)
from harness.journal import Record
from harness.journal.export import as_json
from harness.ui.markdown_page import markdown
from tests.journal.samples import session, session_started, text
from tests.ui import work
from tests.ui.loops import BACK, FOUND, LEFT, REPORT, took


def records(*events: Event) -> list[Record]:
    return [Record(number, 1_795_234_000.0 + number, event) for number, event in enumerate(events, start=1)]


def turn_ended(code: TransitionCode, reason: str, answer: str) -> TurnEnded:
    return TurnEnded(1, code, reason, answer, Usage(), 0.0, 1, 1, 1.0)


def test_the_page_shows_the_conversation_in_order() -> None:
    page = markdown(records(*session()))
    order = [
        "# 設定はどこで 読まれますか？ 🙂",
        "- session: 20261121-0345-7f3a9c",
        "- folder: /home/ko/project",
        "- from: 2026-11-21 04:06:41 UTC",
        "## 1. You",
        "> 設定はどこで\n> 読まれますか？ 🙂",
        "> retry 1 of 10 in 0.5 s: overloaded",
        "> claude-haiku-5 answers instead of claude-sonnet-5-5: overloaded three times",
        "I look. ?",
        "- ✗ **bash** ```` ls -la; echo ``` äöü ````: exit 1, 0.2 s",
        "````\nno such ``` file\n````",
        "> output cap 8,000 → 64,000 tokens: the reply was cut",
        "> history repaired before sending: dropped a blank text",
        "> compacted by summary: about 150,000 → 9,000 tokens",
        "It is read in one place.",
        "> model is now claude-opus-5-5",
        "> fault injected: /fault 529 3",
        "> warning: the disk is nearly full",
        "## 2. You",
        "> And now?",
        "## Totals",
        "- requests: 3",
        "- tokens: 100 in, 50 out",
        "- cost: $0.0123, of it $0.0010 on failed and repeated requests",
    ]
    positions = [page.find(piece) for piece in order]
    assert -1 not in positions, [piece for piece, position in zip(order, positions, strict=True) if position < 0]
    assert positions == sorted(positions)
    assert page.count("It is read in one place.") == 1


def test_the_page_is_text_that_any_file_can_hold() -> None:
    markdown(records(*session())).encode()


def test_an_answer_that_was_kept_from_a_failed_turn_is_on_the_page_with_the_reason() -> None:
    page = markdown(
        records(TurnStarted(1, "hello"), turn_ended(TransitionCode.API_ERROR, "the model\nis away", "half an ans"))
    )
    assert "half an ans" in page
    assert "> **api_error**: the model is away" in page


def test_a_tool_call_without_detail_is_one_line() -> None:
    page = markdown(
        records(
            ToolStarted("c", "read_file", "src/a.py", {"path": "src/a.py"}),
            ToolEnded("c", "read_file", ToolOutcome.OK, "88 lines", 0.01),
        )
    )
    assert "\n- ● **read_file** `src/a.py`: 88 lines, 0.0 s\n" in page


def test_a_session_in_which_nothing_was_asked_has_a_page_too() -> None:
    page = markdown(
        records(session_started(), SessionResumed("0.1.0", "practice-1", "http://127.0.0.1", practice=True))
    )
    assert page.startswith("# A session\n")
    assert "> resumed with practice-1" in page
    assert page.endswith("No request was sent.\n")
    assert markdown([]).startswith("# A session\n")


def test_the_json_document_holds_every_event_exactly() -> None:
    document = json.loads(as_json(records(*session())))
    assert document["session"]["title"] == "設定はどこで 読まれますか？ 🙂"
    assert document["session"]["interrupted"]
    assert document["totals"]["requests"] == 3
    assert [message["role"] for message in document["messages"]] == ["user", "assistant", "user"]
    assert [decode(event) for event in document["events"]] == list(session())
    assert [event["seq"] for event in document["events"]] == list(range(1, len(session()) + 1))


def test_the_json_document_of_nothing_is_valid() -> None:
    document = json.loads(as_json([]))
    assert document["messages"] == document["events"] == []
    assert document["totals"] is None


def test_deep_tool_input_is_exported() -> None:
    nested: Json = {}
    for _ in range(800):
        nested = {"a": nested}
    json.loads(as_json(records(ToolStarted("c", "bash", "x", nested))))


@pytest.mark.parametrize("secret", ['my "gateway" token\\', "sk-ant-api03-abcdefghijklmnopqrstuv_WX-yz"])
@pytest.mark.parametrize("export", [markdown, as_json])
def test_keys_and_tokens_are_masked_everywhere(export: object, secret: str) -> None:
    assert callable(export)
    message = Message("assistant", ({"type": "tool_use", "id": "c", "name": "bash", "input": {secret: [secret]}},))
    leaky = records(
        TurnStarted(1, f"use {secret}"),
        MessageAdded(text("assistant", f"I use {secret}."), Origin.REPLY),
        MessageAdded(message, Origin.REPLY),
        ToolStarted("c", "bash", f"echo {secret}", {"command": f"echo {secret}"}),
        ToolEnded("c", "bash", ToolOutcome.OK, secret, 0.1, detail=f"{secret}\n"),
        Notice("error", f"refused: {secret}"),
    )
    page = export(leaky, [Secret(secret)])
    assert secret not in page
    assert json.dumps(secret)[1:-1] not in page
    assert page.count("•••") + page.count("\\u2022\\u2022\\u2022") >= 5


def test_a_key_that_a_tool_printed_is_masked_without_being_named() -> None:
    page = markdown(records(TurnStarted(1, "ANTHROPIC_API_KEY=sk-ant-api03-abcdefghijklmnop; risk-sk-x")))
    assert "> ANTHROPIC_API_KEY=•••; risk-sk-x" in page


def test_a_secret_of_a_few_letters_does_not_make_the_page_unreadable() -> None:
    page = markdown(records(TurnStarted(1, "a test of the key test")), [Secret("test"), Secret("")])
    assert re.search("> a test of the key test", page)


def test_a_pause_and_a_loop_are_on_the_page_with_their_reports() -> None:
    deferred = Deferred(PlanItem("ask the server"), "bash is paused", "a successful try from step 9 on")
    report = PauseReport(
        *("the failure budget is used up", ("read it",), ("change it",), (), (deferred,)),
        planned=True,
        consumed=5,
        budget=5,
        next_steps=("Check grep.",),
    )
    page = markdown(
        records(
            TurnStarted(1, "go"), PauseReported(report), FOUND, took(Rung.NUDGE), LEFT, BACK, took(Rung.STOP), REPORT
        )
    )
    assert page[page.index("> **paused**") : page.index("## Totals")].split("\n\n")[:-1] == [
        "> **paused**: the failure budget is used up",
        *("Done:", "- read it", "Begun and not finished:", "- change it"),
        *("Deferred:", "- ask the server: bash is paused; needs a successful try from step 9 on"),
        *("Failure budget:", "- 5 of 5 used", "What you can do:", "1. Check grep."),
        "> loop: read_file notes.txt, 4 times in a row, with the same result each time",
        "> nudge: the model is told",
        "> out of the loop (same calls, same results) after: nudge",
        (
            "> rolled back to the end of step 4: the model does not see later messages; "
            "as they were then: src/a.py, src/b.py; not undone: bash rm -rf build"
        ),
        "> **in a loop**: read_file notes.txt, 4 times (interaction)",
        "Interventions:",
        (
            "- step 6, nudge: the model is told that it repeats itself\n"
            "- step 8, substitute: bash in place of read_file; loses: line numbers\n"
            "- step 10, rollback: back to the end of step 2"
        ),
        "What you can do:",
        (
            "1. Say in other words what you want, or what the file should hold.\n"
            "2. /rewind goes back before this prompt."
        ),
    ]


def test_a_plan_is_on_the_page_each_time_it_changes() -> None:
    items = (PlanItem("read", ItemStatus.DONE), PlanItem("test"))
    page = markdown(records(PlanChanged(items), PlanChanged(items), PlanChanged(()))).splitlines()
    assert [line for line in page if line.startswith("- [") or "left" in line] == [
        *("- [x] read", "- [ ] test", "- no items left"),
    ]


def test_agents_and_commands_in_the_background_are_on_the_page_with_how_they_ended() -> None:
    page = markdown(
        records(
            *(work.created("a1"), work.created("a2", "mend it"), work.command("b1", "npm test"), work.begun("b1")),
            *(work.ended("a1"), work.ended("a2", AgentEnd.LIMIT, "its steps were used up"), work.over("b1", 1)),
            *(CommandHandedOver("b2", 7), work.CLOSED),
        )
    )
    for line in (
        '> a1 "find the tests" answered (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        '> a2 "mend it" did not finish: its steps were used up (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        '> b1 "npm test" failed with exit code 1 after 12 s; its last line: 2 failed',
        "> b2 continues on its own as process 7",
        "> 18 queued pieces of work dropped",
    ):
        assert line in page


def test_a_page_holds_nothing_that_a_terminal_obeys() -> None:
    hostile = "\x1b]52;c;cm0gLXJm\x07 \x1b[2J \x9b31m \u202egnp.exe \u2066 \x00"
    reply = MessageAdded(Message("assistant", ({"type": "text", "text": hostile},)), Origin.REPLY)
    page = markdown(records(*session(), TurnStarted(3, "go on"), reply))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]", page)
    assert r"\x1b]52;c;cm0gLXJm\x07" in page


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (QuestionAnswered("c", "option", "blue"), "answered: blue"),
        (QuestionAnswered("c", "option", "red", "setting"), "answered by the settings: red"),
        (QuestionAnswered("c", "declined", ""), "declined"),
        (QuestionAnswered("c", "declined", "", "setting"), "not answered: no user is present"),
    ],
)
def test_a_question_of_the_model_and_its_answer_are_on_the_page(end: QuestionAnswered, told: str) -> None:
    asked = QuestionAsked("c", "Which\ncolour?", (QuestionOption("red"), QuestionOption("blue", "like the logo")))
    page = markdown(records(session_started(), TurnStarted(1, "Paint it."), asked, end))
    assert "> Which colour? [red | blue]\n" in page
    assert f"> {told}\n" in page
