"""One errno, many wordings: the same cause whoever reports it, and never another one."""

import errno
import os
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FailureCategory
from harness.policies.breakers.failure_signature import CAUSES, NO_GUESS, signature_of, suspected_root

WORDINGS = {
    errno.ENOSPC: [
        "cp: error writing '/mnt/x': No space left on device",
        "OSError: [Errno 28] No space left on device: 'a.txt'",
        "OSError(28, 'No space left on device')",
        "Error: could not write index (os error 28)",
        "npm ERR! code ENOSPC",
        "Error: ENOSPC: no space left on device, write",
        "open /var/lib/x: no space left on device",
        "OSError: [WinError 112] There is not enough space on the disk",
        "sqlite3.OperationalError: database or disk is full",
        "fatal: disk full",
        "write failed, errno=28",
    ],
    errno.EACCES: [
        "bash: ./run.sh: Permission denied",
        "PermissionError: [Errno 13] Permission denied: '/etc/x'",
        "Error: EACCES: permission denied, open '/etc/x'",
        "Error: EPERM: operation not permitted, unlink '/etc/x'",
        "failed to open lock file (os error 13)",
        "PermissionError: [WinError 5] Access is denied",
        "mkdir: cannot create directory: Operation not permitted",
    ],
    errno.ECONNREFUSED: [
        "curl: (7) Failed to connect to localhost port 1: Connection refused",
        "Error: connect ECONNREFUSED 127.0.0.1:5432",
        "dial tcp 127.0.0.1:80: connect: connection refused",
        "ConnectionRefusedError: [WinError 10061] The target machine actively refused it",
        "error sending request (os error 111)",
        "error sending request (os error 10061)",
    ],
    errno.EMFILE: [
        "OSError: [Errno 24] Too many open files: 'x'",
        "Error: EMFILE: too many open files, watch",
        "accept: too many open files in system",
        "cannot open the log (os error 24)",
    ],
    errno.EROFS: [
        "touch: cannot touch 'x': Read-only file system",
        "OSError: [Errno 30] Read-only file system: 'x'",
        "Error: EROFS: read-only file system, open 'x'",
        "could not create lock file (os error 30)",
    ],
    errno.EIO: [
        "cat: x: Input/output error",
        "Error: EIO: i/o error, read",
        "could not read the pack (os error 5)",
    ],
    errno.ECONNRESET: [
        "read: Connection reset by peer",
        "Error: socket hang up",
        "ConnectionAbortedError: [WinError 10053] An established connection was aborted",
        "An existing connection was forcibly closed by the remote host. (os error 10054)",
    ],
    errno.ENOMEM: ["fork: Cannot allocate memory", "spawn ENOMEM", "mmap failed, errno: 12"],
    errno.EADDRINUSE: ["Error: listen EADDRINUSE: address already in use :::3000", "bind: Address already in use"],
    errno.EHOSTUNREACH: ["ssh: connect to host x port 22: No route to host", "connect EHOSTUNREACH", "(os error 101)"],
    0: [  # names that cannot be resolved have errors of their own
        "curl: (6) Could not resolve host: api.example.com",
        "getaddrinfo ENOTFOUND api.example.com",
        "getaddrinfo EAI_AGAIN api.example.com",
        "dial tcp: lookup api.example.com: no such host",
        "java.net.UnknownHostException: api.example.com",
        "failed to lookup address information: Temporary failure in name resolution",
    ],
}


@pytest.mark.parametrize("texts", WORDINGS.values(), ids=[errno.errorcode.get(code, "names") for code in WORDINGS])
def test_one_cause_has_one_signature_whoever_reports_it_and_in_whatever_category(texts: list[str]) -> None:
    categories = [one for one in FailureCategory if one is not FailureCategory.TIMEOUT]
    (signature,) = {signature_of(category, text, "tool") for category in categories for text in texts}
    assert suspected_root(signature) != NO_GUESS


def test_different_causes_have_different_signatures() -> None:
    first = [signature_of(FailureCategory.CRASHED, texts[0]) for texts in WORDINGS.values()]
    assert all(one != other for one, other in combinations(first, 2))


@pytest.mark.parametrize(
    "text",
    [
        "make: *** [all] Error 28",
        "exit 13",
        "gave up after 28 attempts",
        "the file ENOSPCX is odd",
        "gaierro: [Errno -2]",
        "no space in the name",
    ],
)
def test_numbers_and_words_that_only_look_like_an_errno_are_none(text: str) -> None:
    known = {cause.signature for cause in CAUSES}
    assert signature_of(FailureCategory.CRASHED, text) not in known


NAMES = {name: cause.signature for cause in CAUSES for name in cause.names}
SAID = [(text, cause.signature) for cause in CAUSES for text in (*cause.names, *cause.phrases)]
SAID += [
    (form.format(code), NAMES[name])
    for code, name in errno.errorcode.items()
    if name in NAMES
    for form in ("[Errno {}] x", "(os error {})", "OSError({}, 'x')", "errno={}")
]
SAID += [
    (os.strerror(code), NAMES[name])
    for code, name in errno.errorcode.items()
    if name in NAMES and name not in ("ENFILE", "ENETDOWN")
]
PLAIN = st.lists(
    st.sampled_from(["cp:", "writing", "/var/x", "'a b'", "step", "42", "Error:", "at", "10:31:02", "npm"])
)


def test_every_wording_of_a_cause_is_known_by_itself_in_every_category() -> None:
    others = [category for category in FailureCategory if category is not FailureCategory.TIMEOUT]
    assert [(text, one) for text, cause in SAID for one in others if signature_of(one, text) != cause] == []


@given(st.sampled_from(SAID), PLAIN, PLAIN, st.sampled_from(FailureCategory))
def test_what_is_said_around_a_cause_does_not_change_it(
    said: tuple[str, str], before: list[str], after: list[str], category: FailureCategory
) -> None:
    text, signature = said
    whole = " ".join([*before, text, *after])
    expected = "timeout" if category is FailureCategory.TIMEOUT else signature
    assert signature_of(category, whole) == expected
