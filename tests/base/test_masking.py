"""Known keys are taken out of texts, events and files, and nothing else is changed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.secrets import LONGEST_REST, MASK, Masking, Secret
from harness.events import Message, MessageAdded, Notice, Origin, TextDelta, ToolEnded, ToolOutcome

KEY = "sk-ant-api03-" + "Ab3_x9-Q" * 11
SHORT = "hunter2!"
QUOTED = 'pass"wd\\7/é%x'


def knowing(*keys: str) -> Masking:
    return Masking(map(Secret, keys))


@pytest.mark.parametrize("key", [KEY, SHORT, QUOTED])
def test_a_key_is_masked_wherever_it_is(key: str) -> None:
    masking = knowing(key)
    assert masking.text(f"{key} and A={key}\n{key}{key}") == f"{MASK} and A={MASK}\n{MASK}{MASK}"
    assert key not in masking.text(json.dumps({"a": key}))
    assert masking.used


def test_a_key_in_an_address_is_masked() -> None:
    assert knowing("p/ss word=9").text("http://me:p%2Fss%20word%3D9@host") == f"http://me:{MASK}@host"


@pytest.mark.parametrize("word", ["", "practice", "ollama", "lm-studio", "no-key-needed", "short", "x" * 7])
def test_a_placeholder_is_a_word_like_any_other(word: str) -> None:
    masking = knowing(word)
    assert masking.text(f"the {word} model") == f"the {word} model"
    assert not masking.used


@given(st.integers(0, len(KEY)), st.text(alphabet="ab- \n", max_size=8))
def test_a_key_that_was_cut_leaves_less_than_a_rest(cut: int, around: str) -> None:
    masking = knowing(KEY)
    for shown in (masking.text(around + KEY[:cut] + " …"), masking.text("… " + KEY[cut:] + around)):
        assert not any(KEY[at : at + LONGEST_REST] in shown for at in range(len(KEY) - LONGEST_REST + 1))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert knowing(KEY, SHORT).text(text) is text


def test_every_text_of_an_event_is_masked_and_an_event_without_keys_is_the_same_object() -> None:
    masking = knowing(KEY)
    block = {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": f"echo {KEY}", "list": [KEY, 1]}}
    added = masking.value(MessageAdded(Message("assistant", (block,)), Origin.REPLY))
    assert added.message.content[0]["input"] == {"command": f"echo {MASK}", "list": [MASK, 1]}
    assert block["input"]["command"] == f"echo {KEY}", "the original is not changed in place"  # type: ignore[index]
    ended = masking.value(ToolEnded("1", "bash", ToolOutcome.OK, KEY, 0.0, f"a\n{KEY}", None))
    assert (ended.summary, ended.detail) == (MASK, f"a\n{MASK}")
    for event in (Notice("info", "nothing"), TextDelta("nothing")):
        assert masking.value(event) is event


def test_a_key_that_is_learnt_later_is_masked_from_then_on() -> None:
    masking = knowing(KEY)
    masking.learn([Secret("another-key-4711")])
    assert masking.text(f"{KEY} another-key-4711") == f"{MASK} {MASK}"


def test_a_file_keeps_its_length_and_all_its_other_bytes(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    before = (
        b"\xff\x00" + KEY.encode() + b"\n" + "é".encode() * 700_000 + KEY.encode() + b"x" * 1_100_000 + KEY.encode()
    )
    file.write_bytes(before)
    knowing(KEY).file(file)
    assert file.read_bytes() == before.replace(KEY.encode(), b"*" * len(KEY))


@pytest.mark.parametrize("place", range((1 << 20) - len(KEY) - 1, (1 << 20) + 2, 7))
def test_a_key_across_two_blocks_of_a_file_is_found(tmp_path: Path, place: int) -> None:
    file = tmp_path / "out.txt"
    file.write_bytes(b"-" * place + KEY.encode() + b"-" * 500)
    knowing(KEY).file(file)
    assert KEY.encode() not in file.read_bytes()


@given(st.lists(st.integers(1, 60), max_size=12))
def test_a_file_that_grows_by_any_pieces_is_masked_from_where_it_was_left(sizes: list[int]) -> None:
    from tempfile import TemporaryDirectory

    whole = (b"before\n" + KEY.encode() + b"\nbetween\n" + KEY.encode() + b"\nafter\n") * 2
    masking, start, at = knowing(KEY), 0, 0
    with TemporaryDirectory() as folder:
        file = Path(folder) / "out.txt"
        file.write_bytes(b"")
        for size in (*sizes, len(whole)):
            with file.open("ab") as growing:
                growing.write(whole[at : at + size])
            at += size
            start = masking.file(file, start)
        assert file.read_bytes() == whole.replace(KEY.encode(), b"*" * len(KEY))


def test_a_file_that_is_missing_or_read_only_is_left_alone(tmp_path: Path) -> None:
    assert knowing(KEY).file(tmp_path / "none.txt", 7) == 7
    assert not (tmp_path / "none.txt").exists()
