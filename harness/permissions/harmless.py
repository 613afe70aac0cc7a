"""Commands that only look: what may run unasked, as long as it reads nothing but the workspace.

A program that is not in these tables is not harmless, and neither is an option that is forbidden here. The tables are
about what a program does with its arguments; which paths it may read is decided where the paths are known.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.permissions.names import names
from harness.permissions.options import Arguments
from harness.permissions.shell.words import Assignment, Simple, Word, WordKind

VARIABLES = names(
    "LANG LANGUAGE TZ TERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR CI DEBIAN_FRONTEND "
    "PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8 NODE_ENV RUST_BACKTRACE "
    "RUST_LOG DEBUG VERBOSE"
)
"""Variables that change how a program speaks, and nothing that it runs."""


@dataclass(frozen=True, slots=True)
class Looks:
    """A command only looks."""

    reads: tuple[Word, ...] = ()
    """What of its words may be paths that it reads."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """How a program is harmless."""

    but: str = ""
    """Short options with which it is not."""
    long: tuple[str, ...] = ()
    """Long ones."""
    most: int | None = None
    """Most words that are no options; None: any number."""
    paths: bool = True
    """Its words may be paths; False: they are text, and may hold what is not known."""
    skips: int = 0
    """Words in front that are text, such as what is searched for."""
    test: Callable[[Arguments], bool] | None = None
    ends: Callable[[Arguments], bool] | None = None
    """Whether it ends by itself with these arguments; None: with any."""


def looks(simple: Simple, *, limited: bool = False) -> Looks | None:
    """What a command reads if it does nothing but look and ends by itself; None where it may do more.

    `limited`: something else ends it after a while.
    """
    if not all(map(harmless_assignment, simple.assignments)):
        return None
    if not simple.words:
        return Looks()
    if simple.program is None:
        return None
    arguments = Arguments(simple.words[1:])
    if simple.program == "git":
        return _git(arguments)
    if simple.program in _VERSIONED and [word.text for word in arguments.words] in (["--version"], ["-V"], ["-v"]):
        return Looks()
    reader = _READERS.get(simple.program)
    if reader is None or not (limited or reader.ends is None or reader.ends(arguments)):
        return None
    return _looks(reader, arguments)


def harmless_assignment(assignment: Assignment) -> bool:
    """It changes no program: a known variable, or one in small letters that no program asks for."""
    name = assignment.name
    return name in VARIABLES or name.startswith("LC_") or (name.islower() and not name.endswith(("proxy", "path")))


def _looks(reader: _Reader, arguments: Arguments) -> Looks | None:
    if not reader.paths:
        strange = arguments.words[:1] and arguments.words[0].kind is WordKind.UNKNOWN and (reader.but or reader.long)
        if strange or arguments.has(reader.but, *reader.long) or (reader.test and not reader.test(arguments)):
            return None
        if any(_SECRET.search(word.text) for word in arguments.words if word.kind is WordKind.UNKNOWN):
            return None
        return Looks(tuple(word for word in arguments.words if word.kind is WordKind.GLOB))
    if arguments.surprising and (reader.but or reader.long or reader.test or reader.most is not None):
        return None
    if any(word.kind is WordKind.UNKNOWN for word in arguments.words):
        return None
    if arguments.has(reader.but, *reader.long) or (reader.test and not reader.test(arguments)):
        return None
    if reader.most is not None and len(arguments.positionals) > reader.most:
        return None
    skips = reader.skips if not arguments.has("ef", "--regexp", "--file", "--from-file") else 0
    skipped = arguments.positionals[:skips]
    return Looks(tuple(word for word in arguments.paths if word not in skipped))


_SECRET = re.compile(r"\$\{?#?\w*(TOKEN|KEY|SECRET|PASS|CRED|AUTH)", re.IGNORECASE)
"""A variable whose name says that nobody should read it."""
_ANY = _Reader()
_TEXT = _Reader(paths=False)
_NOTHING = _Reader(most=0)
_SEARCH = _Reader(but="R", long=("--dereference-recursive",), skips=1)
_FIND_ACTS = names("-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls -L -follow -files0-from")


def _finds(arguments: Arguments) -> bool:
    return not any(word.text in _FIND_ACTS for word in arguments.words)


def _prints_lines(arguments: Arguments) -> bool:
    """sed -n with an address and p, which cannot write or run anything."""
    scripts = [word for word in arguments.positionals if not re.search(r"[./]", word.text)][:1]
    return (
        [option.text for option in arguments.options] == ["-n"]
        and bool(scripts)
        and scripts[0] == arguments.positionals[0]
        and re.fullmatch(r"(\d+|\$)?(,(\d+|\$))?p", scripts[0].text) is not None
    )


def _shows_a_date(arguments: Arguments) -> bool:
    return all(word.text.startswith("+") for word in arguments.positionals)


def _sets_plainly(arguments: Arguments) -> bool:
    return all(re.fullmatch(r"[-+][eux]+|[-+]e?u?o|pipefail", word.text) for word in arguments.words)


def _lists_processes(arguments: Arguments) -> bool:
    """ps without e and E, which show the variables of other programs."""
    return all(re.fullmatch(r"-[a-zA-DF-Z0-9,=]+|[aufxlw]+|[0-9]+", word.text) for word in arguments.words)


def _knows_no_variables(arguments: Arguments) -> bool:
    return not any(re.search(r"env|import|include", word.text, re.IGNORECASE) for word in arguments.words)


def _follows_nothing(arguments: Arguments) -> bool:
    """tail stops at the end of the file. A letter behind -n or -c may be a value; then it asks without need."""
    return not arguments.has("fF", "--follow")


def _wakes_up(arguments: Arguments) -> bool:
    return not any(word.text.lower().startswith("inf") for word in arguments.words)


def _counts_to_an_end(arguments: Arguments) -> bool:
    """seq without an infinite number, and without a step of 0."""
    texts = [word.text.lower() for word in arguments.words]
    numbers = [text for text in texts if re.match(r"[-+]?\.?[0-9]", text)]
    step = numbers[-2] if len(numbers) > 2 else "1"
    return not any("inf" in text for text in texts) and re.fullmatch(r"[-+]?[0.]+(e.*)?", step) is None


def _has_no_loop(arguments: Arguments) -> bool:
    """A program of jq that calls nothing that may go on for ever."""
    return not any(re.search(r"\b(def|repeat|while|until|recurse|infinite)\b", word.text) for word in arguments.words)


def _says_it_once(arguments: Arguments) -> bool:
    return not arguments.has("s", "--seconds")


def _asks_where(arguments: Arguments) -> bool:
    return bool(arguments.words) and arguments.words[0].text in ("-v", "-V")


_READERS: Mapping[str, _Reader] = MappingProxyType(
    {
        **dict.fromkeys(("ls", "cat", "head", "wc", "stat", "nl", "od", "hexdump", "strings", "cut", "column"), _ANY),
        **dict.fromkeys(("comm", "cmp", "paste", "fold", "fmt", "rev", "tac", "expand", "unexpand", "join"), _ANY),
        **dict.fromkeys(("basename", "dirname", "realpath", "readlink", "df", "cksum", "sum"), _ANY),
        "tail": _Reader(ends=_follows_nothing),
        **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"), _ANY),
        "diff": _ANY,
        "du": _Reader(but="L", long=("--dereference",)),
        "file": _Reader(but="CmP", long=("--compile", "--magic-file")),
        "sort": _Reader(but="oT", long=("--output", "--compress-program", "--temporary-directory", "--files0-from")),
        "uniq": _Reader(most=1),
        "tr": _TEXT,
        **dict.fromkeys(("grep", "egrep", "fgrep"), _SEARCH),
        "rg": _Reader(but="Lz", long=("--pre", "--follow", "--hostname-bin", "--search-zip", "--pre-glob"), skips=1),
        "find": _Reader(test=_finds),
        "fd": _Reader(but="xXL", long=("--exec", "--exec-batch", "--follow")),
        "tree": _Reader(but="olR", long=("--output",)),
        "jq": _Reader(
            but="fL",
            long=("--from-file", "--rawfile", "--slurpfile", "--argfile"),
            test=_knows_no_variables,
            ends=_has_no_loop,
        ),
        "sed": _Reader(test=_prints_lines, skips=1),
        "echo": _TEXT,
        "printf": _Reader(but="v", paths=False),
        "test": _Reader(but="v"),
        "[": _Reader(but="v"),
        **dict.fromkeys(("true", "false", ":", "exit", "break", "continue", "wait"), _TEXT),
        "sleep": _Reader(paths=False, ends=_wakes_up),
        "seq": _Reader(paths=False, ends=_counts_to_an_end),
        "set": _Reader(paths=False, test=_sets_plainly),
        "date": _Reader(but="s", long=("--set",), paths=False, test=_shows_a_date),
        **dict.fromkeys(("pwd", "whoami", "groups", "nproc", "arch", "uptime", "tty", "logname"), _NOTHING),
        "id": _Reader(most=1),
        "uname": _NOTHING,
        "hostname": _Reader(but="Fb", long=("--file", "--boot"), most=0),
        "which": _TEXT,
        "type": _TEXT,
        "command": _Reader(paths=False, test=_asks_where),
        "ps": _Reader(paths=False, test=_lists_processes),
        "free": _Reader(most=0, ends=_says_it_once),
    }
)

_VERSIONED = names(
    "python python3 node npm npx pnpm yarn deno bun pip pip3 uv cargo rustc go java javac ruby gem "
    "perl php gcc g++ clang make cmake git docker kubectl terraform bash ruff mypy pytest black gh jq "
    "rg"
)


READERS = frozenset(name for name, reader in _READERS.items() if reader.paths and reader.most is None)
"""Programs whose words are files that they read."""


# ── git ─────────────────────────────────────────────────────────────────────────────────────────

_GIT_NEVER = ("--output", "--ext-diff", "--no-index", "--open-files-in-pager", "--upload-pack", "--exec", "--textconv")
_GIT_LOOKS = names(
    "status diff log show rev-parse ls-files ls-tree blame annotate describe shortlog cat-file grep "
    "rev-list name-rev merge-base diff-tree diff-index diff-files for-each-ref show-ref count-objects "
    "whatchanged check-ignore cherry range-diff show-branch version "
)
_GIT_LISTS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "branch": names("-a -r -v -vv -l --all --remotes --list --show-current --verbose --merged --no-merged"),
        "tag": frozenset({"-l", "-n", "--list", "--sort=-creatordate"}),
        "remote": frozenset({"-v", "--verbose"}),
        "stash": frozenset(("list", "show", "-p", "--stat")),
        "worktree": frozenset(("list", "--porcelain")),
        "reflog": frozenset(("show", "--oneline", "--all")),
    }
)
"""Subcommands that only list when nothing but these words follows."""


def _git(arguments: Arguments) -> Looks | None:
    words = arguments.words
    while words and words[0].text in ("--no-pager", "-P", "--no-optional-locks"):
        words = words[1:]
    if not words or not words[0].known:
        return None
    name, rest = words[0].text, Arguments(words[1:])
    if name in ("--version", "--help"):
        return Looks()
    if rest.surprising:
        return None
    if name in _GIT_LISTS:
        listing = _GIT_LISTS[name]
        bare = name == "stash" and not rest.words
        return Looks() if not bare and all(word.text in listing for word in rest.words) else None
    if name not in _GIT_LOOKS or rest.has("O" if name == "grep" else "", *_GIT_NEVER):
        return None
    skipped = rest.positionals[:1] if name == "grep" and not rest.has("ef", "--file") else ()
    inside = (Word(word.text.partition(":")[2], word.kind) for word in rest.positionals if ":" in word.text)
    return Looks((*(word for word in rest.paths if word not in skipped), *(word for word in inside if word.text)))
