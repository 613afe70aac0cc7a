"""Counting requests offline, and learning from what the API reports."""

import base64
import gc
import hashlib
import lzma
import random
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import Encoding

from harness.events import Block, Message, Usage
from harness.model.tokens import (
    BLOCK_OVERHEAD,
    IMAGE_CAP,
    MESSAGE_OVERHEAD,
    PDF_FLOOR,
    SLICE,
    TOOLS_OVERHEAD,
    VOCABULARY_FILE,
    Count,
    Estimator,
    TokenCounter,
    estimated_from_bytes,
    load_vocabulary,
    vocabulary_intact,
)
from tests.model.conversations import call, chaos, result, text, thinking


@pytest.fixture(scope="module")
def counter() -> TokenCounter:
    counter = TokenCounter()
    assert counter.load()
    return counter


def user(*blocks: Block) -> Message:
    return Message("user", blocks)


def png(width: int, height: int) -> Block:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return {"type": "image", "source": {"type": "base64", "data": base64.b64encode(head).decode()}}


def image_of(head: bytes) -> Block:
    return {"type": "image", "source": {"type": "base64", "data": base64.b64encode(head).decode()}}


def bare(counter: TokenCounter, block: Block) -> int:
    return counter.count_message(user(block)) - MESSAGE_OVERHEAD - BLOCK_OVERHEAD


# ---- Counting -------------------------------------------------------------------------------------------------------


def test_before_loading_the_bytes_are_counted_and_after_it_the_tokens() -> None:
    counter = TokenCounter()
    message = user(text("antidisestablishmentarianism"))
    before = counter.loaded
    assert bare(counter, message.content[0]) == estimated_from_bytes("antidisestablishmentarianism")
    assert counter.count_request((), (), [message]) == counter.count_message(message)
    assert counter.load()
    assert counter.load(), "a second time does no harm"
    assert (before, counter.loaded) == (False, True)
    assert counter.count_message(message) == MESSAGE_OVERHEAD + BLOCK_OVERHEAD + 6


def test_a_request_is_the_sum_of_its_parts(counter: TokenCounter) -> None:
    system: list[Block] = [text("You are an agent.")]
    tools = [{"name": "bash", "description": "Runs a command.", "input_schema": {"type": "object"}}]
    messages = [user(text("one")), Message("assistant", (thinking("two"), call("t1", command="ls")))]
    whole = counter.count_request(system, tools, messages)
    assert whole == (
        counter.count_request(system, (), ())
        + counter.count_request((), tools, ())
        + sum(counter.count_message(message) for message in messages)
    )
    assert counter.count_request((), tools, ()) > TOOLS_OVERHEAD
    assert counter.count_request((), (), ()) == 0


def test_a_result_counts_its_blocks(counter: TokenCounter) -> None:
    assert bare(counter, result("t1", "hello world")) == 2
    assert bare(counter, result("t1", [text("hello world"), png(280, 280)])) == 2 + 100 + 2 * BLOCK_OVERHEAD


@pytest.mark.parametrize(
    ("image", "tokens"),
    [
        (png(280, 56), 20),
        (png(281, 57), 11 * 3),
        (png(8_000, 8_000), IMAGE_CAP),
        (png(0, 0), IMAGE_CAP),
        (image_of(b"GIF89a" + struct.pack("<HH", 28, 56)), 2),
        (image_of(b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 28, 84) + b"\x03"), 3),
        (image_of(b"\xff\xd8\xff\xe0\x00\x04ab"), IMAGE_CAP),
        (image_of(b"RIFF....WEBPVP8X" + b"." * 8 + (27).to_bytes(3, "little") + (55).to_bytes(3, "little")), 2),
        (image_of(b"RIFF....WEBPVP8L" + b"." * 5 + (27 | 55 << 14).to_bytes(4, "little")), 2),
        (image_of(b"RIFF....WEBPVP8 " + b"." * 10 + struct.pack("<HH", 28, 56)), 2),
        (image_of(b"something else"), IMAGE_CAP),
        ({"type": "image", "source": {"type": "base64", "data": "not base64 at all é"}}, IMAGE_CAP),
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, IMAGE_CAP),
        ({"type": "image"}, IMAGE_CAP),
    ],
)
def test_an_image_costs_a_token_for_each_square_of_28_pixels(counter: TokenCounter, image: Block, tokens: int) -> None:
    assert bare(counter, image) == tokens


def test_a_document_counts_by_its_size(counter: TokenCounter) -> None:
    def pdf(characters: int) -> Block:
        return {"type": "document", "source": {"type": "base64", "data": "A" * characters}}

    assert bare(counter, pdf(100)) == PDF_FLOOR
    assert bare(counter, pdf(4_000_000)) == 120_000


def test_encrypted_thinking_counts_by_its_length(counter: TokenCounter) -> None:
    assert bare(counter, {"type": "thinking", "thinking": "", "signature": "x" * 500}) == 100
    assert bare(counter, {"type": "redacted_thinking", "data": "x" * 500}) == 100


@settings(max_examples=100, deadline=None)
@given(history=chaos)
def test_anything_can_be_counted(counter: TokenCounter, history: tuple[Message, ...]) -> None:
    assert counter.count_request((), (), history) == sum(counter.count_message(message) for message in history)


def test_a_long_history_is_counted_once(counter: TokenCounter) -> None:
    words = random.Random(1).choices(["engine", "retry", "the", "socket\n", "stream(", "漢字"], k=400)
    history = [user(text(f"{number} {' '.join(words)}")) for number in range(2_000)]
    start = time.process_time()
    first = counter.count_request((), (), history)
    middle = time.process_time()
    second = counter.count_request((), (), [*history, user(text("one more"))])
    end = time.process_time()
    assert second == first + counter.count_message(user(text("one more")))
    assert end - middle < (middle - start) / 5


def test_counting_does_not_keep_old_histories(counter: TokenCounter) -> None:
    class Marked(dict[str, object]):
        """A block whose end can be seen."""

    def alive() -> int:
        return sum(isinstance(candidate, Marked) for candidate in gc.get_objects())

    for _ in range(4):
        counter.count_request((), (), [user(Marked(text("old"))) for _ in range(2_000)])
    counter.count_request((), (), [user(text("new"))])
    assert alive() == 0


# ---- Estimating -----------------------------------------------------------------------------------------------------


def estimator() -> Estimator:
    return Estimator(TokenCounter())


def test_before_any_report_the_published_ratio_is_taken() -> None:
    assert estimator().estimate("claude-opus-5-5", 1_000) == 1_500
    assert estimator().estimate("claude-sonnet-4-6", 1_000) == 1_200
    assert estimator().estimate("practice-1", 1_000) == 1_000
    assert estimator().estimate("who-knows", 1_000) == 1_500


def test_a_report_anchors_the_estimate_and_only_what_is_new_is_guessed() -> None:
    learned = estimator()
    learned.observe("claude-opus-5-5", 10_000, Usage(input=100, cache_creation=900, cache_read=13_000))
    assert learned.estimate("claude-opus-5-5", 10_000) == 14_000
    assert learned.ratio("claude-opus-5-5") == pytest.approx(1.45)
    assert learned.estimate("claude-opus-5-5", 11_000) == 15_450
    assert learned.estimate("claude-sonnet-5-5", 10_000) == 15_000, "one model's report says nothing of another"


def test_the_reported_output_is_part_of_the_anchor_when_the_reply_is_counted() -> None:
    learned = estimator()
    learned.observe("practice-1", 10_000, Usage(input=10_000, output=700), reply_count=500)
    assert learned.estimate("practice-1", 10_500) == 10_700


def test_a_shorter_history_than_the_known_one_is_estimated_from_the_ratio() -> None:
    learned = estimator()
    learned.observe("practice-1", 10_000, Usage(input=12_000))
    assert learned.estimate("practice-1", 1_000) == 1_100


def test_after_a_reset_the_ratio_stays_and_the_anchor_is_gone() -> None:
    learned = estimator()
    learned.observe("practice-1", 10_000, Usage(input=20_000))
    learned.reset()
    assert learned.estimate("practice-1", 10_000) == 15_000


def test_a_report_without_numbers_teaches_nothing() -> None:
    learned = estimator()
    learned.observe("practice-1", 10_000, Usage(output=5))
    learned.observe("practice-1", 0, Usage(input=5))
    assert learned.estimate("practice-1", 10_000) == 10_000


def test_a_tiny_request_anchors_but_does_not_teach_the_ratio() -> None:
    learned = estimator()
    learned.observe("practice-1", 20, Usage(input=60))
    assert learned.ratio("practice-1") == 1.0
    assert learned.estimate("practice-1", 20) == 60


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**7)), max_size=20), st.integers(0, 10**6))
def test_the_ratio_stays_in_its_bounds_and_no_estimate_is_negative(reports: list[tuple[int, int]], size: int) -> None:
    learned = estimator()
    for counted, tokens in reports:
        learned.observe("m", counted, Usage(input=tokens))
        assert Estimator.RATIO_MIN <= learned.ratio("m") <= Estimator.RATIO_MAX
    assert learned.estimate("m", size) >= 0


@settings(deadline=None, max_examples=30)
@given(st.floats(1.0, 2.2), st.integers(0, 200), st.randoms(use_true_random=False))
def test_over_a_conversation_the_estimate_is_close(true_ratio: float, overhead: int, chance: random.Random) -> None:
    """A model whose tokens are a fixed multiple of ours, with some noise in each step."""
    learned, counted, tokens = estimator(), 3_000, 3_000 * true_ratio + overhead
    for step in range(30):
        if step >= 5:
            assert learned.estimate("m", counted) == pytest.approx(tokens, rel=0.05)
        learned.observe("m", counted, Usage(input=round(tokens)))
        added = chance.randint(50, 2_000)
        counted += added
        tokens += added * true_ratio * chance.uniform(0.85, 1.15)


@given(
    counted=st.integers(2_000, 100_000),
    tokens=st.integers(2_000, 150_000),
    more=st.integers(0, 5_000),
    factor=st.floats(0.7, 1.4),
)
def test_knowledge_survives_another_way_of_counting(counted: int, tokens: int, more: int, factor: float) -> None:
    known = Estimator(TokenCounter())
    known.observe("m", counted, Usage(input=tokens))
    anew = known.recounted(counted, round(counted * factor))
    assert anew.estimate("m", round(counted * factor)) == tokens
    if 0.8 / 0.7 <= known.ratio("m") <= 2.5 * 0.7:
        assert anew.ratio("m") == pytest.approx(known.ratio("m") / factor, rel=0.01)
        after = anew.estimate("m", round((counted + more) * factor))
        assert after == pytest.approx(known.estimate("m", counted + more), rel=0.02, abs=5)


def test_nothing_is_known_from_requests_that_cannot_be_compared() -> None:
    known = Estimator(TokenCounter())
    known.observe("m", 5_000, Usage(input=9_000))
    assert known.recounted(0, 10).estimate("m", 1_000) == Estimator(TokenCounter()).estimate("m", 1_000)


ORIGINAL_PATTERN = "|".join(
    [
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    ]
)
"""From tiktoken's own source."""


@pytest.fixture(scope="module")
def count() -> Count:
    loaded = load_vocabulary()
    assert loaded is not None
    return loaded


@pytest.fixture(scope="module")
def original() -> Encoding:
    """The encoding as tiktoken would build it, read from the vendored file in another way."""
    data = memoryview(lzma.decompress(VOCABULARY_FILE.read_bytes()))
    ranks: dict[bytes, int] = {}
    while data:
        ranks[bytes(data[1 : 1 + data[0]])] = len(ranks)
        data = data[1 + data[0] :]
    return Encoding("original", pat_str=ORIGINAL_PATTERN, mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("antidisestablishmentarianism", 6), ("2 + 2 = 4", 7), ("お誕生日おめでとう", 8), ("hello world", 2)],
)
def test_it_counts_what_openai_documents_for_o200k(count: Count, text: str, tokens: int) -> None:
    assert count(text) == tokens


def test_the_vendored_file_holds_the_ranks_that_tiktoken_expects(original: Encoding) -> None:
    lines = [
        b"%s %d" % (base64.b64encode(original.decode_single_token_bytes(rank)), rank)
        for rank in range(original.n_vocab)
    ]
    digest = hashlib.sha256(b"\n".join(lines) + b"\n").hexdigest()
    assert digest == "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab Z'sé漢1_\t\n\r/.!") | st.characters(exclude_categories=["Cs"]), max_size=60))
def test_the_possessive_tail_counts_like_the_original_pattern(count: Count, original: Encoding, text: str) -> None:
    assert count(text) == len(original.encode_ordinary(text))


def test_it_counts_its_own_source_like_the_original_pattern(count: Count, original: Encoding) -> None:
    text = Path(__file__).read_text()
    assert count(text) == len(original.encode_ordinary(text))


def test_slices_cost_next_to_nothing(count: Count, original: Encoding) -> None:
    text = Path(__file__).read_text() * 50
    assert len(text) > 2 * SLICE
    assert count(text) == pytest.approx(len(original.encode_ordinary(text)), rel=0.001)


def test_names_of_special_tokens_and_broken_text_are_just_text(count: Count) -> None:
    assert count("<|endoftext|>") > 1
    assert count("half \ud800 a pair") > 3


def test_a_missing_or_altered_file_gives_no_vocabulary(tmp_path: Path) -> None:
    assert vocabulary_intact()
    assert load_vocabulary(tmp_path / "missing.xz") is None
    for content in (b"", b"nonsense", VOCABULARY_FILE.read_bytes()[:-1]):
        (tmp_path / "altered.xz").write_bytes(content)
        assert load_vocabulary(tmp_path / "altered.xz") is None
        assert not vocabulary_intact(tmp_path / "altered.xz")
    assert load_vocabulary(tmp_path) is None, "a folder is no file"


def test_without_a_vocabulary_a_token_is_three_bytes() -> None:
    assert [estimated_from_bytes(text) for text in ("", "a", "abc", "abcd", "漢字", "\ud800")] == [0, 1, 1, 2, 2, 1]


@pytest.mark.stories
def test_endless_white_space_is_counted_without_network_and_without_a_word_on_stderr() -> None:
    program = """
import sys

def no_network(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(event)

sys.addaudithook(no_network)
from harness.model.tokens import load_vocabulary
count = load_vocabulary()
for text in (" " * 1_000_000, " \\t" * 500_000, "\\n" * 1_000_000, "a" * 1_000_000, "^" * 1_000_000):
    assert 0 < count(text) <= len(text)
assert "requests" not in sys.modules
print("counted")
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("counted\n", "", 0)
