"""/fault and /toolfault as words: valid orders, invalid ones, and the queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.practice.faults.model_faults import StatusFault
from harness.practice.faults.model_orders import AppliesTo, FaultQueue, break_model, cut, order_of
from harness.practice.faults.orders import MOST, OrderError
from harness.practice.faults.tool_orders import ToolFaultQueue, break_tool
from harness.practice.faults.words import MODEL_KINDS, TOOL_KINDS
from harness.practice.script.entries import PlayReply
from harness.practice.wire.replies import ScriptedReply, TextPart, ToolUse, say

TOOLS = ("bash", "grep", "read_file")
TURN = {"messages": [{"role": "user", "content": "Hello"}]}
SUMMARY = {"messages": [{"role": "user", "content": "Summarise the conversation so far."}]}


@pytest.mark.parametrize("blank", [" ", "-"])
def test_every_kind_is_understood_with_spaces_and_with_hyphens(blank: str) -> None:
    orders = {kind: order_of(f" {kind.upper().replace('-', blank)} 2 ") for kind in MODEL_KINDS}
    read = {kind: order and (order.kind, order.times, order.text) for kind, order in orders.items()}
    assert read == {kind: (kind, 2, f"{kind} 2") for kind in MODEL_KINDS}


@given(st.sampled_from(sorted(MODEL_KINDS)), st.integers(1, MOST), st.none() | st.integers(0, 80_000))
def test_an_order_is_typed_as_it_says_itself(kind: str, times: int, after: int | None) -> None:
    order = order_of(f"{kind} {times}")
    assert order
    if after is not None and isinstance(order.action, StatusFault):
        order = order_of(f"{kind} {times} after {after}")
        assert order
        assert isinstance(order.action, StatusFault)
        assert float(order.action.headers["retry-after"]) == pytest.approx(after, rel=1e-5)
    again = order_of(order.text)
    assert again
    assert (again.kind, again.times, again.strikes) == (order.kind, order.times, order.strikes)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("528", "There is no fault called '528'; did you mean 529?"),
        ("stal", "did you mean stall?"),
        ("cut tol", "There is no fault called 'cut tol'; did you mean cut-tool?"),
        ("zzz", "there are 529, 429"),
        ("529 0", "'0' is not a number of times; type one from 1 to 1,000."),
        ("529 -1", "'-1' is not a number of times"),
        ("529 ²", "'²' is not a number of times"),
        ("529 3 4", "'3 4' is not valid; type for example /fault 429 2 after 5."),
        ("429 after", "'after' is not a number of times"),
        ("429 2 after nan", "'nan' is not a number of seconds"),
        ("429 after 1e99", "'1e99' is not a number of seconds"),
        ("cut after 3", "cut has no wait; `after` is for status codes, such as 429."),
        ("off 3", "There is no fault called 'off'"),
    ],
)
def test_what_is_not_understood_is_one_sentence_with_what_can_be_typed(text: str, said: str) -> None:
    orders = FaultQueue()
    with pytest.raises(OrderError) as raised:
        break_model(text, orders)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
    assert orders.waiting == ()


@given(st.text(max_size=30))
def test_any_text_is_an_order_or_a_sentence(text: str) -> None:
    assert _said_of_model(text).endswith((".", "?"))
    assert _said_of_tool(text).endswith((".", "?"))


def _said_of_model(text: str) -> str:
    try:
        return break_model(text, FaultQueue()).said
    except OrderError as error:
        return str(error)


def _said_of_tool(text: str) -> str:
    try:
        return break_tool(text, ToolFaultQueue(), TOOLS).said
    except OrderError as error:
        return str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gerp timeout", "There is no tool called gerp; did you mean grep?"),
        ("zzz timeout", "there are bash, grep, read_file."),
        ("grep timout", "There is no tool fault 'timout'; did you mean timeout?"),
        ("grep", "'grep' is not valid; type for example /toolfault grep timeout 3."),
        ("grep timeout x", "'x' is not a number of times"),
    ],
)
def test_so_is_what_is_not_understood_about_a_tool(text: str, said: str) -> None:
    orders = ToolFaultQueue()
    with pytest.raises(OrderError) as raised:
        break_tool(text, orders, TOOLS)
    assert said in str(raised.value)
    assert orders.waiting == ()


def test_alone_both_list_every_kind_and_what_waits_and_change_nothing() -> None:
    orders, tool_orders = FaultQueue(), ToolFaultQueue()
    assert break_model("429 2 after 5", orders).ordered == "429 2 after 5"
    assert break_tool("grep timeout 3", tool_orders, TOOLS).ordered == "grep timeout 3"
    for listed, kinds, waits in (
        (break_model(" ", orders), MODEL_KINDS, "waiting: 429 2 after 5"),
        (break_tool("", tool_orders, TOOLS), TOOL_KINDS, "waiting: grep timeout 3"),
    ):
        lines = listed.said.splitlines()
        assert [line.split()[0] for line in lines[: len(kinds)]] == list(kinds)
        assert waits in lines
        assert listed.ordered == ""


def test_off_calls_off_what_is_left_and_says_how_much_that_was() -> None:
    orders = FaultQueue()
    break_model("529 3", orders)
    break_model("cut", orders)
    orders.next(TURN, lambda: None)
    assert [order.text for order in orders.waiting] == ["529 2", "cut"]
    assert break_model("off", orders).said == "Called off; 3 requests would have gone wrong."
    assert orders.waiting == ()
    nothing = break_model("off", orders)
    assert (nothing.said, nothing.ordered) == ("No fault was ordered.", "")


def test_orders_come_in_turn_and_one_that_is_not_for_a_request_lets_the_next_one_pass() -> None:
    orders = FaultQueue()
    for text in ("cut tool", "too long", "529"):
        break_model(text, orders)
    assert orders.next(SUMMARY, lambda: say("A summary.")) == StatusFault(529)
    assert [order.kind for order in orders.waiting] == ["cut-tool", "too-long"]
    first = orders.next(TURN, lambda: say("No call here."))
    assert isinstance(first, StatusFault)
    assert first.status == 400
    assert orders.next(TURN, lambda: ScriptedReply((ToolUse("bash"),))) is None
    call = ScriptedReply((TextPart("Look."), ToolUse("bash", {"command": "ls"})))
    second = orders.next(TURN, lambda: call)
    assert isinstance(second, PlayReply)
    assert second.reply == call
    assert orders.waiting == ()


def test_an_order_without_condition_takes_any_request_and_a_reply_that_would_be_an_error_is_left_alone() -> None:
    orders = FaultQueue()
    break_model("reset", orders)
    assert orders.next(TURN, lambda: None) is None
    assert orders.next(SUMMARY, lambda: say("A summary.")) is not None


@given(st.lists(st.text(max_size=20), max_size=4), st.integers(1, 9), st.integers(1, 9))
def test_a_cut_reply_is_a_beginning_of_the_reply_and_later_cuts_hold_more(
    texts: list[str], first: int, more: int
) -> None:
    reply = ScriptedReply((*map(TextPart, texts), ToolUse("bash", {"command": "ls"})))
    whole = "".join(texts)

    def said(share: float) -> str:
        parts = cut(reply, share).parts
        assert all(isinstance(part, TextPart) for part in parts)
        return "".join(part.text for part in parts if isinstance(part, TextPart))

    shorter, longer = said(first / 20), said((first + more) / 20)
    assert whole.startswith(longer)
    assert longer.startswith(shorter)
    assert cut(reply, 0.5).ending == "max_tokens"


def test_which_requests_a_kind_is_for() -> None:
    strikes = {kind: order.strikes for kind in MODEL_KINDS if (order := order_of(kind))}
    assert {kind for kind, where in strikes.items() if where is AppliesTo.CALL} == {"cut-tool", "garbage-tool"}
    assert strikes["529"] is strikes["reset"] is AppliesTo.ANY
    assert strikes["too-long"] is AppliesTo.TURN
