"""Signatures: the same for one cause, different for others, and none for an unknown one."""

import re
import time
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FailureCategory
from harness.policies.breakers.failure_signature import LONGEST, MOST_READ, normalised, signature_of, suspected_root

C = FailureCategory

NORMALISED = [
    ("Connection refused", "connection refused"),
    ("[Errno 111] Connection refused", "errno connection refused"),
    ("curl: (7) Failed to connect to api.example.com port 443", "curl failed to connect to port"),
    ("GET https://example.com/a?b=c gave 503 Service Unavailable", "get gave service unavailable"),
    ("/var/lib/x: No such file or directory", "no such file or directory"),
    ("~/notes/a.txt, ../b.txt and src/main.py:12:3: gone", "and gone"),
    (r"C:\Users\ada\x.txt and \\server\share are gone", "and are gone"),
    ("Input/output error", "input output error"),
    ("cannot open 'my file', \"yours\", `ours` or ‘theirs’", "cannot open or"),
    ("can't open the socket, it didn't answer", "can t open the socket it didn t answer"),
    ("at 2026-11-21T07:51:45Z, Sat Nov 21 07:51:45 UTC 2026, after 1.5 s or 20ms", "at after or"),
    ("commit deadbeefcafe, 0xFF, 3f2a and 123e4567-e89b-12d3-a456-426614174000", "commit and"),
    ("no route from 10.0.0.1:80 to fe80:0:0:0:a:b:c:d over aa:bb:cc:dd:ee:ff", "no route from to over"),
    ("worker3 of pool_12 lost job_id", "of lost job id"),
    ("接続が拒否されました (111)", "接続が拒否されました"),
    ("", ""),
    ("12:30 0xff /tmp", ""),
]


@pytest.mark.parametrize(("text", "words"), NORMALISED, ids=[text for text, _ in NORMALISED])
def test_what_differs_from_case_to_case_is_left_out(text: str, words: str) -> None:
    assert normalised(text) == words


SIGNATURES = [
    (C.TRANSPORT, "weather failed: ConnectionRefusedError: [Errno 111] Connection refused", "connection refused"),
    (C.TRANSPORT, "weather failed: BrokenPipeError: [Errno 32] Broken pipe", "broken pipe"),
    (C.SYSTEM, "data/a.txt: Input/output error", "input output"),
    (C.SYSTEM, "weather failed inside: OSError: [Errno 5] Input/output error: '/mnt/x'", "input output"),
    (C.SYSTEM, "weather failed: OSError: [Errno 28] No space left on device", "no space left device"),
    (C.CANNOT_START, "exit 127 (command not found)", "not found"),
    (C.KILLED, "exit 137 (killed by SIGKILL)", "killed sigkill"),
    (C.KILLED, "killed by SIGKILL", "killed sigkill"),
    (C.CRASHED, "weather failed: MemoryError: ", "memoryerror"),
    (C.CRASHED, "weather failed: OperationalError: database is locked", "database locked"),
]


@pytest.mark.parametrize(("category", "text", "words"), SIGNATURES, ids=[text for _, text, _ in SIGNATURES])
def test_a_signature_is_the_category_and_what_the_text_says(category: C, text: str, words: str) -> None:
    assert signature_of(category, text, "weather") == f"{category.value}: {words}"


UNKNOWN = [
    *("", "error", "Error.", "ERROR!", "failed", "failure", "unknown error", "an unexpected error"),
    *("exit 1", "exit code 3"),
    *(
        "something went wrong",
        "internal error",
        "Traceback",
        "error 0x80004005 at 12:30",
        "KeyError: 'city'",
        "ValueError",
    ),
    *(
        "weather failed: RuntimeError: ",
        "weather failed inside: Exception: 42",
        "failed: '/tmp/x'",
        "null",
        "???",
        "(no output)",
    ),
]


def test_a_text_that_says_nothing_gives_no_signature() -> None:
    categories = (C.CRASHED, C.KILLED, C.REFUSED, C.SYSTEM, C.CANNOT_START)
    found = {(one, text): signature_of(one, text, "weather") for one in categories for text in UNKNOWN}
    assert {where: signature for where, signature in found.items() if signature} == {}


@pytest.mark.parametrize("category", [C.TIMEOUT, C.TRANSPORT])
def test_that_nothing_answers_is_known_without_a_word(category: C) -> None:
    assert signature_of(category, "error") == category.value


def test_time_outs_are_the_same_however_they_are_said() -> None:
    said = ["timed out after 2 s", "timed out after 120 s; 5 matches", "ReadTimeout: the server took 10 minutes", ""]
    assert {signature_of(C.TIMEOUT, text) for text in said} == {"timeout"}


CAUSES = [
    (
        "transport: connection refused",
        [
            "weather failed: ConnectionRefusedError: [Errno 111] Connection refused",
            "weather failed: ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 1)",
            "weather failed: OSError: Multiple exceptions: [Errno 111] Connect call failed ('::1', 1, 0, 0), …",
            "weather failed: ConnectionRefusedError: ",
            "weather failed: URLError: <urlopen error [Errno 111] Connection refused>",
            "weather failed: ConnectError: All connection attempts failed",
            "curl: (7) Failed to connect to localhost port 1: Connection refused",
            "curl: (7) Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server",
            "ssh: connect to host build port 22: Connection refused",
        ],
    ),
    (
        "transport: connection reset",
        [
            "weather failed: ConnectionResetError: [Errno 104] Connection reset by peer",
            "read: Connection reset by peer",
        ],
    ),
    (
        "transport: no such host",
        [
            "weather failed: gaierror: [Errno -2] Name or service not known",
            "weather failed: URLError: <urlopen error [Errno -3] Temporary failure in name resolution>",
            "weather failed: gaierror: [Errno 8] nodename nor servname provided, or not known",
            "curl: (6) Could not resolve host: api.example.com",
        ],
    ),
    (
        "transport: network unreachable",
        [
            "weather failed: OSError: [Errno 101] Network is unreachable",
            "weather failed: URLError: <urlopen error [Errno 113] No route to host>",
        ],
    ),
    (
        "timeout",
        [
            "weather failed: TimeoutError: ",
            "weather failed: URLError: <urlopen error timed out>",
            "weather failed: ReadTimeout: The read operation timed out",
            "curl: (28) Operation timed out after 2001 milliseconds with 0 bytes received",
        ],
    ),
]


@pytest.mark.parametrize("category", [C.TRANSPORT, C.SYSTEM, C.CRASHED, C.REFUSED])
@pytest.mark.parametrize(("signature", "texts"), CAUSES, ids=[signature for signature, _ in CAUSES])
def test_what_everybody_meets_on_a_network_is_one_cause_however_it_is_said(
    category: C, signature: str, texts: list[str]
) -> None:
    assert {signature_of(category, text, "weather") for text in texts} == {signature}
    assert suspected_root(signature) in ("the network", "something that does not answer")


@pytest.mark.parametrize("tool", ["read_file", "file", "bash", "mcp__web__fetch", "c++", "refused(", "Weather"])
def test_the_name_of_the_tool_is_no_part_of_the_cause(tool: str) -> None:
    text = f"{tool} failed: FileNotFoundError: [Errno 2] No such directory: '/data'"
    assert signature_of(C.CANNOT_START, text, tool) == "cannot_start: no such directory"


def test_other_causes_and_other_categories_have_other_signatures() -> None:
    texts = ["connection lost", "database is locked", "licence expired", "out of memory", "not found"]
    signatures = [signature_of(category, text) for category in (C.SYSTEM, C.CRASHED) for text in texts]
    assert all(one != other for one, other in combinations(signatures, 2))


ROOTS = [
    ("transport: connection refused", "the network"),
    ("transport", "the network"),
    ("crashed: no route to host", "the network"),
    ("cannot_start: permission denied", "permissions"),
    ("system: no space left device", "the disk is full"),
    ("system: input output", "the file system"),
    ("system: too many open files", "too many open files"),
    ("killed: killed sigkill", "memory"),
    ("crashed: memoryerror", "memory"),
    ("cannot_start: not found", "a program that is missing"),
    (signature_of(C.CANNOT_START, "exit 126 (found, but cannot be executed)"), "a program that cannot be run"),
    ("timeout", "something that does not answer"),
    ("crashed: api offline ghost bloom", "a cause in common"),
]


@pytest.mark.parametrize(("signature", "root"), ROOTS)
def test_a_signature_suggests_a_root_by_whole_words(signature: str, root: str) -> None:
    assert suspected_root(signature) == root


# ── properties ──────────────────────────────────────────────────────────────────────────────────

AWKWARD = st.text(
    st.sampled_from("aAfs09xmZ _.-:/\\'\"`~,;()[]{}@+\n\t\0éİΣß²½٣ー界‘’“”") | st.characters(), max_size=300
)


@given(text=AWKWARD)
def test_normalising_again_changes_nothing(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once


@given(text=AWKWARD | st.text("ab ", min_size=300, max_size=900))
def test_a_normalised_text_is_short_lower_case_words_without_digits(text: str) -> None:
    words = normalised(text)
    assert len(words) <= LONGEST
    assert words == words.lower()
    assert words == " ".join(words.split())
    assert not re.search(r"\d", words)


VARYING = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(0).map(hex),
    st.uuids().map(str),
    st.binary(min_size=6, max_size=16).map(bytes.hex).filter(lambda run: not run.isalpha() or len(run) >= 8),
    st.datetimes().map(lambda at: at.isoformat()),
    st.datetimes().map(lambda at: at.strftime("%a %b %d %H:%M:%S UTC %Y")),
    st.times().map(lambda at: at.isoformat()),
    st.integers(0, 10_000).flatmap(lambda n: st.sampled_from([f"{n}ms", f"{n} seconds", f"{n}h {n}min"])),
    st.ip_addresses().map(str),
    st.lists(st.from_regex(r"[a-zA-Z0-9_.-]{1,12}", fullmatch=True), min_size=1, max_size=6).map(
        lambda p: "/" + "/".join(p)
    ),
    st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1).map(
        lambda p: "/".join(["src", *p]) + "/main.py"
    ),
    st.text(st.characters(exclude_characters='"\n', exclude_categories=["Cs"]), min_size=1, max_size=60).map(
        '"{}"'.format
    ),
    st.from_regex(r"'[a-z /]{1,40}'", fullmatch=True),
    st.from_regex(r"https?://[a-z]{1,10}\.[a-z]{2,3}/[a-z?=&%]{0,20}", fullmatch=True),
)
WORDS = st.lists(st.sampled_from(["connection", "refused", "by", "the", "server", "disk", "quota"]), max_size=12)


@given(words=WORDS, extra=st.lists(st.tuples(st.integers(0, 12), VARYING), max_size=6))
def test_numbers_identifiers_paths_quotes_and_times_change_nothing(
    words: list[str], extra: list[tuple[int, str]]
) -> None:
    longer = list(words)
    for place, varying in extra:
        longer.insert(min(place, len(longer)), varying)
    assert normalised(" ".join(longer)) == normalised(" ".join(words))


UNITS = ("1", "a", "1 ", "1-", "a.", "a-", "/", "/a", "a/", "'", "'a ", " '", "~", "-", "f:", "0:", "\\", "x://", "_")


@pytest.mark.parametrize("unit", [*UNITS, "a" * 21 + ":"])
def test_the_time_grows_no_faster_than_the_text(unit: str) -> None:
    """Texts that the patterns like least; a quadratic one would take 64 times as long for 8 times the text."""
    short, long = (min(_seconds(unit, length) for _ in range(3)) for length in (MOST_READ // 8, MOST_READ))
    assert long < 20 * short + 0.02


def test_a_megabyte_takes_no_longer_than_what_is_read_of_it() -> None:
    read, whole = (min(_seconds("1 /a 'x' ", length) for _ in range(3)) for length in (MOST_READ, 1_000_000))
    assert whole < 5 * read + 0.01


def _seconds(unit: str, length: int) -> float:
    text = unit * (length // len(unit)) + "g"
    began = time.process_time()
    normalised(text)
    return time.process_time() - began
