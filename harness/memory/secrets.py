"""What must not be written down: keys, tokens and passwords, as far as they can be told by their looks."""

import re
from collections.abc import Iterable

from harness.base.secret import Secret

_NAMED = (
    # a word for a secret, a sign that its value follows, and a value with more in it than letters
    r"(?:pass(?:word|wd|phrase)|secret|token|api[ _-]?key|credentials?|パスワード|暗証番号)[\"'`]?\s*"
    r"(?:\b(?:of|for|to|on)\b[^:=\n]{1,60}?)?(?:[:=：＝]|\bis\b|は)\s*[\"'「`]?"
    r"(?=[!-~]*[0-9!#$%^&*+~])[^\s\"'「」`<>{}()\[\]$]{6,}"
)
_KINDS = tuple(
    (what, re.compile(pattern, re.IGNORECASE))
    for what, pattern in (
        ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY"),
        ("a key of an API", r"\b(?:sk|pk|rk)[-_](?:[a-z0-9]+[-_])*[a-z0-9_-]{16,}"),
        ("a token of GitHub or GitLab", r"\b(?:gh[oprsu]_[a-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,})"),
        ("a token of Slack", r"\bxox[abeoprs]-[\w-]{10,}"),
        ("a key of AWS", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("a key of Google", r"\bAIza[\w-]{30,}"),
        ("a signed token", r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
        ("a password in an address", r"\b[a-z][a-z0-9+.-]*://[^\s/:@]*:[^\s/@]{3,}@"),
        ("a header with a token", r"\bauthorization\b\W{1,4}(?:bearer|basic)\s+[\w.~+/-]{8,}"),
        ("a password or token", _NAMED),
    )
)
"""What it is called, and how it looks. A text that only says where a password is kept is none."""


def secret_in(text: str, known: Iterable[Secret | None] = ()) -> str:
    """What kind of secret the text holds, in a few words; "" where none is found. `known` are those of this session."""
    if any(one and one.reveal() in text for one in known):
        return "the key of this session"
    return next((what for what, pattern in _KINDS if pattern.search(text)), "")
