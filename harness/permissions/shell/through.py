"""What runs inside other commands: env, sudo, xargs, find -exec, sh -c and their like are looked through."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.permissions.shell.quoting import assignment_of
from harness.permissions.shell.reading import read_line
from harness.permissions.shell.words import Assignment, Simple, Unreadable, Word, WordKind

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "yash", "fish"})
TEXT_RUNNERS = frozenset({"eval", "trap", "watch"})
"""What runs its arguments as a command line."""
ANYTHING = Word("…", WordKind.UNKNOWN)
DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Run:
    """A command that a line would run."""

    simple: Simple
    transparent: bool = False
    """It does nothing by itself but run another one, which follows."""
    inside: bool = False
    """Whoever allows the command around it has allowed this one, unless it is dangerous."""
    limited: bool = False
    """It is ended after a while, if it has not ended by then."""
    fed_by: tuple[Simple, ...] = ()
    """The pipeline that lists what its words that are not known stand for: before xargs, or the find around it."""


def runs_of(line: str) -> tuple[Run, ...]:
    """Every command of a line, with those inside others. Raises Unreadable."""
    return tuple(run for simple in read_line(line) for run in _through(simple, 0))


def commands_of(line: str) -> tuple[tuple[str, ...], ...]:
    """Every command that a line would run, as its words: for hooks, which would otherwise search the line as text.

    Chains, pipes, quotes, substitutions and `sh -c` are read as bash reads them. Raises Unreadable, a clause, for a
    line that cannot be read for certain.
    """
    words = (tuple(word.text for word in run.simple.words) for run in runs_of(line))
    return tuple(command for command in words if command)


def base_name(program: str) -> str:
    """The program without its folder, in small letters: some systems take RM for rm."""
    return program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _through(simple: Simple, depth: int) -> Iterator[Run]:
    if depth > DEEPEST:
        raise Unreadable(f"more than {DEEPEST} commands run one another")
    if simple.program is None:
        yield Run(simple)
        return
    name = base_name(simple.program)
    if name in SHELLS:
        yield from _shell(simple, depth)
    elif name in TEXT_RUNNERS:
        yield from _text(simple, name, depth)
    elif name in _WRAPPERS:
        yield from _wrapped(simple, _WRAPPERS[name], depth)
    elif name in ("find", "fd", "fdfind"):
        yield Run(simple)
        for inner in _executed(simple):
            yield from _through(inner, depth + 1)
    elif name in _RUNNERS:
        yield Run(simple)
        for inner in _run_by(simple, _RUNNERS[name]):
            yield from (replace(run, inside=True) for run in _through(inner, depth + 1))
    else:
        yield Run(simple)


# ── shells and what takes a command line as text ────────────────────────────────────────────────


def _shell(simple: Simple, depth: int) -> Iterator[Run]:
    arguments = simple.words[1:]
    for number, word in enumerate(arguments):
        if word.known and re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", word.text):
            texts = [one for one in arguments[number + 1 :] if not (one.known and one.text.startswith("-"))]
            if texts and texts[0].known:
                yield Run(simple, transparent=True)
                yield from _line(texts[0].text, depth)
                return
            break
        if not (word.known and word.text[:1] in ("-", "+")) and not (number and arguments[number - 1].text == "-o"):
            break
    yield Run(simple)


def _text(simple: Simple, name: str, depth: int) -> Iterator[Run]:
    words = simple.words[1:]
    if name == "trap":
        words = words[:1]
    elif name == "watch":
        words = _after_options(words, _WRAPPERS["nice"])
    if not words or not all(word.known for word in words):
        yield Run(simple)
        return
    yield Run(simple, transparent=name != "watch")  # which never ends, whatever it runs
    yield from _line(" ".join(word.text for word in words), depth)


def _line(text: str, depth: int) -> Iterator[Run]:
    for inner in read_line(text):
        yield from _through(inner, depth + 1)


# ── programs that run the words behind their options ────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Wrapper:
    flags: str = ""
    """Short options without a value."""
    values: str = ""
    """Short options with one."""
    long_flags: tuple[str, ...] = ()
    long_values: tuple[str, ...] = ()
    first: int = 0
    """Arguments of its own before the command."""
    adds: bool = False
    """It adds words of its own to the command."""


_WRAPPERS: Mapping[str, _Wrapper] = MappingProxyType(
    {
        "env": _Wrapper("i0v", "u", ("--ignore-environment", "--null", "--debug"), ("--unset",)),
        "sudo": _Wrapper(
            "nEHSbkKAP", "ugphCTRD", ("--preserve-env", "--non-interactive", "--login"), ("--user", "--group")
        ),
        "doas": _Wrapper("nL", "uC"),
        "nice": _Wrapper("0123456789dtbegcxw", "n", (), ("--adjustment", "--interval")),
        "nohup": _Wrapper(),
        "setsid": _Wrapper("cfw", "", ("--ctty", "--fork", "--wait")),
        "stdbuf": _Wrapper("", "ioe", (), ("--input", "--output", "--error")),
        "timeout": _Wrapper(
            "v", "ks", ("--preserve-status", "--foreground", "--verbose"), ("--signal", "--kill-after"), 1
        ),
        "time": _Wrapper("pv"),
        "ionice": _Wrapper("t", "cn", ("--ignore",), ("--class", "--classdata")),
        "chrt": _Wrapper("abfimorR", "", (), (), 1),
        "taskset": _Wrapper("c", "", (), (), 1),
        "command": _Wrapper("p"),
        "builtin": _Wrapper(),
        "exec": _Wrapper("cl", "a"),
        "busybox": _Wrapper(),
        "caffeinate": _Wrapper("dimsu", "tw"),
        "xargs": _Wrapper(
            "0rtxpo",
            "adEeIiLlnPs",
            ("--null", "--no-run-if-empty", "--verbose", "--exit", "--interactive", "--open-tty"),
            ("--arg-file", "--delimiter", "--replace", "--max-lines", "--max-args", "--max-procs", "--max-chars"),
            adds=True,
        ),
    }
)


def _wrapped(simple: Simple, wrapper: _Wrapper, depth: int) -> Iterator[Run]:
    name = base_name(simple.words[0].text)
    if name == "command" and len(simple.words) > 1 and simple.words[1].text in ("-v", "-V"):
        yield Run(simple)
        return
    arguments = _after_options(simple.words[1:], wrapper)
    own, rest = arguments[: wrapper.first], arguments[wrapper.first :]
    assignments: list[Assignment] = []
    while name in ("env", "sudo") and rest and (found := assignment_of(rest[0].text, rest[0])) is not None:
        assignments.append(found)
        rest = rest[1:]
    if not rest:
        yield Run(simple)
        return
    yield Run(simple, transparent=True)
    marker = _replaced(simple.words[1:]) if name == "xargs" else ""
    inner = tuple(ANYTHING if marker and marker in word.text else word for word in rest)
    if wrapper.adds:
        inner = (*inner, ANYTHING)
    limited = name == "timeout" and all(re.fullmatch(r"0*[1-9]\d{0,3}[sm]?", word.text) for word in own)  # 0: never
    for run in _through(Simple(inner, tuple(assignments), (), simple.repeated, _written(rest)), depth + 1):
        yield replace(run, limited=run.limited or limited)


def _after_options(words: Sequence[Word], wrapper: _Wrapper) -> tuple[Word, ...]:
    """The words behind the options. Raises Unreadable for an option that is not known to take a value or not."""
    position = 0
    while position < len(words):
        word = words[position]
        if not word.known:
            break
        text = word.text
        if text == "--":
            return tuple(words[position + 1 :])
        if not text.startswith("-") or text == "-":
            break
        if text.startswith("--"):
            option, equals, _ = text.partition("=")
            if option in wrapper.long_values:
                position += 1 if equals else 2
            elif option in wrapper.long_flags:
                position += 1
            else:
                raise Unreadable(f"the option {option} is not known here")
        else:
            position += _short(text[1:], wrapper)
    return tuple(words[position:])


def _short(letters: str, wrapper: _Wrapper) -> int:
    """How many words a cluster of short options takes."""
    for number, letter in enumerate(letters):
        if letter in wrapper.values:
            return 1 if number + 1 < len(letters) else 2
        if letter not in wrapper.flags:
            raise Unreadable(f"the option -{letter} is not known here")
    return 1


def _replaced(words: Sequence[Word]) -> str:
    """What xargs replaces inside the words of the command."""
    for number, word in enumerate(words):
        if word.text.startswith("-I") or word.text.startswith("-i"):
            return word.text[2:] or (words[number + 1].text if number + 1 < len(words) else "") or "{}"
        if word.text.startswith("--replace"):
            return word.text.partition("=")[2] or "{}"
    return ""


# ── programs that run words between their own ───────────────────────────────────────────────────

_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})


def _executed(simple: Simple) -> Iterator[Simple]:
    """The commands behind -exec and its like."""
    words = simple.words[1:]
    for number, word in enumerate(words):
        if word.text in _EXEC:
            command: list[Word] = []
            for inner in words[number + 1 :]:
                if inner.text in (";", "+"):
                    break
                command.append(ANYTHING if "{}" in inner.text or "{/" in inner.text else inner)
            if command:
                added = () if ANYTHING in command else (ANYTHING,)
                yield Simple((*command, *added), repeated=True, text=_written(command))


_RUNNERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "uv": ("run",),
        "poetry": ("run",),
        "pipenv": ("run",),
        "pdm": ("run",),
        "hatch": ("run",),
        "rye": ("run",),
        "bundle": ("exec",),
        "npm": ("exec",),
        "pnpm": ("exec",),
        "yarn": ("exec",),
        "npx": (),
        "git": ("bisect", "run"),
        "parallel": (),
        "strace": (),
        "ssh-agent": (),
        "direnv": ("exec", "."),
    }
)
"""Programs that run others besides much else; the words between are theirs."""


def _run_by(simple: Simple, subcommand: tuple[str, ...]) -> Iterator[Simple]:
    words = list(simple.words[1:])
    for part in subcommand:
        while words and words[0].text != part and words[0].text.startswith("-"):
            words.pop(0)
        if not words or words.pop(0).text != part:
            return
    while words and words[0].text.startswith("-"):
        words.pop(0)
    if words:
        yield Simple(tuple(words), (), (), simple.repeated, _written(words))


def _written(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
