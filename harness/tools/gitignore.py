"""The rules of a .gitignore file (https://git-scm.com/docs/gitignore), matched in linear time.

A repository brings these rules along, so that a hostile one must not be able to hang the program: libraries translate
them to regular expressions that backtrack, here they become those of `patterns`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from harness.tools.glob_patterns import ANY_RUN, path_regex

LONGEST = 1_000
"""Characters of a rule; a longer one is left out, as git leaves out a rule that it cannot use."""
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of a .gitignore file."""

    regex: re.Pattern[str]
    """Matches the whole path from the folder of the file, without a slash at its end."""
    ignores: bool
    """False: the line begins with `!` and takes files back in."""
    folders_only: bool


def parse_gitignore(text: str) -> tuple[IgnoreRule, ...]:
    """The rules of a file, in its order. Blank lines, comments and rules that git would not use are left out."""
    lines = text.removeprefix("\ufeff").split("\n")
    return tuple(rule for line in lines if (rule := _rule(line.removesuffix("\r"))) is not None)


def verdict(rules: tuple[IgnoreRule, ...], path: str) -> bool | None:
    """Whether the last rule that matches ignores `path`, which is a folder if it ends with a slash; None: no rule does.

    Asks about this path only. The caller goes from the top downwards and does not enter a folder that is ignored, so
    a rule for a folder holds for everything below it.
    """
    name = path.removesuffix("/")
    is_folder = name != path
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and rule.regex.fullmatch(name):
            return rule.ignores
    return None


def _rule(line: str) -> IgnoreRule | None:
    if not line or line.startswith("#") or len(line) > LONGEST:
        return None
    ignores = not line.startswith("!")
    pattern = _without_trailing_spaces(line if ignores else line[1:])
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern:
        return None
    parts = pattern.removeprefix("/").split("/")
    try:
        names: list[str | list[str]] = [part if part == "**" else list(_tokens(part)) for part in parts]
    except _Unusable:
        return None
    if "/" not in pattern:
        names.insert(0, "**")
    return IgnoreRule(re.compile(path_regex(names), re.DOTALL), ignores, folders_only)


class _Unusable(Exception):  # noqa: N818  it says what the rule is
    """Git would not use this rule either."""


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and bare != line else bare


def _tokens(part: str) -> Iterator[str]:
    """The tokens of one name. Raises _Unusable."""
    if not part:
        raise _Unusable
    index = 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            yield ANY_RUN
        elif char == "?":
            yield "[^/]"
        elif char == "[":
            token, index = _bracket(part, index)
            yield token
        elif char == "\\":
            if index == len(part):
                raise _Unusable
            yield re.escape(part[index])
            index += 1
        else:
            yield re.escape(char)


def _bracket(part: str, index: int) -> tuple[str, int]:
    """One character out of the set that begins behind a bracket, and where the set ends. Raises _Unusable."""
    negated = part[index : index + 1] in ("!", "^")
    index += negated
    body, first = "", True
    while first or part[index : index + 1] != "]":
        if index >= len(part):
            raise _Unusable
        first = False
        if part.startswith("[:", index) and (end := part.find(":]", index)) > 0:
            if (members := _CLASSES.get(part[index + 2 : end])) is None:
                raise _Unusable
            body += members
            index = end + 2
            continue
        low, index = _member(part, index)
        body += re.escape(low)  # git takes the first character of a range also where the range runs backwards
        if part[index : index + 1] == "-" and part[index + 1 : index + 2] not in ("", "]"):
            high, index = _member(part, index + 1)
            if low <= high:
                body += f"{re.escape(low)}-{re.escape(high)}"
    return f"(?!/)[{'^' if negated else ''}{body}]", index + 1


def _member(part: str, index: int) -> tuple[str, int]:
    if part[index] == "\\" and index + 1 < len(part):
        return part[index + 1], index + 2
    return part[index], index + 1
