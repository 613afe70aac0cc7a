"""The vendored vocabulary: the right one, without network, and never a reason to fail."""

import base64
import hashlib
import lzma
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import Encoding

from harness.model import vocabulary
from harness.model.vocabulary import Count, estimated_from_bytes, intact, load

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
"""As it stands in tiktoken's own source."""


@pytest.fixture(scope="module")
def count() -> Count:
    loaded = load()
    assert loaded is not None
    return loaded


@pytest.fixture(scope="module")
def original() -> Encoding:
    """The encoding as tiktoken would build it, read from the vendored file in another way."""
    data = memoryview(lzma.decompress(vocabulary.FILE.read_bytes()))
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
    text = Path(vocabulary.__file__).read_text()
    assert count(text) == len(original.encode_ordinary(text))


def test_slices_cost_next_to_nothing(count: Count, original: Encoding) -> None:
    text = Path(vocabulary.__file__).read_text() * 50
    assert len(text) > 2 * vocabulary.SLICE
    assert count(text) == pytest.approx(len(original.encode_ordinary(text)), rel=0.001)


def test_names_of_special_tokens_and_broken_text_are_just_text(count: Count) -> None:
    assert count("<|endoftext|>") > 1
    assert count("half \ud800 a pair") > 3


def test_a_missing_or_altered_file_gives_no_vocabulary(tmp_path: Path) -> None:
    assert intact()
    assert load(tmp_path / "missing.xz") is None
    for content in (b"", b"nonsense", vocabulary.FILE.read_bytes()[:-1]):
        (tmp_path / "altered.xz").write_bytes(content)
        assert load(tmp_path / "altered.xz") is None
        assert not intact(tmp_path / "altered.xz")
    assert load(tmp_path) is None, "a folder is no file"


def test_without_a_vocabulary_a_token_is_three_bytes() -> None:
    assert [estimated_from_bytes(text) for text in ("", "a", "abc", "abcd", "漢字", "\ud800")] == [0, 1, 1, 2, 2, 1]


def test_endless_white_space_is_counted_without_network_and_without_a_word_on_stderr() -> None:
    program = """
import sys

def no_network(event, arguments):
    if event.startswith("socket."):
        raise RuntimeError(event)

sys.addaudithook(no_network)
from harness.model.vocabulary import load
count = load()
for text in (" " * 1_000_000, " \\t" * 500_000, "\\n" * 1_000_000, "a" * 1_000_000, "^" * 1_000_000):
    assert 0 < count(text) <= len(text)
assert "requests" not in sys.modules
print("counted")
"""
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False)
    assert (finished.stdout, finished.stderr, finished.returncode) == ("counted\n", "", 0)
