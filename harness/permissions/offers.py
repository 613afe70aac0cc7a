"""The rules offered with a question: what would have allowed it from the start.

An exact rule is the command as it is written. A family also covers what the user has not seen, so it is offered only
where all that it covers is spelled out or goes to code of the project: a few commands with listed options and paths
below the workspace, and the arguments of scripts. Most commands have none, because further words make them run other
code: `make test SHELL=./x`, `go test -exec ./x`, `cargo test --config …`, `npm run build --script-shell=./x`, or remove
a folder: `pytest --basetemp=src`.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.permissions.argument_set import is_script
from harness.permissions.name_sets import names
from harness.permissions.programs import KNOWN
from harness.permissions.protected_places import Surroundings
from harness.permissions.requirements import SHELL, Requirement, RequirementKind
from harness.permissions.rules import READ, WRITE
from harness.permissions.shell.syntax import Assignment, Word, WordKind
from harness.permissions.variables import harmless_library

_PLAIN = frozenset("-_./:=,+@%^")


LONGEST = 200
"""Characters of a command for which a family is offered: it must be seen whole."""


def exact_rule(need: Requirement, around: Surroundings) -> str | None:
    """A rule for just this; None if only this one call can be allowed."""
    match need.kind:
        case RequirementKind.COMMAND:
            written = _written(need)
            return None if written is None else _rule(written)
        case RequirementKind.WRITE if need.paths:
            return f"{WRITE}({around.shown(posixpath.normpath(need.paths[0]))})"
        case RequirementKind.READ if need.paths and not need.pattern:
            return f"{READ}({around.shown(posixpath.normpath(need.paths[0]))})"
        case _:
            return None


def family_rules(need: Requirement, around: Surroundings) -> tuple[str, ...]:
    """Wider rules that may cover this, the narrowest first. Whether one does is for the rule to say."""
    match need.kind:
        case RequirementKind.COMMAND if len(need.shown) <= LONGEST:
            return _command_families(need)
        case RequirementKind.WRITE if need.paths and not need.shell:
            return (f"{WRITE}({_files(need.paths[0], around)})",)
        case RequirementKind.TOOL if need.tool != SHELL:
            return (need.tool,)
        case _:
            return ()


def _written(need: Requirement) -> list[str] | None:
    """The command and its assignments, each word quoted as a pattern that means just itself."""
    if not need.words or need.dangers or "=" in need.words[0].text:
        return None
    assigned = [_assignment(one) for one in need.assignments]
    written = [*assigned, *map(_quoted, need.words)]
    texts = [text for text in written if text is not None]
    return texts if len(texts) == len(written) else None


def _assignment(assignment: Assignment) -> str | None:
    if harmless_library(assignment):
        return f"{assignment.name}={assignment.value.text}"
    value = _quoted(assignment.value)
    return None if value is None else f"{assignment.name}={value}"


def _command_families(need: Requirement) -> tuple[str, ...]:
    texts = _written(need)
    if texts is None:
        return ()
    assigned, words = texts[: len(need.assignments)], texts[len(need.assignments) :]
    kept = _kept(need.words)
    found = [] if kept is None else [_rule([*assigned, *words[:kept], "*"])]
    for front, rest in _LISTED.items():
        if words[: len(front.split())] == front.split():
            found.append(_rule([*assigned, front, rest]))
    return tuple(found)


_PYTEST = "<paths -q -x -v -k= -m= --tb= --lf -s>"
_CARGO = "<names -q -v -p= --lib --bins --tests --all --workspace --release --all-features>"
_LISTED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("pytest", "python -m pytest", "python3 -m pytest"), _PYTEST),
        **dict.fromkeys(("uv run pytest", "poetry run pytest"), _PYTEST),
        "ruff check": "<paths -q -n --fix --diff --select= --ignore=>",
        "ruff format": "<paths -q -n --check --diff>",
        "mypy": "<paths --strict>",
        **dict.fromkeys(("cargo test", "cargo check", "cargo build", "cargo clippy"), _CARGO),
    }
)
"""Commands and the arguments that change what they look at and what they show, and nothing else."""


# ── commands that any words may follow ──────────────────────────────────────────────────────────


def _kept(words: tuple[Word, ...]) -> int | None:
    """How many words in front stay as they are, where any others may follow; None: all words stay."""
    texts = tuple(word.text if word.known else "" for word in words)
    if texts[0].startswith("./") and is_script(texts[0][2:]):
        return _before_arguments(texts, 1)
    find = _WIDE.get(texts[0])
    return find(texts) if find is not None else None


def _before_arguments(texts: tuple[str, ...], number: int) -> int | None:
    """Where the arguments of a script of the project begin, so that others may be in their place.

    A name in front may be a subcommand and stays: `manage.py test` is not `manage.py flush`. The name of a program may
    be one that the script runs, and a script without arguments may take none.
    """
    arguments = texts[number:]
    if not all(arguments) or any(argument in KNOWN for argument in arguments):
        return None
    named = [re.fullmatch(r"[^\W\d_][\w:-]*", argument) is not None for argument in arguments]
    if named[:1] == [True]:
        return number + 1
    return number if named and not any(named) else None


def _script(texts: tuple[str, ...]) -> int | None:
    """An interpreter gives what follows the script to the script, options too; before it they are its own."""
    return _before_arguments(texts, 2) if texts[1:2] and is_script(texts[1].removeprefix("./")) else None


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
