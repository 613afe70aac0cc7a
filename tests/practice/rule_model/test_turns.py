"""What an agent's loop asks besides sentences: failed calls, cuts, pauses, arrivals, summaries, media."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import ArrivalKind, Arrived, Json
from harness.model import notices
from harness.model.notices import arrivals_text
from harness.permissions.decision import Deny
from harness.practice.requests import HEADING
from harness.practice.rule_model import RuleModel
from harness.practice.rule_model.conversation import read_request
from harness.practice.rule_model.model import remaining
from harness.practice.wire.replies import ToolUse
from tests.practice.rule_model.requests import Talk, text_of

SKIP = (
    "grep was not run: it failed 3 times in a row.\nAlternatives, best first:\n"
    "1. bash: run plain grep (loses: its own limits)\n2. by hand: look yourself"
)
NO_WAY = "bash was not run: it failed 3 times in a row.\nAlternatives, best first:\n1. by hand: run it yourself"
UNFINISHED = "The agent did not finish: it took too long. This is no answer."


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (Deny("too dangerous", by="user").message, "I was not allowed to do that (bash make)"),
        (notices.INTERRUPTED_RESULT, "That was interrupted (bash make)"),
        (NO_WAY, "By hand: run it yourself."),
        ("no rule\n\n[exit 2]", "`make` failed:\n\n```\nno rule"),
    ],
)
def test_a_call_that_failed_is_reported(result: str, said: str) -> None:
    assert said in Talk({"bash": (result,)}, failures=frozenset({result})).ask("run make")


def test_a_command_that_was_moved_to_the_background_has_not_succeeded_yet() -> None:
    moved = "(no output yet)\n\n[The user moved this command to the background. It was not restarted: it runs as b1.]"
    answer = Talk({"bash": (moved,)}).ask("run make")
    assert "`make` is in the background:\n\n```\n(no output yet)" in answer


def test_an_agent_that_was_moved_to_the_background_has_not_answered_yet() -> None:
    answer = Talk({"agent": (notices.moved_to_background("a1"),)}).ask("ask an agent to list the files")
    assert "The agent answered" not in answer
    assert "list the files: The user moved agent a1 to the background." in answer


def test_a_missing_file_is_reported() -> None:
    talk = Talk({"read_file": ("a.txt does not exist.",)}, failures=frozenset({"a.txt does not exist."}))
    assert "a.txt does not exist." in talk.ask("read a.txt")


def test_an_alternative_takes_the_place_of_a_skipped_call() -> None:
    talk = Talk({"grep": (SKIP,), "bash": ("a.txt:3:TODO x",)}, failures=frozenset({SKIP}))
    answer = talk.ask("find TODO")
    assert [name for name, _ in talk.calls] == ["grep", "bash"]
    assert "`a.txt:3` TODO x" in answer
    assert "Done with bash instead of grep. Lost by that: its own limits." in answer


def test_where_the_alternative_fails_too_the_user_reads_how_to_do_it() -> None:
    failures = frozenset({SKIP, NO_WAY})
    assert "By hand: look yourself." in Talk({"grep": (SKIP,), "bash": (NO_WAY,)}, failures=failures).ask("find TODO")


def test_a_turn_that_pauses_continues_with_what_failed() -> None:
    pause = "Not run: the turn pauses here, because the failure budget of this turn is used up."
    talk = Talk({"read_file": ("     1\tx",), "bash": (pause, "fine")}, failures=frozenset({pause}))
    assert "The turn pauses here; not done: bash make" in talk.ask("read a.txt and run make")
    talk.messages.append({"role": "user", "content": "(The turn was paused here. The failure budget is spent.)"})
    answer = talk.ask("continue")
    assert [name for name, _ in talk.calls] == ["read_file", "bash", "bash"]
    assert "`make` succeeded" in answer


def test_answers_of_subagents_are_reported_and_failures_are_named() -> None:
    talk = Talk({"agent": ("(I am the rule-based practice model: no AI, just patterns and your real tools.)\n\nTwo.",)})
    assert talk.ask("use an agent to count the files").endswith("The agent answered:\n\nTwo.")
    talk = Talk({"agent": ("one", UNFINISHED)}, failures=frozenset({UNFINISHED}))
    answer = talk.ask("use two agents to list the files")
    assert "1 of 2 agents answered." in answer
    assert "Without an answer (1):\n\n- list the files (2 of 2): it took too long" in answer


def test_tasks_that_a_script_delegated_are_reported_too() -> None:
    talk = Talk(messages=[{"role": "user", "content": "anything at all"}])
    call = {"type": "tool_use", "id": "t1", "name": "agent", "input": {"prompt": "x", "description": "the x"}}
    talk.messages.append({"role": "assistant", "content": [call]})
    talk.messages.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "Ten."}]})
    assert text_of(talk.step()).endswith("The agent answered:\n\nTen.")


def test_arrivals_are_reported() -> None:
    arrived = (
        Arrived(1, ArrivalKind.COMMAND_ENDED, "b1", "b1 ended with exit code 0: make\nbuilt"),
        Arrived(2, ArrivalKind.COMMAND_QUIET, "b2", "b2 is quiet"),
        Arrived(3, ArrivalKind.AGENT_ENDED, "a1", 'The agent a1, asked in the background to "x", has ended.\nSeven.'),
    )
    answer = Talk().ask(arrivals_text(arrived))
    assert "b1 in the background: b1 ended with exit code 0: make\n\n```\nbuilt\n```" in answer
    assert "b2 in the background: it is quiet" in answer
    assert "Agent a1 has answered in the background:\n\nSeven." in answer


def test_images_are_measured() -> None:
    png = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03").decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}
    talk = Talk(messages=[{"role": "user", "content": [image, {"type": "text", "text": "what is this?"}]}])
    assert "image/png, 2 × 3, 24 bytes, SHA-256" in text_of(talk.step())


# ── the output limit ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("max_tokens", [3, 25, 100])
@pytest.mark.parametrize("request_text", [notices.CONTINUE_AFTER_CUT, notices.CONTINUE_AFTER_BREAK, "continue"])
def test_a_cut_answer_continues_where_it_was_cut(max_tokens: int, request_text: str) -> None:
    whole = Talk().ask("help")
    talk = Talk(max_tokens=max_tokens)
    answer = talk.ask("help")
    for _ in range(200):
        talk.messages.append({"role": "user", "content": request_text})
        reply = talk.step()
        answer += text_of(reply)
        if reply.ending != "max_tokens":
            break
    assert answer == whole


def test_a_call_that_does_not_fit_is_cut_within_its_input() -> None:
    talk = Talk({"glob": ("No file matches a.txt",)}, max_tokens=40)
    reply = RuleModel().answer(
        {
            "max_tokens": 20,
            "tools": [tool for tool in talk.tools if tool["name"] == "bash"],
            "messages": [{"role": "user", "content": f"run `echo {'milk ' * 100}`"}],
        }
    )
    assert reply.ending == "max_tokens"


def test_a_budget_nudge_gets_a_short_answer() -> None:
    talk = Talk()
    talk.ask("hello")
    assert talk.ask(notices.token_budget_nudge(10, 1_000)) == "That was all; nothing is left to do."


@given(st.text(), st.integers(0, 400))
def test_what_remains_completes_what_was_kept(answer: str, at: int) -> None:
    kept, rest = answer[:at], answer[at:]
    assert "".join((kept + remaining(answer, kept)).split()) == "".join((kept + rest).split())
    assert "".join((kept + remaining(answer, kept.strip())).split()) == "".join(answer.split()) or not kept.strip()


# ── summaries ───────────────────────────────────────────────────────────────────────────────────────


def test_a_summary_in_the_middle_of_a_turn_loses_no_result() -> None:
    talk = Talk({"glob": ("No file matches a.py",)})
    talk.messages.append({"role": "user", "content": "create a.py that prints Hi and run it"})
    talk.step()
    talk.step()
    assert [name for name, _ in talk.calls] == ["glob", "write_file"]
    talk.messages.append({"role": "user", "content": notices.summary_request()})
    summary = text_of(talk.step())
    assert summary.startswith(HEADING)
    assert '"state": "in progress"' in summary
    restated = "The user's latest request, word for word:\n\ncreate a.py that prints Hi and run it"
    later = Talk(
        messages=[
            {
                "role": "user",
                "content": [{"type": "text", "text": text} for text in (notices.summary_message(summary), restated)],
            }
        ]
    )
    reply = later.step()
    assert [part.input for part in reply.parts if isinstance(part, ToolUse)] == [{"command": "python3 a.py"}]


def test_a_summary_fits_the_output_limit() -> None:
    talk = Talk({"read_file": ("     1\t" + "x" * 9_000,)}, max_tokens=300)
    for _ in range(5):
        talk.ask("read a.txt")
    talk.messages.append({"role": "user", "content": notices.summary_request()})
    reply = talk.step()
    assert reply.ending == "end_turn"
    assert len(text_of(reply)) <= 900


def test_a_title_is_the_first_words_of_the_prompt() -> None:
    request: Json = {
        "system": "You are a title generator.",
        "messages": [{"role": "user", "content": "list the files"}],
    }
    assert text_of(RuleModel().answer(request)) == "list the files"


_NAMES = ["role", "content", "type", "text", "tools", "system", "messages", "input", "id", "name", "tool_use_id"]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=20,
)


@given(st.fixed_dictionaries({"messages": _JSON, "tools": _JSON, "system": _JSON, "max_tokens": _JSON}))
def test_no_request_raises(request: Json) -> None:
    read_request(request)
    RuleModel().answer(request)
