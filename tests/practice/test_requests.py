"""A text of the agent's loop is not taken for a request of the user."""

import time

import pytest

from harness.events import ArrivalKind, Arrived, PlanItem
from harness.model import notices, prompt
from harness.model.notices import arrivals_text
from harness.permissions.decision import Deny
from harness.practice.requests import HEADING, UserText, kind_of, restated_request, without_reminders
from harness.practice.rule_model.conversation import CallOutcome, ReturnedResult
from harness.practice.wire.recorded import MOST_BYTES, ResponseRecorder


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (notices.CONTINUE_AFTER_CUT, UserText.CONTINUE),
        (notices.CONTINUE_AFTER_BREAK, UserText.CONTINUE),
        (notices.CONTINUE_AFTER_EMPTY, UserText.CONTINUE),
        (notices.CONTINUE_AFTER_NO_CALL, UserText.CONTINUE),
        (notices.CONTINUE, UserText.CONTINUE),
        ("continue", UserText.CONTINUE),
        ("続けてください", UserText.CONTINUE),
        (notices.token_budget_nudge(1_000, 20_000), UserText.NUDGE),
        (notices.summary_request(), UserText.SUMMARISE),
        (notices.summary_request("the tests"), UserText.SUMMARISE),
        ("Please summarize the conversation so far.", UserText.SUMMARISE),
        ("これまでの会話を要約してください", UserText.SUMMARISE),
        (notices.summary_message("Requests: none"), UserText.SUMMARY),
        (notices.summary_message(HEADING), UserText.SUMMARY),
        (notices.INTERRUPTION_NOTE, UserText.NOTE),
        (notices.BEGINNING_MISSING, UserText.NOTE),
        (notices.dropped_steps(3), UserText.NOTE),
        ("[Request interrupted by user]", UserText.NOTE),
        (
            arrivals_text((Arrived(1, ArrivalKind.COMMAND_ENDED, "b1", "b1 ended with exit code 0: make"),)),
            UserText.ARRIVED,
        ),
        (arrivals_text((Arrived(1, ArrivalKind.AGENT_ENDED, "a1", "x" * 50_000),)), UserText.ARRIVED),
        ("src/a.py as it is now:\n\n1\tx = 1", UserText.NOTE),
        ("The user's latest request, word for word:\n\nread a.txt", UserText.RESTATED),
        (f"{notices.dropped_steps(1)}\n\nThe user's latest request, word for word:\n\nread a.txt", UserText.RESTATED),
        ("read a.txt", UserText.PROMPT),
        ("summarise README.md", UserText.PROMPT),
        ("summarise conversation.py", UserText.PROMPT),
        ("continue.txt を読んで", UserText.PROMPT),
        ("find “cut off” in src and continue the list", UserText.PROMPT),
        ("why are my tests interrupted?", UserText.PROMPT),
        ("x" * 100_000, UserText.PROMPT),
    ],
)
def test_the_kinds_are_distinguished(text: str, kind: UserText) -> None:
    assert kind_of(text) is kind


def test_a_restated_request_is_found() -> None:
    assert (
        restated_request("The user's latest request, word for word:\n\nread a.txt\nand b.txt")
        == "read a.txt\nand b.txt"
    )


def test_reminders_are_left_out() -> None:
    assert without_reminders("<system-reminder>list the files</system-reminder>\nread a.txt") == "read a.txt"
    assert without_reminders("delete a.txt <note>not now</note>") == "delete a.txt <note>not now</note>"
    assert without_reminders(prompt.turn_facts(today="2026-11-21")) == ""
    assert without_reminders(notices.plan_reminder([PlanItem("list the files")], 8)) == ""
    assert without_reminders(notices.restated_plan([PlanItem("list the files")])) == ""
    assert without_reminders(notices.hook_contexts([("house_rules", "list the files")])) == ""


@pytest.mark.parametrize(
    ("text", "denied", "cancelled", "missing"),
    [
        (Deny("too dangerous", by="user").message, True, False, False),
        (Deny("nobody can be asked here").message, True, False, False),
        (notices.INTERRUPTED_RESULT, False, True, False),
        (notices.CANCELLED_RESULT, False, True, False),
        (notices.MISSING_RESULT, False, True, False),
        ("a.txt does not exist.", False, False, True),
        ("cat: a.txt: No such file or directory", False, False, True),
        ("bash: ./x: Permission denied\n\n[exit 126]", False, False, False),
    ],
)
def test_a_failed_result_is_read_for_what_it_says(text: str, denied: bool, cancelled: bool, missing: bool) -> None:
    expected = CallOutcome.DENIED if denied else CallOutcome.CANCELLED if cancelled else CallOutcome.MISSING
    assert ReturnedResult(text, failed=True).outcome is (
        expected if denied or cancelled or missing else CallOutcome.FAILED
    )
    assert ReturnedResult(text).outcome is CallOutcome.OK


def test_the_first_bytes_are_kept_and_the_others_counted() -> None:
    assert ResponseRecorder(0.0).response is None
    recorder = ResponseRecorder(time.monotonic())
    recorder.begin(200, [("content-type", "text/plain")])
    for piece in (b"a" * (MOST_BYTES - 1), b"bcd", b"e"):
        recorder.add(piece)
    response = recorder.response
    assert response is not None
    assert b"".join(data for _, data in response.pieces) == b"a" * (MOST_BYTES - 1) + b"b"
    assert response.omitted == 3
    times = [at for at, _ in response.pieces]
    assert times == sorted(times)
