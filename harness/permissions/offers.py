"""The rules offered with a question: never more than the question showed.

A command is offered exactly as it is written. Only where all that may follow it is known to do nothing else does the
rule end in a *, and those commands are in a closed table, each with its reason. Most are not there, test runners and
builds among them, because further words make them run other code: `make test SHELL=./x`, `go test -exec ./x`,
`cargo test --config …`, `npm run build --script-shell=./x`, or remove a folder: `pytest --basetemp=src`.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs import PROGRAMS
from harness.permissions.protected_places import Surroundings
from harness.permissions.requirements import SHELL, Requirement, RequirementKind
from harness.permissions.rules import READ, WRITE
from harness.permissions.shell.syntax import Word, WordKind

_PLAIN = frozenset("-_./:=,+@%^")
_SUFFIXES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".bash", ".zsh"})
_BROUGHT = frozenset({"node_modules", "venv", "env", "site-packages", "vendor"})


def offer(need: Requirement, around: Surroundings) -> str | None:
    """A rule that would have allowed this; None if only this one call can be allowed."""
    match need.kind:
        case RequirementKind.COMMAND:
            return _command(need)
        case RequirementKind.WRITE if need.paths:
            return f"{WRITE}({_files(need.paths[0], around)})"
        case RequirementKind.READ if need.paths and not need.pattern:
            return f"{READ}({around.shown(posixpath.normpath(need.paths[0]))})"
        case RequirementKind.TOOL if need.tool != SHELL:
            return need.tool
        case _:
            return None


def _command(need: Requirement) -> str | None:
    if not need.words or need.assignments or need.dangers:
        return None
    written = [_quoted(word) for word in need.words]
    texts = [text for text in written if text is not None]
    if len(texts) < len(written) or "=" in need.words[0].text:
        return None
    kept = _kept(need.words)
    return _rule(texts if kept is None else [*texts[:kept], "*"])


# ── commands that any words may follow ──────────────────────────────────────────────────────────


def _kept(words: tuple[Word, ...]) -> int | None:
    """How many words in front stay as they are, where any others may follow; None: all words stay."""
    texts = tuple(word.text if word.known else "" for word in words)
    if texts[0].startswith("./") and _is_script(texts[0][2:]):
        return _before_arguments(texts, 1)
    find = _WIDE.get(texts[0])
    return find(texts) if find is not None else None


def _before_arguments(texts: tuple[str, ...], number: int) -> int | None:
    """Where the arguments of a script of the project begin, so that others may be in their place.

    A name in front may be a subcommand and stays: `manage.py test` is not `manage.py flush`. The name of a program may
    be one that the script runs, and a script without arguments may take none.
    """
    arguments = texts[number:]
    if not all(arguments) or any(argument in PROGRAMS for argument in arguments):
        return None
    named = [re.fullmatch(r"[^\W\d_][\w:-]*", argument) is not None for argument in arguments]
    if named[:1] == [True]:
        return number + 1
    return number if named and not any(named) else None


def _is_script(text: str) -> bool:
    """A file of the project that is written by hand, not an interpreter or a tool that it has brought along."""
    parts = text.split("/")
    own = all(part and part[0] not in ".-~" and part not in _BROUGHT for part in parts)
    return own and posixpath.splitext(parts[-1])[1] in _SUFFIXES


def _script(texts: tuple[str, ...]) -> int | None:
    """An interpreter gives what follows the script to the script, options too; before it they are its own."""
    return _before_arguments(texts, 2) if texts[1:2] and _is_script(texts[1].removeprefix("./")) else None


def _run(texts: tuple[str, ...]) -> int | None:
    """Package managers take options behind the name of a script for their own (pnpm before 7), up to a --."""
    behind = texts[1:2] == ("run",) and _is_name(texts[2:3]) and texts[3:4] == ("--",)
    return _before_arguments(texts, 4) if behind else None


def _is_name(texts: tuple[str, ...]) -> bool:
    return bool(texts) and re.fullmatch(r"\w[\w:.-]*", texts[0]) is not None


def _subcommand(*subcommands: str) -> Callable[[tuple[str, ...]], int | None]:
    return lambda texts: 2 if texts[1:2] and texts[1] in subcommands else None


def _alone(texts: tuple[str, ...]) -> int | None:
    return 1


_WIDE: Mapping[str, Callable[[tuple[str, ...]], int | None]] = MappingProxyType(
    {
        # What follows goes to code of the project that the user lets run.
        **dict.fromkeys(names("python python3 node ruby perl bash sh zsh dash"), _script),
        **dict.fromkeys(names("npm pnpm yarn bun"), _run),
        # Makes folders and nothing else; where they may be is asked for each of them.
        "mkdir": _alone,
        # Makes empty files, and changes the dates of others.
        "touch": _alone,
        # The index and the history of this repository; the reflog has what is replaced.
        "git": _subcommand("add", "commit"),
    }
)


# ── how it is written ───────────────────────────────────────────────────────────────────────────


def _rule(texts: list[str]) -> str:
    return f"{SHELL}({' '.join(texts)})"


def _quoted(word: Word) -> str | None:
    """The word as a pattern that means just itself; None where that cannot be written."""
    if word.kind is not WordKind.LITERAL or "\n" in word.text:
        return None
    if word.text and all(char.isalnum() or char in (_PLAIN | {"~"} if word.home else _PLAIN) for char in word.text):
        return word.text
    if word.home:
        return None
    return "'" + word.text.replace("'", "'\\''") + "'"


def _files(path: str, around: Surroundings) -> str:
    """A file at the top of the workspace as it is, any other with its whole folder."""
    shown = around.shown(posixpath.normpath(path))
    folder = posixpath.dirname(shown)
    return shown if folder in ("", "~", "/") or not around.inside(posixpath.normpath(path)) else f"{folder}/**"
