"""The rules of a .gitignore file (https://git-scm.com/docs/gitignore), matched in linear time.

A repository brings these rules along, so that a hostile one must not be able to hang the program: libraries translate
them to regular expressions that backtrack, here they become those of `patterns`.
"""

import re
from dataclasses import dataclass

from harness.tools.glob_patterns import UnusableError, name_tokens, path_regex

LONGEST = 1_000
"""Characters of a rule; a longer one is left out, as git leaves out a rule that it cannot use."""


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
    if "" in parts:
        return None
    try:
        names: list[str | list[str]] = [part if part == "**" else name_tokens(part) for part in parts]
    except UnusableError:
        return None
    if "/" not in pattern:
        names.insert(0, "**")
    return IgnoreRule(re.compile(path_regex(names), re.DOTALL), ignores, folders_only)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escapes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if escapes % 2 and bare != line else bare
