"""Which entry answers which request."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Json
from harness.practice.faults.model_faults import Reset, StatusFault
from harness.practice.script.entries import MIX, USUAL, Chance, PlayReply, ScriptEntry
from harness.practice.script.playback import Playback
from harness.practice.script.script import After, Script
from harness.practice.wire.replies import ApiError, say
from tests.practice.raw_client import request

ANY = request()
SUMMARY = request(messages=[{"role": "user", "content": "Write a summary of the conversation so far."}])


def asked(text: str) -> Json:
    return request(messages=[{"role": "user", "content": text}])


def words(script: str, *bodies: Json) -> list[str]:
    playback = Playback(Script.parse(script))
    return [_word(playback.next(body)) for body in bodies]


def _word(action: PlayReply | StatusFault | ApiError) -> str:
    match action:
        case PlayReply(None, _):
            return "pass"
        case PlayReply(reply) if reply is not None:
            return "".join(getattr(part, "text", "?") for part in reply.parts)
        case StatusFault(status):
            return str(status)
    return "error"


def test_entries_answer_in_order_as_often_as_they_say() -> None:
    script = '[[reply]]\ntext = "a"\n[[reply]]\nstatus = 529\ntimes = 2\n[[reply]]\ntext = "b"'
    assert words(script, *[ANY] * 5) == ["a", "529", "529", "b", "pass"]


TASK: Json = {"name": "agent", "input_schema": {"type": "object"}}
MAIN, AGENT = request(tools=[TASK]), request(tools=[TASK | {"name": "grep"}])


def test_an_agent_and_its_subagents_are_distinguished_by_their_tools() -> None:
    script = '[[reply]]\ntext = "m"\nwhen = { offers = "agent" }\n[[reply]]\ntext = "a"\nwhen = { lacks = "agent" }'
    assert words(script, AGENT, MAIN, MAIN, AGENT, ANY) == ["a", "m", "pass", "pass", "pass"]


def test_faults_at_random_for_agents_leave_the_others_alone_and_do_not_count_them() -> None:
    chance = '[chance]\nprobability = 0.5\nseed = 4\nfaults = ["overloaded"]\n'
    alone = words(chance, *[AGENT] * 20)
    assert set(alone) == {"529", "pass"}
    mixed = words(f'{chance}when = {{ lacks = "agent" }}', *[MAIN, AGENT] * 20)
    assert (mixed[::2], mixed[1::2]) == (["pass"] * 20, alone)


def test_after_the_list_it_repeats_or_refuses() -> None:
    entries = '[[reply]]\ntext = "a"\n[[reply]]\ntext = "b"'
    assert words(f'after = "repeat"\n{entries}', *[ANY] * 5) == ["a", "b", "a", "b", "a"]
    assert words(f'after = "error"\n{entries}', *[ANY] * 3) == ["a", "b", "error"]
    assert words('after = "repeat"', ANY) == ["error"]


def test_an_entry_with_when_waits_aside() -> None:
    script = '[[reply]]\ntext = "a"\n[[reply]]\ntext = "x"\nwhen = "TODO"\n[[reply]]\ntext = "b"'
    assert words(script, ANY, ANY, asked("find TODO"), asked("find TODO")) == ["a", "b", "x", "pass"]
    assert words(script, asked("find TODO"), asked("find TODO"), ANY) == ["x", "a", "b"]


def test_a_request_for_a_summary_uses_no_entry_of_the_list() -> None:
    script = '[[reply]]\ntext = "a"\n[[reply]]\ntext = "b"'
    assert words(script, ANY, SUMMARY, ANY) == ["a", "pass", "b"]


def test_a_request_for_a_summary_can_be_answered_by_its_own_entry() -> None:
    script = (
        '[[reply]]\ntext = "a"\n[[reply]]\nstatus = 529\nwhen = { purpose = "summary" }\n'
        '[[reply]]\ntext = "s"\nwhen = { purpose = "summary" }'
    )
    assert words(script, SUMMARY, ANY, SUMMARY, SUMMARY) == ["529", "a", "s", "pass"]


def test_tool_results_are_words_to_look_for() -> None:
    body = request(
        messages=[
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "3 tests failed"}]}
        ]
    )
    assert words('[[reply]]\ntext = "x"\nwhen = "tests failed"', body) == ["x"]


def test_a_fault_by_chance_uses_no_entry() -> None:
    script = Script((ScriptEntry(PlayReply(say("a"))),), After.ERROR, chance=Chance(1, mix=("reset", "overloaded")))
    playback = Playback(script)
    for _ in range(30):
        match playback.next(ANY):
            case PlayReply(reply, fault):
                assert reply == say("a")
                assert isinstance(fault, Reset)
            case other:
                assert other == StatusFault(529)


@given(seed=st.integers(0, 2**32), probability=st.floats(0, 1))
def test_the_same_seed_throws_the_same_faults(seed: int, probability: float) -> None:
    first, second = Chance(probability, seed).dice(), Chance(probability, seed).dice()
    assert [first.throw() for _ in range(20)] == [second.throw() for _ in range(20)]


def test_the_probability_is_about_right_and_the_mix_is_used() -> None:
    dice = Chance(0.2, 11).dice()
    thrown = [dice.throw() for _ in range(5000)]
    hits = [fault for fault in thrown if fault is not None]
    assert 900 < len(hits) < 1100
    assert len({type(fault) for fault in hits}) > 4
    assert set(USUAL) < set(MIX)
