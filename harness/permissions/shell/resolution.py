"""Commands that run inside other commands: env, sudo, xargs, find -exec, sh -c and their like are looked through.

Three degrees of certainty. A wrapper whose options are all known is looked through word by word. A carrier is a program
that runs some of its words and is known only by name: every word of it that may begin a command is taken to begin one.
A word outside both, or text that cannot be read, makes the run opaque.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.permissions.name_sets import names
from harness.permissions.shell.evaluating_builtins import EVALUATING, hides_a_command
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import (
    BASH,
    PORTABLE,
    Assignment,
    Dialect,
    SimpleCommand,
    Unreadable,
    Word,
    WordKind,
)
from harness.permissions.shell.wrappers import (
    CARRIERS,
    DURATION,
    JOINERS,
    RUNNERS,
    WATCH,
    WRAPPERS,
    SubcommandRunner,
    Wrapper,
    WrapperOptions,
    runs_next_word,
)

PORTABLE_SHELLS = names("sh dash ash")
"""Shells that may be /bin/sh."""
SHELLS = (
    PORTABLE_SHELLS
    | {"bash"}
    | names("rbash zsh ksh ksh93 mksh lksh oksh posh yash fish csh tcsh hush osh nu elvish xonsh")
)
"""Of those that are neither bash nor portable the text is not read."""
TEXT_RUNNERS = frozenset({"eval", "trap", "watch"})
"""Programs that run their arguments as a command line."""
ANYTHING = Word("…", WordKind.UNKNOWN)
DEEPEST = 8
MOST_BEGINNINGS = 60
"""Words of a carrier that are tried as the beginning of a command."""


@dataclass(frozen=True, slots=True)
class ResolvedCommand:
    """A command that a line would run."""

    simple: SimpleCommand
    transparent: bool = False
    """It only runs another command, which follows."""
    inside: bool = False
    """Whoever allows the command around it has allowed this one, unless it is dangerous."""
    limited: bool = False
    """It is ended after a while, if it has not ended by then."""
    understood: bool = False
    """The text that it runs is read, and its commands follow."""
    opaque: bool = False
    """It runs, or may run, commands that its words do not determine."""
    perhaps: bool = False
    """Words of another command that may be a command of their own, and may be no command at all."""


def resolved_commands(line: str, dialect: Dialect = BASH) -> tuple[ResolvedCommand, ...]:
    """Every command of a line, with those inside others. Raises Unreadable.

    `dialect`: "bash", or "portable" for a line that another shell may run.
    """
    return tuple(run for simple in read_line(line, dialect) for run in _through(simple, _Depth(0, dialect)))


def commands_of(line: str) -> tuple[tuple[str, ...], ...]:
    """Every command that a line would run, as its words: for hooks, which would otherwise search the line as text.

    Chains, pipes, quotes, substitutions and `sh -c` are read as bash reads them. Raises Unreadable, a clause, for a
    line that cannot be read for certain.
    """
    words = (tuple(word.text for word in run.simple.words) for run in resolved_commands(line))
    return tuple(command for command in words if command)


def base_name(program: str) -> str:
    """The program without its folder, in small letters: some systems take RM for rm."""
    return program.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


@dataclass(frozen=True, slots=True)
class _Depth:
    """How deep inside other commands this one is, and which shell reads it."""

    level: int
    dialect: Dialect
    tried: bool = False
    """It is one of the commands that a carrier may run, which tries the rest of its words too."""

    def deeper(self, dialect: Dialect | None = None) -> "_Depth":
        if self.level >= DEEPEST:
            raise Unreadable(f"more than {DEEPEST} commands run one another")
        return replace(self, level=self.level + 1, dialect=dialect or self.dialect, tried=self.tried and not dialect)


def _through(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    hides = any(map(hides_a_command, simple.assignments))
    for run in _inside(simple, at):
        yield replace(run, opaque=True) if hides and run.simple is simple else run


def _inside(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    if simple.program is None:
        yield ResolvedCommand(simple)
        return
    name = base_name(simple.program)
    if name in SHELLS:
        yield from _shell(simple, name, at)
    elif name in TEXT_RUNNERS:
        yield from {"eval": _eval, "trap": _trap, "watch": _watch}[name](simple, at)
    elif name in WRAPPERS:
        yield from _wrapped(simple, name, WRAPPERS[name], at)
    elif name in ("find", "fd", "fdfind"):
        yield from _found(simple, name, at)
    elif name in RUNNERS:
        yield from _run_by(simple, RUNNERS[name], at)
    elif name in CARRIERS:
        yield from _carried(simple, CARRIERS[name], at)
    elif name in JOINERS:
        yield from _carried(simple, JOINERS[name], at, opaque=True)
    elif name == "git":
        yield from _git(simple, at)
    elif name.startswith("git-"):
        yield ResolvedCommand(simple)
        inner = replace(simple, words=(Word("git"), Word(name.removeprefix("git-")), *simple.words[1:]))
        yield from (replace(run, inside=True) for run in _through(inner, at.deeper()))
    else:
        evaluates = EVALUATING.get(name)
        yield ResolvedCommand(simple, opaque=evaluates is not None and evaluates(simple.words[1:]))


# ── shells and what takes a command line as text ────────────────────────────────────────────────

_SETTINGS = names("pipefail errexit nounset xtrace")


def _shell(simple: SimpleCommand, name: str, at: _Depth) -> Iterator[ResolvedCommand]:
    """SHELL [-eux] -c TEXT; every other way to say it is opaque, but for a script."""
    arguments = simple.words[1:]
    plain = not any(word.known and word.text.startswith(("-", "+")) for word in arguments)
    if name not in PORTABLE_SHELLS | {"bash"}:
        yield ResolvedCommand(simple, opaque=not plain)
        return
    login = "l" if name == "bash" else ""
    of_bash = ("--noprofile", "--norc", "--login") if name == "bash" else ()
    text: Word | None = None
    profile, setting, strange = False, False, False
    for number, word in enumerate(arguments):
        if setting:
            setting, strange = False, not (word.known and word.text in _SETTINGS)
        elif not word.known or not word.text.startswith(("-", "+")):
            break
        elif re.fullmatch(rf"-[euxv{login}]*c[euxv{login}]*", word.text):
            text = arguments[number + 1] if number + 1 < len(arguments) else None
            strange = text is None or not text.known or text.text.startswith(("-", "+"))
            profile = profile or "l" in word.text
            break
        elif re.fullmatch(rf"-[euxv{login}]*o?", word.text) and word.text != "-":
            setting = word.text.endswith("o")
            profile = profile or "l" in word.text
        elif word.text in of_bash:
            profile = profile or word.text == "--login"
        else:
            strange = [one.text for one in arguments] not in (["--version"], ["--help"])
        if strange:
            break
    if text is None or strange:
        yield ResolvedCommand(simple, opaque=strange or setting)
        return
    # A login shell reads the profile of the user before the text.
    yield from _line(simple, text.text, at.deeper(BASH if name == "bash" else PORTABLE), transparent=not profile)


def _line(simple: SimpleCommand, text: str, at: _Depth, *, transparent: bool = True) -> Iterator[ResolvedCommand]:
    """A command that runs a text, and the commands of the text."""
    inner = read_line(text, at.dialect)
    yield ResolvedCommand(simple, transparent=transparent, understood=True)
    for one in inner:
        yield from _through(replace(one, in_chain=False), at)  # its chain is not that of the line around it


def _eval(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    words = simple.words[1:]
    if words and words[0].known and words[0].text == "--" and at.dialect == BASH:
        words = words[1:]
    if not all(word.known for word in words) or (words and words[0].text.startswith("-")):
        yield ResolvedCommand(simple, opaque=True)
        return
    yield from _line(simple, _written(words), at.deeper())


def _trap(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    words = simple.words[1:]
    if words and words[0].known and words[0].text == "--":
        words = words[1:]
    elif words and words[0].known and words[0].text in ("-p", "-l"):
        words = ()
    if not words or (words[0].known and words[0].text in ("", "-")):
        yield ResolvedCommand(simple, understood=True)
    elif not words[0].known or words[0].text.startswith("-"):
        yield ResolvedCommand(simple, opaque=True)
    else:
        yield from _line(simple, words[0].text, at.deeper())


def _watch(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    """Which never ends, whatever it runs."""
    found = WATCH.read(simple.words[1:])
    if found is None or not all(word.known for word in found.rest):
        yield from _carried(simple, "", at, opaque=True)
    elif not found.rest:
        yield ResolvedCommand(simple)
    elif found.has("x --exec"):
        yield ResolvedCommand(simple)
        yield from _through(_inner(simple, found.rest), at.deeper())
    else:
        yield from _line(simple, _written(found.rest), at.deeper(PORTABLE), transparent=False)


# ── programs that run the words behind their options ────────────────────────────────────────────


def _wrapped(simple: SimpleCommand, name: str, wrapper: Wrapper, at: _Depth) -> Iterator[ResolvedCommand]:
    if name == "command" and len(simple.words) > 1 and simple.words[1].text in ("-v", "-V"):
        yield ResolvedCommand(simple)
        return
    found = wrapper.read(simple.words[1:])
    if found is None:
        yield from _carried(simple, "", at, opaque=True)
        return
    rest = found.rest
    if wrapper.own and rest:
        if not (rest[0].known and re.fullmatch(wrapper.own, rest[0].text)):
            yield from _carried(simple, "", at, opaque=True)
            return
        rest = rest[1:]
    assignments: tuple[Assignment, ...] = ()
    emptied = name == "env" and bool(rest) and rest[0].known and rest[0].text == "-"
    if emptied:
        rest = rest[1:]
    if name in ("env", "sudo"):
        assignments, rest = _environment(rest)
    if rest and rest[0].text.startswith("-"):
        yield ResolvedCommand(simple, opaque=True)
        return
    if not rest:
        yield ResolvedCommand(simple)
        return
    yield ResolvedCommand(simple, transparent=wrapper.transparent and not found.has(wrapper.acts) and not emptied)
    inner = _with_input(rest, found) if wrapper.adds else tuple(rest)
    limited = wrapper.own is DURATION and bool(re.fullmatch(r"0*[1-9]\d{0,3}[sm]?", found.rest[0].text))  # 0: never
    within = SimpleCommand(inner, assignments, (), simple.repeated, _written(rest), simple.variables)
    for run in _through(within, at.deeper()):
        yield replace(run, limited=run.limited or limited)


def _with_input(words: Sequence[Word], given: WrapperOptions) -> tuple[Word, ...]:
    """The words of the command that xargs runs, and what it puts between or behind them."""
    markers = [value or "{}" for value in given.values("Ii --replace")]
    inner = tuple(ANYTHING if any(marker in one.text for marker in markers) else one for one in words)
    return inner if markers else (*inner, ANYTHING)


def _environment(words: tuple[Word, ...]) -> tuple[tuple[Assignment, ...], tuple[Word, ...]]:
    """The assignments of env and sudo, for which every = makes one, and the command behind them."""
    assignments = []
    while words and _assigned(words[0]):
        name, _, value = words[0].text.partition("=")
        assignments.append(Assignment(name, Word(value, words[0].kind)))
        words = words[1:]
    return tuple(assignments), words


def _assigned(word: Word) -> bool:
    if word.kind is WordKind.UNKNOWN and not word.split:
        return re.match(r"[A-Za-z_][A-Za-z0-9_]*=", word.text) is not None
    return word.known and "=" in word.text


# ── programs that run some of their words ───────────────────────────────────────────────────────


def _carried(simple: SimpleCommand, texts: str, at: _Depth, *, opaque: bool = False) -> Iterator[ResolvedCommand]:
    """Every word that may begin a command counts as one; `texts` are options with a command line."""
    words = simple.words[1:]
    found: list[ResolvedCommand] = []
    opaque = opaque or len(words) > MOST_BEGINNINGS
    for number, word in enumerate(words[:MOST_BEGINNINGS]):
        if not word.known:
            opaque = True
            continue
        if texts and word.text.startswith("-"):
            which = runs_next_word(word.text, texts)
            opaque = opaque or which is None
            if which and number + 1 < len(words) and words[number + 1].known:
                try:
                    inner = read_line(words[number + 1].text, PORTABLE)
                    found += (run for one in inner for run in _through(one, at.deeper(PORTABLE)))
                except Unreadable:
                    opaque = True
        if not word.text.startswith("-") and word.text and not at.tried:
            within = _inner(simple, words[number:])
            found += _through(within, replace(at.deeper(), tried=True))
    yield ResolvedCommand(simple, opaque=opaque)
    yield from (replace(run, inside=True, perhaps=True) for run in found)


def _run_by(simple: SimpleCommand, runner: SubcommandRunner, at: _Depth) -> Iterator[ResolvedCommand]:
    words = simple.words[1:]
    given = runner.options.read(words)
    for part in runner.subcommand:
        if given is not None and given.rest and given.rest[0].known and given.rest[0].text != part:
            if given.given or part not in [word.text for word in words]:
                yield ResolvedCommand(simple)
                return
            given = None
        if given is None or not given.rest:
            break
        if not given.rest[0].known:
            given = None
            break
        given = runner.options.read(given.rest[1:])
    if given is None:
        meant = all(
            part in [word.text for word in words] or not all(one.known for one in words) for part in runner.subcommand
        )
        yield from _carried(simple, runner.texts, at, opaque=True) if meant else iter((ResolvedCommand(simple),))
        return
    yield ResolvedCommand(simple)
    if given.rest and not given.has(runner.instead):
        for run in _through(_inner(simple, given.rest), at.deeper()):
            yield replace(run, inside=True)


# ── find, git, and built-ins that evaluate ──────────────────────────────────────────────────────

_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})


def _found(simple: SimpleCommand, name: str, at: _Depth) -> Iterator[ResolvedCommand]:
    """find and fd, with the commands behind -exec and its like."""
    words = simple.words[1:]
    unknown = [word for word in words if word.kind is WordKind.UNKNOWN]
    hidden = (
        any(word.split for word in unknown)
        or (bool(unknown) and any(word.text in (";", "+") for word in words))
        or (
            name != "find" and any(word.text not in _EXEC and re.match(r"-\w*[xX]|--exec", word.text) for word in words)
        )
    )
    yield ResolvedCommand(simple, opaque=hidden)
    for number, word in enumerate(words):
        if word.text in _EXEC:
            command: list[Word] = []
            for inner in words[number + 1 :]:
                if inner.text == ";" or (inner.text == "+" and command[-1:] == [ANYTHING]):
                    break
                braces = "{" in inner.text and "}" in inner.text
                command.append(ANYTHING if braces else inner)
            if command:
                added = () if ANYTHING in command else (ANYTHING,)
                yield from _through(
                    SimpleCommand((*command, *added), repeated=True, text=_written(command)), at.deeper()
                )


_GIT_OPTIONS = Wrapper(
    "pPvh --paginate --no-pager --bare --no-replace-objects --no-optional-locks --no-lazy-fetch --literal-pathspecs "
    "--glob-pathspecs --noglob-pathspecs --icase-pathspecs --version --help --html-path --man-path --info-path "
    "--exec-path --no-advice",
    "Cc --git-dir --work-tree --namespace --list-cmds --attr-source",
)
_GIT_SETTINGS = re.compile(
    r"(user\.(name|email)|(color|advice|column)\.[\w.-]+|core\.(quotepath|autocrlf|abbrev|filemode|longpaths|ignorecase)"
    r"|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|log\.\w+|diff\.(noprefix|renames|algorithm|context)"
    r"|merge\.conflictstyle|pull\.(ff|rebase)|fetch\.prune|push\.default|rebase\.auto\w+|gc\.auto|http\.\w+version"
    r"|safe\.directory|protocol\.version|core\.(pager|editor)=(cat|true|:)?$)(=|$)",
    re.IGNORECASE,
)
"""Settings that make git run nothing else."""


def _names_a_command(key: str) -> bool:
    """A setting that may hold a command, which another git command runs."""
    begins = ("alias.", "core.", "filter.", "diff.", "merge.", "credential.", "url.", "include", "gpg.", "sequence.")
    return key.lower().startswith((*begins, "difftool.", "mergetool.", "pager.")) and not _GIT_SETTINGS.match(key)


def _git(simple: SimpleCommand, at: _Depth) -> Iterator[ResolvedCommand]:
    """git, whose settings may name commands, and of whose subcommands some run others."""
    found = _GIT_OPTIONS.read(simple.words[1:])
    settings = found is not None and all(_GIT_SETTINGS.match(value) for value in found.values("c"))
    if found is None or not settings:
        yield ResolvedCommand(simple, opaque=True)
        return
    texts = [word.text for word in found.rest]
    match texts[:2]:
        case ["bisect", "run"]:
            yield ResolvedCommand(simple)
            if texts[2:]:
                yield from _through(_inner(simple, found.rest[2:]), at.deeper())
        case ["submodule", _] if "foreach" in texts:
            words = found.rest[texts.index("foreach") + 1 :]
            while words and words[0].known and words[0].text in ("--recursive", "-q", "--quiet"):
                words = words[1:]
            if (
                not words
                or not all(word.known and not word.text.startswith("-") for word in words[:1])
                or not all(word.known for word in words)
            ):
                yield ResolvedCommand(simple, opaque=True)
            else:
                yield from _line(simple, _written(words), at.deeper(PORTABLE), transparent=False)
        case ["rebase" | "difftool", *_]:
            texts_of = "x --exec" if texts[0] == "rebase" else "x --extcmd"
            for run in _carried(simple, texts_of, replace(at, tried=True)):
                yield replace(run, inside=False, perhaps=False)
        case ["config", *_]:
            named = [text for text in texts[1:] if not text.startswith("-")]
            yield ResolvedCommand(simple, opaque=len(named) > 1 and any(map(_names_a_command, named)))
        case ["filter-branch" | "for-each-repo", *_]:
            yield ResolvedCommand(simple, opaque=True)
        case _:
            yield ResolvedCommand(simple)


def _inner(simple: SimpleCommand, words: Sequence[Word]) -> SimpleCommand:
    """A command within the words of another."""
    return SimpleCommand(tuple(words), (), (), simple.repeated, _written(words), simple.variables)


def _written(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
