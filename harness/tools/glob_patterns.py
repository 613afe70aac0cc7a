"""Glob patterns, compiled to regular expressions whose matching time does not explode.

A glob needs no backtracking across a `*`: the text between two stars can always be matched at its first occurrence,
because the rest can then start earliest. The same holds for the names between two `**`. So every part but the last is
an atomic group (`(?>…)`, https://docs.python.org/3/library/re.html#regular-expression-syntax), which is matched once
and never tried again. Matching a path of n characters against a pattern of m takes at most O(n · m) steps, even for
`*a*a*a*a*b` and `**/**/**/x`.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from harness.tools.tool import ToolError

LONGEST = 1_000
"""Characters of a pattern; longer ones are refused."""
MOST_CHOICES = 1_000
"""Most patterns that the braces of one pattern may expand to."""
ANY_RUN = ""
"""The token of a `*`: any number of characters of one name. All other tokens match exactly one character."""


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Compile a glob for `fullmatch` on paths with forward slashes, relative to the folder of the search.

    `*` and `?` stay inside one name and also match names that begin with a dot; `**` as a whole part matches any
    number of folders; `[a-z]`, `[!a]` and `{py,toml}` choose. Raises `ToolError` for a pattern that cannot be used.
    """
    if len(pattern) > LONGEST:
        raise ToolError(f"the glob pattern has more than {LONGEST:,} characters; use a shorter one.")
    alternatives = [path_regex(option.split("/")) for option in _expand(pattern.removeprefix("./"))]
    try:
        return re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.DOTALL)
    except re.error as error:
        raise ToolError(f"{pattern!r} is not a usable glob pattern: {error}.") from error


def path_regex(parts: Sequence[str | list[str]]) -> str:
    """The regular expression of a path given by its names, each a glob or its tokens; `**` is any number of folders.

    As the last name, `**` is everything below the folder, but not the folder itself.
    """
    names = [part if isinstance(part, list) or part == "**" else _tokens(part) for part in parts]
    runs: list[list[list[str]]] = [[]]  # the names between two `**`
    for name, following in pairwise([*names, None]):
        if isinstance(name, list):
            runs[-1].append(name)
        elif name != following:  # `**/**` says no more than `**`
            runs.append([])
    everything_below = names[-1] == "**"
    first, *others = [[name_regex(name) + "/" for name in run] for run in runs]
    regex = "".join(first)
    for run in others[:-1]:
        regex += f"(?>(?:[^/]++/)*?{''.join(run)})"
    if everything_below:
        regex += ".+"
    elif others:
        regex += f"(?:[^/]++/)*{''.join(others[-1])}"
    return regex if everything_below else regex.removesuffix("/")


def name_regex(tokens: Sequence[str]) -> str:
    """The regular expression of one whole name, given by its tokens."""
    pieces = [""]
    for index, token in enumerate(tokens):
        if token != ANY_RUN:
            pieces[-1] += token
        elif index == 0 or tokens[index - 1] != ANY_RUN:
            pieces.append("")
    first, *others = pieces
    if not others:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in others[:-1])
    last = f"[^/]*{others[-1]}(?=/|\\Z)" if others[-1] else "[^/]*+"
    return f"(?>{first}{middle}{last})"


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
    if len(options) > MOST_CHOICES:
        raise ToolError("the glob pattern has too many choices in braces.")
    return options


def _tokens(part: str) -> list[str]:
    tokens = []
    index = 0
    while index < len(part):
        char = part[index]
        index += 1
        if char == "*":
            tokens.append(ANY_RUN)
        elif char == "?":
            tokens.append("[^/]")
        elif char == "[" and (end := part.find("]", index + 1 + (part[index : index + 1] == "!"))) > 0:
            tokens.append(_choice(part[index:end]))
            index = end + 1
        else:
            tokens.append(re.escape(char))
    return tokens


def _choice(choice: str) -> str:
    """One character of a bracket expression."""
    choice = choice.replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
    for operator in ("&&", "||", "~~"):
        choice = choice.replace(operator, "\\" + operator[0] + "\\" + operator[0])
    negated = choice.startswith("!")
    body = choice[1:] if negated else choice
    if body.startswith("]"):
        body = "\\" + body
    return f"(?!/)[{'^' if negated else ''}{body}]"
