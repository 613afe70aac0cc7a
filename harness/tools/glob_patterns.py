"""Glob patterns, compiled to regular expressions whose matching time does not explode.

A glob needs no backtracking across a `*`: the text between two stars can always be matched at its first occurrence,
because the rest can then start earliest. The same holds for the names between two `**`. So every part but the last is
an atomic group (`(?>…)`, https://docs.python.org/3/library/re.html#regular-expression-syntax), which is matched once
and never tried again. Matching a path of n characters against a pattern of m takes at most O(n · m) steps, even for
`*a*a*a*a*b` and `**/**/**/x`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.tools.tool import ToolError

LONGEST = 1_000
"""Characters of a pattern; longer ones are refused."""
MOST_CHOICES = 1_000
"""Most patterns that the braces of one pattern may expand to."""
_LITERAL = (r"[\[\]]", r"[\[\]{}]")
"""Characters without a meaning in a second and a third reading of a pattern."""
ANY_RUN = ""
"""The token of a `*`: any number of characters of one name. All other tokens match exactly one character."""
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


class UnusableError(Exception):
    """A name that git would not use as a pattern: an open bracket, a backslash at its end."""


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern, read as ripgrep reads the one of its option `--glob`, and git a line of .gitignore.

    Without a slash it is about names at any depth, else about the path from the folder of the search. It may begin
    with `!`: then it is about what to leave out, folders with all that is in them.
    """

    excludes: bool
    folders_only: bool
    regex: re.Pattern[str]
    folder: str
    """The folders that it begins with, which hold everything that fits; empty: none, or any."""
    is_narrow: bool
    """It says more than "everything"."""

    def fits(self, path: str) -> bool:
        """Whether a search wants the file at this path, which has forward slashes."""
        if not self.excludes:
            return not self.folders_only and self.regex.fullmatch(path) is not None
        ends = [found.start() for found in re.finditer("/", path)] + [len(path)] * (not self.folders_only)
        return not any(self.regex.fullmatch(path, 0, end) for end in ends)


def compile_glob(pattern: str) -> Glob:
    """Read a glob. Raises `ToolError` for a pattern that cannot be used.

    `*` and `?` stay inside one name and also match names that begin with a dot; `**` as a whole name matches any
    number of folders; `[a-z]`, `[!a]` and `{py,toml}` choose, and a backslash takes the meaning from what follows.
    Names that have brackets or braces themselves, such as `app/[id]/page.tsx`, are matched, too.
    """
    if len(pattern) > LONGEST:
        raise ToolError(f"the glob pattern has more than {LONGEST:,} characters; use a shorter one.")
    excludes = pattern.startswith("!")
    body = pattern[excludes:].removeprefix("./")
    folders_only = body.endswith("/")
    body = body.rstrip("/")
    anchored = "/" in body
    body = body.lstrip("/")
    readings = [body] if "\\" in body else [body, *(re.sub(chars, r"\\\g<0>", body) for chars in _LITERAL)]
    alternatives: dict[str, None] = {}
    for option in (option for reading in dict.fromkeys(readings) for option in _expand(reading)):
        try:
            names: list[str | list[str]] = [
                name if name == "**" else name_tokens(name) for name in option.split("/") if name
            ]
        except UnusableError:
            continue
        if names:
            alternatives[path_regex(names if anchored else ["**", *names])] = None
    if not alternatives:
        raise ToolError(f"{pattern!r} is not a usable glob pattern.")
    regex = re.compile("|".join(f"(?:{alternative})" for alternative in alternatives), re.DOTALL)
    fixed = "" if excludes or not anchored else re.split(r"[*?\[{\\]", body)[0].rpartition("/")[0]
    return Glob(excludes, folders_only, regex, fixed, bool(body.strip("*/")))


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
    depth, cuts = 0, list[int]()
    for found in re.finditer(r"\\.|[{},]", pattern, re.DOTALL):
        match found[0]:
            case "{":
                cuts += [found.start()] * (depth == 0)
                depth += 1
            case "}" if depth:
                depth -= 1
                if depth == 0:
                    cuts.append(found.start())
                    break
            case "," if depth == 1:
                cuts.append(found.start())
    if depth or not cuts:
        return [pattern]
    before, after = pattern[: cuts[0]], pattern[cuts[-1] + 1 :]
    choices = [pattern[a + 1 : b] for a, b in pairwise(cuts)]
    options = [option for choice in choices for option in _expand(before + choice + after)]
    if len(options) > MOST_CHOICES:
        raise ToolError("the glob pattern has too many choices in braces.")
    return options


def name_tokens(part: str) -> list[str]:
    """The tokens of one name, as git reads it in a .gitignore file. Raises UnusableError."""
    return list(_tokens(part))


def _tokens(part: str) -> Iterator[str]:
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
                raise UnusableError
            yield re.escape(part[index])
            index += 1
        else:
            yield re.escape(char)


def _bracket(part: str, index: int) -> tuple[str, int]:
    """One character out of the set that begins behind a bracket, and where the set ends. Raises UnusableError."""
    negated = part[index : index + 1] in ("!", "^")
    index += negated
    body, first = "", True
    while first or part[index : index + 1] != "]":
        if index >= len(part):
            raise UnusableError
        first = False
        if part.startswith("[:", index) and (end := part.find(":]", index)) > 0:
            if (members := _CLASSES.get(part[index + 2 : end])) is None:
                raise UnusableError
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
