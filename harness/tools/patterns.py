"""Glob patterns: what `src/**/*.py` means, for glob and for the file filter of grep."""

import re
from itertools import pairwise

from harness.tools.tool import ToolError


def compile_glob(pattern: str) -> re.Pattern[str]:
    """A matcher for paths with forward slashes, relative to where the search begins.

    `*` and `?` stay inside one name and also match names that begin with a dot; `**` as a whole part stands for any
    number of folders; `[a-z]`, `[!a]` and `{py,toml}` choose. Raises `ToolError` for a pattern that is none.
    """
    alternatives = [_regex(option) for option in _expand(pattern.removeprefix("./"))]
    try:
        return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.DOTALL)
    except re.error as error:
        raise ToolError(f"{pattern!r} is not a usable glob pattern: {error}.") from error


def _expand(pattern: str) -> list[str]:
    """The pattern without braces, once for each choice; braces may be nested."""
    start = pattern.find("{")
    depth = 0
    cuts = [start]
    for index in range(start, len(pattern)) if start >= 0 else ():
        depth += {"{": 1, "}": -1}.get(pattern[index], 0)
        if pattern[index] == "," and depth == 1:
            cuts.append(index)
        if depth == 0:
            cuts.append(index)
            break
    if start < 0 or depth or len(cuts) < 3:
        return [pattern]
    before, after = pattern[:start], pattern[cuts[-1] + 1 :]
    choices = [pattern[a + 1 : b] for a, b in pairwise(cuts)]
    options = [option for choice in choices for option in _expand(before + choice + after)]
    if len(options) > 1_000:
        raise ToolError("the glob pattern has too many choices in braces.")
    return options


def _regex(pattern: str) -> str:
    parts = pattern.split("/")
    regex = ""
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            regex += ".+" if last else "(?:[^/]+/)*"
        else:
            regex += _part(part) + ("" if last else "/")
    return regex


def _part(part: str) -> str:
    regex = ""
    index = 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            while part[index : index + 1] == "*":
                index += 1
            regex += "[^/]*"
        elif char == "?":
            regex += "[^/]"
        elif char == "[" and (end := part.find("]", index + 1 + (part[index : index + 1] == "!"))) > 0:
            choice = part[index:end].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            for operator in ("&&", "||", "~~"):
                choice = choice.replace(operator, "\\" + operator[0] + "\\" + operator[0])
            negated = choice.startswith("!")
            body = choice[1:] if negated else choice
            if body.startswith("]"):
                body = "\\" + body
            regex += f"(?!/)[{'^' if negated else ''}{body}]"
            index = end + 1
        else:
            regex += re.escape(char)
    return regex
