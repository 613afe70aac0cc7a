"""Scripts: the meaning of each key, and errors for unusable scripts."""

from pathlib import Path

import pytest

from harness.events import Json
from harness.practice import script
from harness.practice.checks.rules import Profile
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import KINDS, StatusFault
from harness.practice.requests import Purpose
from harness.practice.script.entries import MIX, Chance, PlayReply, ScriptEntry, When
from harness.practice.script.script import After, Script
from harness.practice.toml_table import ScriptError
from harness.practice.wire.replies import RawBlock, ReplyUsage, ScriptedReply, TextPart, ThinkingPart, ToolUse

DOCUMENT = Path(script.__file__).with_name("SCRIPTS.md")


def only(text: str) -> ScriptEntry:
    (step,) = Script.parse("[[reply]]\n" + text).steps
    return step


def test_content_in_its_usual_order() -> None:
    step = only('thinking = "hm"\ntext = "Hi"\ntools = [ { name = "ls", input = { path = "." } } ]')
    assert step.action == PlayReply(ScriptedReply((ThinkingPart("hm"), TextPart("Hi"), ToolUse("ls", {"path": "."}))))


def test_content_in_any_order() -> None:
    step = only(
        'content = [ { name = "ls", id = "toolu_1", raw_input = "[" }, { text = "Hi" }, '
        '{ thinking = "hm", signed = false }, { block = { type = "new" } } ]'
    )
    parts = (
        ToolUse("ls", {}, "toolu_1", "["),
        TextPart("Hi"),
        ThinkingPart("hm", signed=False),
        RawBlock({"type": "new"}),
    )
    assert step.action == PlayReply(ScriptedReply(parts))


def test_pace_stop_reason_and_usage() -> None:
    step = only(
        'text = "x"\nstop_reason = "max_tokens"\nchunk = 3\ndelay = 1\nevent_delay = 0.5\nusage = { output_tokens = 9 }'
    )
    assert step.action == PlayReply(
        ScriptedReply((TextPart("x"),), "max_tokens", 3, 1, 0.5, ReplyUsage(output_tokens=9))
    )


def test_a_profile_of_the_models() -> None:
    script = Script.parse('[profile]\nthinking = "none"\ndisplay = "summarized"\ntokens = 9\nsummary_tokens = 7')
    assert script.rules.profile == Profile(thinks=False, shows_thinking=True, tokens=9, summary_tokens=7)
    script = Script.parse('[server]\nwindow = 8000\n[profile]\nthinking = "adaptive"\ndisplay = "omitted"')
    assert script.rules.profile == Profile(thinks=True, shows_thinking=False)
    assert script.rules.window == 8_000


def test_the_tokens_and_the_details_of_a_reply() -> None:
    step = only('text = "No."\ntokens = 90\nstop_reason = "refusal"\nstop_details = { category = "cyber" }')
    details = {"category": "cyber"}
    assert step.action == PlayReply(ScriptedReply((TextPart("No."),), "refusal", stop_details=details, tokens=90))


def test_an_empty_text_is_an_empty_reply() -> None:
    assert only('text = ""').action == PlayReply(ScriptedReply(()))


def test_a_status_fault() -> None:
    step = only('status = 429\nheaders = { retry-after = "1" }\ndelay = 2\ntimes = 3')
    assert step == ScriptEntry(StatusFault(429, headers={"retry-after": "1"}, delay_s=2), times=3)


def test_a_fault_alone_is_put_into_what_the_model_behind_says() -> None:
    assert only('fault = "reset"').action == PlayReply(None, model_faults.Reset())
    assert only("pass = true").action == PlayReply(None, None)


def test_times_and_when() -> None:
    assert only('text = ""\ntimes = "forever"').times is None
    assert only('text = ""\nwhen = "TODO"').when == When(text="TODO")
    assert only('text = ""\nwhen = { purpose = "summary", model = "opus" }').when == When(None, Purpose.SUMMARY, "opus")


def test_an_entry_may_be_for_requests_with_or_without_a_tool() -> None:
    assert only('text = ""\nwhen = { offers = "agent" }').when == When(offers="agent")
    assert only('text = ""\nwhen = { lacks = "agent" }').when == When(lacks="agent")


def test_what_an_entry_asks_of_the_tools_of_a_request_is_kept() -> None:
    offered: list[Json] = [{"tools": [{"name": name, "input_schema": {}}]} for name in ("agent", "bash")]
    assert [When(offers="agent").fits(body) for body in offered] == [True, False]
    assert [When(lacks="agent").fits(body) for body in offered] == [False, True]


def test_faults_at_random_may_be_for_some_requests_only() -> None:
    script = Script.parse('[chance]\nprobability = 1\nfaults = ["refused"]\nwhen = { lacks = "agent" }')
    assert script.chance == Chance(1, 0, ("refused",), When(lacks="agent"))


def test_a_call_can_be_repeated_each_with_its_number() -> None:
    step = only(
        'tools = [ { name = "agent", times = 3, input = { prompt = "Part {n}", tools = ["{n}"], steps = 1 } } ]'
    )
    calls = tuple(ToolUse("agent", {"prompt": f"Part {n}", "tools": [str(n)], "steps": 1}) for n in (1, 2, 3))
    assert step.action == PlayReply(ScriptedReply(calls))
    step = only('content = [ { text = "a" }, { name = "x", times = 2, raw_input = "{{n}" }, { text = "b" } ]')
    broken = (ToolUse("x", {}, None, "{1"), ToolUse("x", {}, None, "{2"))
    assert step.action == PlayReply(ScriptedReply((TextPart("a"), *broken, TextPart("b"))))


def test_the_server_and_the_chance() -> None:
    script = Script.parse(
        'after = "repeat"\n[server]\nwindow = 900\nmax_output = 80\nkey = "k"\nmodels = ["claude-opus-4-5", "mine"]\n'
        'checks = "off"\noverflow = "error"\nkey_required = false\nbind_thinking = true\nbetas = ["new-2027-01-01"]\n'
        '[chance]\nprobability = 0.5\nseed = 3\nfaults = ["reset"]'
    )
    assert script.after is After.REPEAT
    assert script.chance == Chance(0.5, 3, ("reset",))
    model = script.rules.model("mine")
    assert model is not None
    assert (model.window, model.max_output, model.strict_overflow) == (900, 80, True)
    assert script.rules.model("practice-1") is None
    assert not script.rules.strict
    assert script.rules.betas == {"new-2027-01-01"}


def test_every_fault_is_read_by_its_name_and_documented() -> None:
    read = {kind: only(f'text = "x"\nfault = "{kind}"').action for kind in KINDS}
    assert read == {kind: PlayReply(ScriptedReply((TextPart("x"),)), fault()) for kind, fault in KINDS.items()}
    document = DOCUMENT.read_text("utf-8")
    assert [name for name in (*KINDS, *MIX) if f"`{name}`" not in document] == []


def test_the_fields_of_a_fault() -> None:
    step = only('fault = { kind = "cut_tool", characters = 3, ending = "reset", tool = 2 }')
    assert step.action == PlayReply(None, model_faults.CutTool(3, "reset", 2))
    assert only('fault = { kind = "omit", events = ["ping"] }').action == PlayReply(None, model_faults.Omit(("ping",)))
    assert only('fault = { kind = "pings_only", at = "headers", count = 0 }').action == PlayReply(
        None, model_faults.PingsOnly("headers", count=0)
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x =", "s.toml is not valid TOML: "),
        ("x = " + "[" * 5000, "s.toml: is nested too deeply"),
        ("replay = 1", "s.toml: 'replay' is not known; did you mean 'reply'?"),
        ("[reply]\ntext = ''", "s.toml: reply must be a list of tables; write [[reply]]"),
        ('after = "repaet"', "s.toml: after = 'repaet' is not known; did you mean 'repeat'?"),
        ("[server]\nwindw = 3", "s.toml, [server]: 'windw' is not known; did you mean 'window'?"),
        ("[server]\nwindow = 0", "s.toml, [server]: window must be at least 1, not 0"),
        (
            "[profile]\nthinking = 'adaptative'",
            "s.toml, line 2: thinking = 'adaptative' is not known; did you mean 'ad",
        ),
        ("# x\n\n[profile]\ntokens = 1\ndisplay = 'none'", "s.toml, line 5: display = 'none' is not known; known are"),
        ("[server]\nwindow = 1\n[profile]\ntokns = 3", "s.toml, line 4: 'tokns' is not known; did you mean 'tokens'?"),
        ("profile = { tokens = 0 }", "s.toml, line 1: tokens must be at least 1, not 0"),
        ("\n[profile]\n'summary_tokens' = 'x'", "s.toml, line 3: summary_tokens must be a whole number, not 'x'"),
        ("[[reply]]\ntext = ''\ntokens = 0", "s.toml, entry 1: tokens must be at least 1, not 0"),
        ("[[reply]]\nstatus = 500\nstop_details = {}", "s.toml, entry 1: stop_details does not go with status"),
        ("[chance]\nseed = 3", "s.toml, [chance]: probability is missing"),
        ("[chance]\nprobability = 3", "s.toml, [chance]: probability must be between 0 and 1, not 3"),
        (
            '[chance]\nprobability = 1\nfaults = ["rest"]',
            "s.toml, [chance]: faults = 'rest' is not known; did you mean 'reset'?",
        ),
        ("[chance]\nprobability = 1\nfaults = []", "s.toml, [chance]: faults must name at least one of"),
        ("[[reply]]", "s.toml, entry 1: says nothing; give text"),
        ("[[reply]]\ntext = 1", "s.toml, entry 1: text must be a string, not 1"),
        ("[[reply]]\ntext = ''\n[[reply]]\ntxt = ''", "s.toml, entry 2: 'txt' is not known; did you mean 'text'?"),
        ("[[reply]]\ntext = ''\ntool = []", "s.toml, entry 1: 'tool' is not known; did you mean 'tools'?"),
        ("[[reply]]\ntext = ''\nstatus = 500", "s.toml, entry 1: text does not go with status"),
        ("[[reply]]\nstatus = 99", "s.toml, entry 1: status must be at least 100"),
        ("[[reply]]\nstatus = 900", "s.toml, entry 1: status must be between 200 and 599, not 900"),
        (
            "[[reply]]\nstatus = 429\nheaders = { retry-after = 1 }",
            "s.toml, entry 1: header retry-after must be an ASCII string",
        ),
        (
            "[[reply]]\nstatus = 429\nheaders = { \"a b\" = '1' }",
            "s.toml, entry 1: header 'a b' is not a header's name",
        ),
        (
            "[[reply]]\nstatus = 429\nheaders = { content-length = '1' }",
            "s.toml, entry 1: header content-length is set by the server",
        ),
        ("[[reply]]\nstatus = 429\nheaders = { x = 'ä' }", "s.toml, entry 1: header x must be an ASCII string"),
        ("[[reply]]\nstatus = 429\ncontent_type = 'ä'", "s.toml, entry 1: content_type must be an ASCII string"),
        ("[[reply]]\ntext = ''\nmessage = 'x'", "s.toml, entry 1: message needs a status beside it"),
        ("[[reply]]\nfault = 'reset'\nchunk = 3", "s.toml, entry 1: chunk needs content beside it"),
        (
            "[[reply]]\ntext = ''\ntimes = 0",
            's.toml, entry 1: times must be a whole number from 1, or "forever", not 0',
        ),
        ("[[reply]]\ntext = ''\ndelay = true", "s.toml, entry 1: delay must be a number, not True"),
        ("[[reply]]\ntext = ''\npass = true", "s.toml, entry 1: pass does not go with content"),
        ("[[reply]]\ntext = ''\ncontent = []", "s.toml, entry 1: text does not go with content"),
        ("[[reply]]\ncontent = [ {} ]", "s.toml, entry 1, content 1: must have exactly one of text"),
        ("[[reply]]\ncontent = [ { block = {} } ]", "s.toml, entry 1, content 1: block must have a type"),
        ("[[reply]]\ntools = [ { input = {} } ]", "s.toml, entry 1, tools 1: name is missing"),
        (
            "[[reply]]\ntools = [ { name = 'a', input = {}, raw_input = '' } ]",
            "s.toml, entry 1, tools 1: input does not go",
        ),
        ("[[reply]]\ntools = 3", "s.toml, entry 1: tools must be a list of tables, not 3"),
        ("[[reply]]\nfault = 'rest'", "s.toml, entry 1: fault = 'rest' is not known; did you mean 'reset'?"),
        ("[[reply]]\nfault = { at = 3 }", "s.toml, entry 1, fault: kind is missing"),
        ("[[reply]]\nfault = { kind = 'reset', when = 3 }", "s.toml, entry 1, fault: 'when' is not known"),
        ("[[reply]]\nfault = { kind = 'reset', at = -1 }", "s.toml, entry 1, fault: at must be at least 0, not -1"),
        (
            "[[reply]]\nfault = { kind = 'reset', at = 'the end' }",
            "s.toml, entry 1, fault: at = 'the end' is not known",
        ),
        (
            "[[reply]]\ntools = [ { name = 'x', id = 'toolu_1', times = 2 } ]",
            "s.toml, entry 1, tools 1: id does not go with times",
        ),
        (
            "[[reply]]\ntools = [ { name = 'x', times = 0 } ]",
            "s.toml, entry 1, tools 1: times must be at least 1, not 0",
        ),
        ("[[reply]]\ntext = ''\nwhen = {}", "s.toml, entry 1, when: names nothing"),
        ("[[reply]]\ntext = ''\nwhen = { purpose = 'sum' }", "s.toml, entry 1, when: purpose = 'sum' is not known"),
        ("[[reply]]\ntext = ''\nusage = { tokens = 1 }", "s.toml, entry 1, usage: 'tokens' is not known"),
    ],
)
def test_a_bad_script_gets_one_sentence(text: str, said: str) -> None:
    with pytest.raises(ScriptError) as raised:
        Script.parse(text, "s.toml")
    sentence = str(raised.value)
    assert sentence.startswith(said)
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_a_script_is_loaded_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[[reply]]\ntext = "ä"', "utf-8")
    script = Script.load(file)
    assert script.steps == (ScriptEntry(PlayReply(ScriptedReply((TextPart("ä"),)))),)
    assert script.name == str(file)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name, said in (
        ("missing.toml", "there is no such script file"),
        ("binary.toml", "cannot be read"),
        ("", "is not a regular file"),
    ):
        with pytest.raises(ScriptError, match=said) as raised:
            Script.load(tmp_path / name)
        assert str(tmp_path / name) in str(raised.value)


def test_every_shipped_script_is_loaded_by_its_name_and_documented() -> None:
    names = Script.shipped()
    assert names
    assert [Script.load(name).name for name in names] == [f"{name}.toml" for name in names]
    document = DOCUMENT.read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in document] == []


def test_the_examples_of_the_document_are_scripts() -> None:
    examples = DOCUMENT.read_text("utf-8").split("```toml\n")[1:]
    assert examples
    for example in examples:
        assert Script.parse(example.partition("```")[0], "SCRIPTS.md") != Script(name="SCRIPTS.md")
