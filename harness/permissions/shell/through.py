"""What runs inside other commands: env, sudo, xargs, find -exec, sh -c and their like are looked through.

Three degrees of certainty. A wrapper whose options are all known is looked through word by word. A carrier is a program
that runs some of its words, of which only the name is known here: every word of it that may begin a command is taken
to begin one. What neither covers, and what is text that cannot be read, makes the run opaque.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.permissions.names import names
from harness.permissions.programs.grammar import option_names
from harness.permissions.shell.reading import read_line
from harness.permissions.shell.words import BASH, PORTABLE, Assignment, Dialect, Simple, Unreadable, Word, WordKind

PORTABLE_SHELLS = names("sh dash ash")
"""Shells of which any may be the one that runs a text for /bin/sh."""
SHELLS = (
    PORTABLE_SHELLS
    | {"bash"}
    | names("rbash zsh ksh ksh93 mksh lksh oksh posh yash fish csh tcsh hush osh nu elvish xonsh")
)
"""Of those that are neither bash nor portable the text is not read."""
TEXT_RUNNERS = frozenset({"eval", "trap", "watch"})
"""What runs its arguments as a command line."""
ANYTHING = Word("…", WordKind.UNKNOWN)
DEEPEST = 8
MOST_BEGINNINGS = 60
"""Words of a carrier that are tried as the beginning of a command."""


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
    understood: bool = False
    """The text that it runs is read, and its commands follow."""
    opaque: bool = False
    """It runs, or may run, what cannot be told from its words."""
    perhaps: bool = False
    """Words of another command that may be a command of their own, and may be no command at all."""


def runs_of(line: str, dialect: Dialect = BASH) -> tuple[Run, ...]:
    """Every command of a line, with those inside others. Raises Unreadable.

    `dialect`: "bash", or "portable" for a line that another shell may run.
    """
    return tuple(run for simple in read_line(line, dialect) for run in _through(simple, _Depth(0, dialect)))


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


_OBEYED = re.compile(
    r"GIT_(SSH(_COMMAND)?|EXTERNAL_DIFF|PROXY_COMMAND|CONFIG\w*|EXEC_PATH)|\w*(EDITOR|PAGER|VISUAL|BROWSER|ASKPASS)"
    r"|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|BASH_FUNC_.*",
    re.DOTALL,
)
"""Variables that hold a command."""
_HIDDEN = re.compile(r"\$[({\[]|`")
"""What runs once something evaluates the text: PS4 and BASH_ENV are, and a subscript in the name of a variable."""


def _hides(assignment: Assignment) -> bool:
    """It holds a command that something may run."""
    name, value = assignment.name, assignment.value
    if _OBEYED.fullmatch(name):
        return not (value.known and value.text in ("", "cat", "true", ":"))
    return value.known and _HIDDEN.search(value.text) is not None


def _through(simple: Simple, at: _Depth) -> Iterator[Run]:
    hides = any(map(_hides, simple.assignments))
    for run in _inside(simple, at):
        yield replace(run, opaque=True) if hides and run.simple is simple else run


def _inside(simple: Simple, at: _Depth) -> Iterator[Run]:
    if simple.program is None:
        yield Run(simple)
        return
    name = base_name(simple.program)
    if name in SHELLS:
        yield from _shell(simple, name, at)
    elif name in TEXT_RUNNERS:
        yield from {"eval": _eval, "trap": _trap, "watch": _watch}[name](simple, at)
    elif name in _WRAPPERS:
        yield from _wrapped(simple, name, _WRAPPERS[name], at)
    elif name in ("find", "fd", "fdfind"):
        yield from _found(simple, name, at)
    elif name in _RUNNERS:
        yield from _run_by(simple, _RUNNERS[name], at)
    elif name in _CARRIERS:
        yield from _carried(simple, _CARRIERS[name], at)
    elif name in _JOINERS:
        yield from _carried(simple, _JOINERS[name], at, opaque=True)
    elif name == "git":
        yield from _git(simple, at)
    elif name.startswith("git-"):
        yield Run(simple)
        inner = replace(simple, words=(Word("git"), Word(name.removeprefix("git-")), *simple.words[1:]))
        yield from (replace(run, inside=True) for run in _through(inner, at.deeper()))
    else:
        evaluates = _EVALUATING.get(name)
        yield Run(simple, opaque=evaluates is not None and evaluates(simple.words[1:]))


# ── shells and what takes a command line as text ────────────────────────────────────────────────

_SETTINGS = names("pipefail errexit nounset xtrace")


def _shell(simple: Simple, name: str, at: _Depth) -> Iterator[Run]:
    """SHELL [-eux] -c TEXT; every other way to say it is opaque, but for a script."""
    arguments = simple.words[1:]
    plain = not any(word.known and word.text.startswith(("-", "+")) for word in arguments)
    if name not in PORTABLE_SHELLS | {"bash"}:
        yield Run(simple, opaque=not plain)
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
        yield Run(simple, opaque=strange or setting)
        return
    # A login shell reads the profile of the user before the text.
    yield from _line(simple, text.text, at.deeper(BASH if name == "bash" else PORTABLE), transparent=not profile)


def _line(simple: Simple, text: str, at: _Depth, *, transparent: bool = True) -> Iterator[Run]:
    """A command that runs a text, and the commands of the text."""
    inner = read_line(text, at.dialect)
    yield Run(simple, transparent=transparent, understood=True)
    for one in inner:
        yield from _through(replace(one, in_chain=False), at)  # its chain is not that of the line around it


def _eval(simple: Simple, at: _Depth) -> Iterator[Run]:
    words = simple.words[1:]
    if words and words[0].known and words[0].text == "--" and at.dialect == BASH:
        words = words[1:]
    if not all(word.known for word in words) or (words and words[0].text.startswith("-")):
        yield Run(simple, opaque=True)
        return
    yield from _line(simple, _written(words), at.deeper())


def _trap(simple: Simple, at: _Depth) -> Iterator[Run]:
    words = simple.words[1:]
    if words and words[0].known and words[0].text == "--":
        words = words[1:]
    elif words and words[0].known and words[0].text in ("-p", "-l"):
        words = ()
    if not words or (words[0].known and words[0].text in ("", "-")):
        yield Run(simple, understood=True)
    elif not words[0].known or words[0].text.startswith("-"):
        yield Run(simple, opaque=True)
    else:
        yield from _line(simple, words[0].text, at.deeper())


def _watch(simple: Simple, at: _Depth) -> Iterator[Run]:
    """Which never ends, whatever it runs."""
    found = _WATCH.read(simple.words[1:])
    if found is None or not all(word.known for word in found.rest):
        yield from _carried(simple, "", at, opaque=True)
    elif not found.rest:
        yield Run(simple)
    elif found.has("x --exec"):
        yield Run(simple)
        yield from _through(_inner(simple, found.rest), at.deeper())
    else:
        yield from _line(simple, _written(found.rest), at.deeper(PORTABLE), transparent=False)


# ── programs that run the words behind their options ────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Options:
    """The options of a wrapper, each with its value, and the words behind them."""

    given: tuple[tuple[str, str], ...]
    rest: tuple[Word, ...]

    def has(self, wanted: str) -> bool:
        return any(name in option_names(wanted) for name, _ in self.given)

    def values(self, wanted: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.given if name in option_names(wanted))


@dataclass(frozen=True, slots=True)
class _Wrapper:
    """Options are written as in `programs.grammar`: letters are short options, `--name` is a long one."""

    flags: str = ""
    """Without a value."""
    values: str = ""
    """With a value."""
    maybe: str = ""
    """With a value that is glued on, or none."""
    acts: str = ""
    """Those of them with which it does more than run a command."""
    own: str = ""
    """Form of the one argument of its own before the command."""
    adds: bool = False
    """It adds words of its own to the command."""
    transparent: bool = True

    def read(self, words: Sequence[Word]) -> _Options | None:
        """The options up to the first word that is none; None where one of them is not known here."""
        given: list[tuple[str, str]] = []
        position = 0
        while position < len(words):
            word = words[position]
            if not word.known or not word.text.startswith("-") or word.text == "-":
                if word.text.startswith("-") and word.text != "-":
                    return None
                break
            position += 1
            if word.text == "--":
                break
            following = words[position] if position < len(words) else None
            taken = self._option(word.text, following, given)
            if taken is None:
                return None
            position += taken
        return _Options(tuple(given), tuple(words[position:]))

    def _option(self, text: str, following: Word | None, given: list[tuple[str, str]]) -> int | None:
        flags, values, maybe = option_names(self.flags), option_names(self.values), option_names(self.maybe)
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if not (name in maybe or (name in values if equals else name in values | flags)):
                return None
            if name not in values or equals:
                given.append((name, value))
                return 0
            return _separate(name, following, given)
        for number, letter in enumerate(text[1:], start=2):
            name, glued = f"-{letter}", text[number:]
            if name in maybe or (name in values and glued):
                given.append((name, glued))
                return 0
            if name in values:
                return _separate(name, following, given)
            if name not in flags:
                return None
            given.append((name, ""))
        return 0


def _separate(name: str, following: Word | None, given: list[tuple[str, str]]) -> int | None:
    if following is None or not following.known:
        return None
    given.append((name, following.text))
    return 1


_WATCH = _Wrapper(
    "bcegprtwx --beep --color --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec",
    "n --interval",
    "--differences",
)
_SCHEDULED = "[0-9]+"
_SLICE = r"[0-9a-fA-Fx,-]+"
_DURATION = r"[0-9.]+[smhd]?"

_WRAPPERS: Mapping[str, _Wrapper] = MappingProxyType(
    {
        "env": _Wrapper(
            "i0v --ignore-environment --null --debug",
            "u --unset",
            acts="iu --ignore-environment --unset",  # what makes git safe is among the variables
        ),
        "nice": _Wrapper("0123456789", "n --adjustment"),
        "sudo": _Wrapper(
            "nEHSbkAP --non-interactive --set-home --background --stdin --askpass",
            "ugpCT --user --group --prompt",
            "--preserve-env",
        ),
        "doas": _Wrapper("nL", "uC"),
        "nohup": _Wrapper(),
        "setsid": _Wrapper("cfw --ctty --fork --wait"),
        "stdbuf": _Wrapper("", "ioe --input --output --error"),
        "timeout": _Wrapper("v --preserve-status --foreground --verbose", "ks --signal --kill-after", own=_DURATION),
        "gtimeout": _Wrapper("v --preserve-status --foreground --verbose", "ks --signal --kill-after", own=_DURATION),
        "time": _Wrapper(
            "apqvlh --append --portability --quiet --verbose", "of --output --format", acts="oa --output --append"
        ),
        "gtime": _Wrapper(
            "apqv --append --portability --quiet --verbose", "of --output --format", acts="oa --output --append"
        ),
        "ionice": _Wrapper("t --ignore", "cn --class --classdata"),
        "chrt": _Wrapper("fr --fifo --rr", own=_SCHEDULED),
        "taskset": _Wrapper("c --cpu-list", own=_SLICE),
        "command": _Wrapper("p"),
        "builtin": _Wrapper(),
        "exec": _Wrapper("cl", "a", acts="c"),
        "caffeinate": _Wrapper("dimsu", "tw"),
        "busybox": _Wrapper(transparent=False),
        "toybox": _Wrapper(transparent=False),
        "xargs": _Wrapper(
            "0rtxpo --null --no-run-if-empty --verbose --exit --interactive --open-tty",
            "aEILnPsd --arg-file --delimiter --max-args --max-procs --max-chars",
            "iel --replace --max-lines --eof",
            acts="a --arg-file",
            adds=True,
        ),
    }
)
"""What does nothing but run its words, with the options that change nothing about which words are run."""


def _wrapped(simple: Simple, name: str, wrapper: _Wrapper, at: _Depth) -> Iterator[Run]:
    if name == "command" and len(simple.words) > 1 and simple.words[1].text in ("-v", "-V"):
        yield Run(simple)
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
        yield Run(simple, opaque=True)
        return
    if not rest:
        yield Run(simple)
        return
    yield Run(simple, transparent=wrapper.transparent and not found.has(wrapper.acts) and not emptied)
    inner = _with_input(simple, rest, found) if wrapper.adds else tuple(rest)
    limited = wrapper.own is _DURATION and bool(re.fullmatch(r"0*[1-9]\d{0,3}[sm]?", found.rest[0].text))  # 0: never
    within = Simple(inner, assignments, (), simple.repeated, _written(rest), simple.fed_by, simple.variables)
    for run in _through(within, at.deeper()):
        yield replace(run, limited=run.limited or limited)


def _with_input(simple: Simple, words: Sequence[Word], given: _Options) -> tuple[Word, ...]:
    """The words of the command that xargs runs, and what it puts between or behind them."""
    listed = () if given.has("a d E e --arg-file --delimiter --eof") else simple.fed_by
    word = replace(ANYTHING, listed_by=listed, whole=given.has("0 --null"))
    markers = [value or "{}" for value in given.values("Ii --replace")]
    inner = tuple(
        word if one.text in markers else ANYTHING if any(marker in one.text for marker in markers) else one
        for one in words
    )
    return inner if markers else (*inner, word)


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

_CARRIERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            names(
                "pkexec run0 gosu su-exec setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 "
                "ppc32 arch unshare nsenter chroot prlimit setpriv systemd-inhibit systemd-cat ltrace strace truss "
                "dtruss ktrace gdb "
                "gdbserver lldb rr valgrind perf dbus-run-session dbus-launch faketime torsocks torify tsocks "
                "proxychains proxychains4 trickle ssh-agent gpg-agent rlwrap rlfe unbuffer catchsegv eatmydata "
                "cpulimit "
                "numactl cgexec chpst softlimit setuidgid envdir envuidgid fakeroot fakechroot bwrap firejail "
                "sandbox-exec sshpass direnv op aws-vault doppler chamber envchain sops foreman honcho dotenv dotenvx "
                "env-cmd cross-env rbenv pyenv nodenv asdf volta fnm conda mamba micromamba pixi distrobox toolbox "
                "tini dumb-init start-stop-daemon daemonize daemon chronic ifne logsave ld.so ld-linux-x86-64.so.2 "
                "ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 tsp nocache schedtool cset multitime cgroup-run uvx pipx"
            ),
            "",
        ),
        "flock": "c --command",
        "lockf": "",
        "xvfb-run": "",
        "systemd-run": "",
        "mise": "c --command",
        "rtx": "c --command",
        "nodemon": "x --exec",
        "asciinema": "c --command",
        "tmux": "c",
        "screen": "X",
    }
)
"""Programs that run some of their words, with the options whose value is a command line."""
_JOINERS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(names("su runuser sg newgrp script"), "c --command --session-command"),
        **dict.fromkeys(names("parallel sem expect at batch entr watchexec reflex concurrently hyperfine bench"), ""),
        **dict.fromkeys(names("capsh mispipe pee guix nix devbox flatpak runcon"), ""),
        "nix-shell": "--run --command",
    }
)
"""Programs that make a command line of their words or of what they read, by rules of their own: opaque."""


def _carried(simple: Simple, texts: str, at: _Depth, *, opaque: bool = False) -> Iterator[Run]:
    """Every word that may begin a command is taken for one that does; `texts` are options with a command line."""
    words = simple.words[1:]
    found: list[Run] = []
    opaque = opaque or len(words) > MOST_BEGINNINGS
    for number, word in enumerate(words[:MOST_BEGINNINGS]):
        if not word.known:
            opaque = True
            continue
        if texts and word.text.startswith("-"):
            which = _text_option(word.text, texts)
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
    yield Run(simple, opaque=opaque)
    yield from (replace(run, inside=True, perhaps=True) for run in found)


def _text_option(text: str, texts: str) -> bool | None:
    """Whether the next word is a command line; None: this word may hold one itself."""
    wanted = option_names(texts)
    if text.startswith("--"):
        if text in wanted:
            return True
        return None if any(option.startswith(text.partition("=")[0]) for option in wanted) and text != "--" else False
    letters = [letter for letter in text[1:] if f"-{letter}" in wanted]
    return False if not letters else True if text.endswith(letters[0]) else None


@dataclass(frozen=True, slots=True)
class _Runner:
    """A program that does much else, and runs words behind a subcommand."""

    subcommand: tuple[str, ...]
    options: _Wrapper = _Wrapper()
    texts: str = ""
    instead: str = ""
    """Options with which it runs no command of the line: a module, a script."""


_RUNNERS: Mapping[str, _Runner] = MappingProxyType(
    {
        "uv": _Runner(
            ("run",),
            _Wrapper(
                "qvnUms --quiet --verbose --all-extras --dev --no-dev --only-dev --all-groups --no-default-groups "
                "--frozen --locked --no-sync --no-project --isolated --active --exact --offline --all-packages "
                "--no-progress --upgrade --no-cache --no-config --no-env-file --module --script",
                "p --python --with --with-editable --with-requirements --extra --no-extra --group --no-group "
                "--only-group --package --color --index --default-index",
            ),
            instead="ms --module --script",
        ),
        **dict.fromkeys(("poetry", "pipenv", "pdm", "hatch", "rye"), _Runner(("run",), _Wrapper("qvn"))),
        "bundle": _Runner(("exec",), _Wrapper("--keep-file-descriptors")),
        **dict.fromkeys(
            ("npm", "pnpm", "yarn"),
            _Runner(("exec",), _Wrapper("yq --yes --quiet --silent --no", "p --package"), "c --call"),
        ),
        **dict.fromkeys(
            ("npx", "bunx"), _Runner((), _Wrapper("yq --yes --no-install --quiet --no", "p --package"), "c --call")
        ),
    }
)


def _run_by(simple: Simple, runner: _Runner, at: _Depth) -> Iterator[Run]:
    words = simple.words[1:]
    given = runner.options.read(words)
    for part in runner.subcommand:
        if given is not None and given.rest and given.rest[0].known and given.rest[0].text != part:
            if given.given or part not in [word.text for word in words]:
                yield Run(simple)
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
        yield from _carried(simple, runner.texts, at, opaque=True) if meant else iter((Run(simple),))
        return
    yield Run(simple)
    if given.rest and not given.has(runner.instead):
        for run in _through(_inner(simple, given.rest), at.deeper()):
            yield replace(run, inside=True)


# ── find, git, and built-ins that evaluate ──────────────────────────────────────────────────────

_EXEC = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})


def _found(simple: Simple, name: str, at: _Depth) -> Iterator[Run]:
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
    yield Run(simple, opaque=hidden)
    for number, word in enumerate(words):
        if word.text in _EXEC:
            before = Simple((simple.words[0], *words[:number], Word("-print0")), simple.assignments)
            file = replace(ANYTHING, listed_by=(before,), whole=True)
            command: list[Word] = []
            for inner in words[number + 1 :]:
                if inner.text == ";" or (inner.text == "+" and command[-1:] == [ANYTHING]):
                    break
                braces = "{" in inner.text and "}" in inner.text
                command.append(file if inner.text == "{}" and name == "find" else ANYTHING if braces else inner)
            if command:
                added = () if file in command or ANYTHING in command else (ANYTHING,)
                yield from _through(Simple((*command, *added), repeated=True, text=_written(command)), at.deeper())


_GIT_OPTIONS = _Wrapper(
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


def _git(simple: Simple, at: _Depth) -> Iterator[Run]:
    """git, whose settings may name commands, and of whose subcommands some run others."""
    found = _GIT_OPTIONS.read(simple.words[1:])
    settings = found is not None and all(_GIT_SETTINGS.match(value) for value in found.values("c"))
    if found is None or not settings:
        yield Run(simple, opaque=True)
        return
    texts = [word.text for word in found.rest]
    match texts[:2]:
        case ["bisect", "run"]:
            yield Run(simple)
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
                yield Run(simple, opaque=True)
            else:
                yield from _line(simple, _written(words), at.deeper(PORTABLE), transparent=False)
        case ["rebase" | "difftool", *_]:
            texts_of = "x --exec" if texts[0] == "rebase" else "x --extcmd"
            for run in _carried(simple, texts_of, replace(at, tried=True)):
                yield replace(run, inside=False, perhaps=False)
        case ["config", *_]:
            named = [text for text in texts[1:] if not text.startswith("-")]
            yield Run(simple, opaque=len(named) > 1 and any(map(_names_a_command, named)))
        case ["filter-branch" | "for-each-repo", *_]:
            yield Run(simple, opaque=True)
        case _:
            yield Run(simple)


def _subscript(words: Sequence[Word]) -> bool:
    """One of the words may be an element of a list, whose index bash evaluates."""
    return any(word.kind is WordKind.UNKNOWN or "[" in word.text for word in words)


def _tests(words: Sequence[Word]) -> bool:
    """A test of a variable, or one that may turn out to be."""
    return (any(word.text == "-v" for word in words) and _subscript(words)) or _writes_a_subscript(words)


def _formats(words: Sequence[Word]) -> bool:
    """printf -v, or what may turn out to be."""
    return (bool(words) and words[0].text.startswith("-v") and _subscript(words[:2])) or _writes_a_subscript(words[1:2])


def _writes_a_subscript(words: Sequence[Word]) -> bool:
    return any(word.known and "[" in word.text and _HIDDEN.search(word.text) for word in words)


def _declares(words: Sequence[Word]) -> bool:
    """A declaration that evaluates: a subscript, a name made up, or an attribute that makes a value an expression."""
    return any(
        (word.known and re.match(r"[-+]", word.text) is not None and not re.fullmatch(r"[-+][xrgplufF]+|--", word.text))
        or (not word.text.startswith(("-", "+")) and not re.match(r"[A-Za-z_]\w*(\+?=|$)", word.text))
        or _hides(Assignment(word.text.partition("=")[0], Word(word.text.partition("=")[2], word.kind)))
        for word in words
    )


def _maps(words: Sequence[Word]) -> bool:
    return _subscript(words) or any(re.match(r"-\w*C", word.text) for word in words)


_EVALUATING: Mapping[str, Callable[[Sequence[Word]], bool]] = MappingProxyType(
    {
        **dict.fromkeys(("read", "unset", "getopts"), _subscript),
        "wait": lambda words: _subscript([word for word in words if word.text != "$!"]),
        **dict.fromkeys(("mapfile", "readarray"), _maps),
        **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declares),
        **dict.fromkeys(("test", "["), _tests),
        "printf": _formats,
        **dict.fromkeys(("let", "complete", "compgen", "compopt", "bind", "enable"), bool),
        "alias": lambda words: any("=" in word.text or not word.known for word in words),
        "hash": lambda words: any(not word.known or re.match(r"-\w*p", word.text) for word in words),
        "jobs": lambda words: any(not word.known or re.match(r"-\w*x", word.text) for word in words),
        "fc": bool,
    }
)
"""Built-ins that run or evaluate some of their words, and whether these words are such."""


def _inner(simple: Simple, words: Sequence[Word]) -> Simple:
    """A command within the words of another."""
    return Simple(tuple(words), (), (), simple.repeated, _written(words), simple.fed_by, simple.variables)


def _written(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
