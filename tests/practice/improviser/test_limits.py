"""Cut answers, continuations, summaries: the conversation survives them."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.events import Json
from harness.model import prompt
from harness.practice.improviser import Improviser, phrases
from harness.practice.improviser.conversation import read_request
from harness.practice.improviser.summary_form import form_turn, parse_summary
from harness.practice.improviser.truncation import remaining
from harness.practice.improviser.turns import Call, Exchange, Result, Turn
from harness.practice.user_text import HEADING
from tests.practice.improviser.driver import Conversation, calls_of, text_of

SLEEP: Json = {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "sleep 100"}}


def continued(talk: Conversation, request: str = prompt.CONTINUE_AFTER_CUT, *, strip: bool = False) -> str:
    """Ask to go on until the answer is whole; the pieces joined."""
    answer = text_of(talk.replies[-1])
    for _ in range(200):
        if talk.replies[-1].ending != "max_tokens":
            return answer
        if strip:
            talk.messages[-1]["content"][0]["text"] = talk.messages[-1]["content"][0]["text"].rstrip() or "."
        talk.say(request)
        answer += text_of(talk.step())
    raise AssertionError("the answer never ended")


@pytest.mark.parametrize("max_tokens", [3, 10, 25, 100])
@pytest.mark.parametrize("request_text", [prompt.CONTINUE_AFTER_CUT, prompt.CONTINUE_AFTER_BREAK, "continue"])
def test_a_cut_answer_goes_on_where_it_was_cut(tmp_path: Path, max_tokens: int, request_text: str) -> None:
    whole = Conversation(tmp_path).ask("help")
    talk = Conversation(tmp_path, max_tokens=max_tokens)
    assert whole.startswith(talk.ask("help"))
    assert continued(talk, request_text) == whole


def test_a_cut_answer_about_a_file_goes_on_without_reading_it_again(project: Path) -> None:
    (project / "long.txt").write_text("".join(f"line {n}\n" for n in range(300)))
    whole = Conversation(project).ask("read long.txt")
    talk = Conversation(project, max_tokens=100)
    talk.ask("read long.txt")
    assert continued(talk) == whole
    assert len(talk.calls) == 1


def test_a_call_that_does_not_fit_is_cut_as_a_model_would_cut_it(tmp_path: Path) -> None:
    request: Json = Conversation(tmp_path, max_tokens=40).request()
    text = "milk " * 200
    request["messages"] = [{"role": "user", "content": f'create a.txt with the text "{text}"'}]
    request["tools"] = [tool for tool in request["tools"] if tool["name"] == "write_file"]
    reply = Improviser().answer(request)
    assert reply.ending == "max_tokens"
    (call,) = calls_of(reply)
    assert call.raw_input is not None
    assert not call.raw_input.endswith("}")


def test_a_budget_nudge_gets_a_short_answer(tmp_path: Path) -> None:
    talk = Conversation(tmp_path)
    talk.ask("hello")
    talk.say(prompt.token_budget_nudge(10, 1_000))
    assert text_of(talk.step()) == phrases.NOTHING_LEFT.english


@given(st.text(), st.integers(0, 400))
def test_what_remains_completes_what_was_kept(answer: str, at: int) -> None:
    at = min(at, len(answer))
    kept, rest = answer[:at], answer[at:]
    if kept.strip():
        assert "".join((kept + remaining(answer, kept)).split()) == "".join((kept + rest).split())
        assert "".join((kept + remaining(answer, kept.strip())).split()) == "".join(answer.split())
    else:
        assert remaining(answer, kept) in (answer, rest)


def test_a_summary_holds_requests_calls_and_what_is_next(project: Path) -> None:
    talk = Conversation(project)
    talk.ask("read a.txt")
    talk.ask("create new.txt and run `exit 3`")
    talk.say(prompt.summary_request())
    summary = text_of(talk.step())
    assert summary.startswith(HEADING)
    assert "> read a.txt" in summary
    assert "- changed: new.txt" in summary
    assert "- bash exit 3: failed" in summary
    assert "Wait for the next request." in summary


def test_after_a_summary_the_conversation_goes_on(project: Path) -> None:
    talk = Conversation(project)
    talk.ask("list the files")
    talk.ask("read a.txt")
    talk.say(prompt.summary_request())
    summary = text_of(talk.step())
    later = Conversation(project)
    later.messages = [{"role": "user", "content": [{"type": "text", "text": prompt.summary_message(summary)}]}]
    later.messages[0]["content"].append({"type": "text", "text": "how many lines does it have?"})
    assert text_of(later.step()).strip()
    assert text_of(later.step()) == "a.txt has 2 lines."


def test_a_plan_that_was_summed_up_in_its_middle_does_nothing_twice(project: Path) -> None:
    talk = Conversation(project)
    talk.say("create hello.py that prints Hello World and run it")
    talk.step()
    talk.step()
    assert [call.name for call in talk.calls] == ["glob", "write_file"]
    talk.messages[-1]["content"].append({"type": "text", "text": prompt.summary_request()})
    summary = text_of(talk.step())
    assert "(in progress)" in summary
    later = Conversation(project)
    blocks = (prompt.summary_message(summary), "The person's latest request, word for word:\n\n" + _request_of(talk))
    later.messages = [{"role": "user", "content": [{"type": "text", "text": text} for text in blocks]}]
    assert [call.name for call in calls_of(later.step())] == ["bash"]
    assert "Hello World" in text_of(later.step())


def _request_of(talk: Conversation) -> str:
    return str(talk.messages[0]["content"][0]["text"])


def test_a_summary_fits_into_its_limit(project: Path) -> None:
    (project / "long.txt").write_text("word " * 20_000)
    talk = Conversation(project, max_tokens=300)
    for _ in range(30):
        talk.messages += [{"role": "user", "content": "hello " * 50}, {"role": "assistant", "content": "Hi."}]
    talk.say(prompt.summary_request())
    reply = talk.step()
    assert reply.ending == "end_turn"
    assert len(text_of(reply)) <= 300 * 4


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
printable = st.from_regex(r"\A[ -~あ-ん]{1,40}(\n[ -~あ-ん]{1,40}){0,3}\Z").map(str.strip).filter(bool)


@given(
    st.lists(st.tuples(printable, st.lists(st.tuples(texts, st.booleans()), max_size=3), texts), min_size=1, max_size=4)
)
@example([("an empty line\n\nin the middle", [], "")])
def test_a_summary_is_read_back_as_it_was_written(past: list[tuple[str, list[tuple[str, bool]], str]]) -> None:
    turns = tuple(
        Turn(
            "\n".join(line.strip() for line in said.splitlines()),
            tuple(Exchange(Call("bash", {"command": text}), Result(text, failed)) for text, failed in results),
            answer,
            answered=True,
        )
        for said, results, answer in past
    )
    written = "\n\n".join(form_turn(n, turn, in_progress=False, excerpt=1_000) for n, turn in enumerate(turns, 1))
    assert parse_summary(f"{HEADING}\n\n{written}") == turns


def test_an_interrupted_turn_is_over_when_a_new_prompt_comes(project: Path) -> None:
    talk = Conversation(project)
    talk.messages = [
        {"role": "user", "content": "run `sleep 100`"},
        {"role": "assistant", "content": [SLEEP]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": prompt.INTERRUPTED_RESULT, "is_error": True},
                {"type": "text", "text": prompt.INTERRUPTION_NOTE},
                {"type": "text", "text": "read a.txt"},
            ],
        },
    ]
    assert [turn.prompt for turn in read_request(talk.request()).turns] == ["run `sleep 100`", "read a.txt"]
    assert [call.name for call in calls_of(talk.step())] == ["read_file"]


def test_an_interrupted_call_is_reported_as_that(project: Path) -> None:
    talk = Conversation(project)
    talk.messages = [
        {"role": "user", "content": "run `sleep 100`"},
        {"role": "assistant", "content": [SLEEP]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": prompt.INTERRUPTED_RESULT, "is_error": True},
                {"type": "text", "text": prompt.INTERRUPTION_NOTE},
            ],
        },
    ]
    assert "interrupted" in text_of(talk.step())
