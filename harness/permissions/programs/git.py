"""git: the subcommands that only look, and the roles of the words of the others.

Most operands of git are revisions, paths, or both in one word (`HEAD~2:src/a.py`, `:0:.env`, `:(top)docs`). Which it is
depends on the repository, so every part of a word that may be a path counts as one.

Not in the grammar: an abbreviated option, an option that runs a program (`--ext-diff`, `--show-signature`, `-O` of
grep), that reads names from its input (`--stdin`, `--batch`), that opens a manual (`--help`), or that another version
of git reads differently. Settings of the repository may still name programs that git runs while it looks;
`harness.processes.git_safety` is about those.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.git_actions import ACTIONS
from harness.permissions.programs.git_revisions import CERTAIN_PATH
from harness.permissions.programs.git_views import CONFIG_FILE, TEXTS, VIEWS
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import Word, WordKind
from harness.processes.git_safety import harmless_setting

# ── before the subcommand ───────────────────────────────────────────────────────────────────────

_PLAIN = names(
    "--no-pager -P --no-optional-locks --literal-pathspecs --noglob-pathspecs --glob-pathspecs "
    "--no-replace-objects --no-lazy-fetch --no-advice"
)
_SHOWING = names("--version -v --help -h --html-path --man-path --info-path --exec-path")
_ELSEWHERE = ("--git-dir", "--work-tree", "--namespace", "--super-prefix", "--attr-source")


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """What the words before the subcommand of git say."""

    rest: tuple[Word, ...]
    """The subcommand and the words behind it."""
    folders: tuple[Word, ...] = ()
    """Each -C, in order."""
    showing: bool = False
    """git only shows something about itself; there is no subcommand."""
    plain: bool = True
    """There is nothing but what leaves a command that looks harmless."""
    elsewhere: bool = False
    """Another repository or work tree is named, whose settings git obeys."""
    opaque: bool = False
    """Settings or an option that may turn the subcommand into any command."""


def global_options(words: tuple[Word, ...]) -> GlobalOptions:
    """Read the words behind `git` up to its subcommand."""
    folders: list[Word] = []
    plain, elsewhere, opaque, position = True, False, False, 0
    while position < len(words) and words[position].text.startswith("-") and not words[position].home:
        word = words[position]
        name, equals, _ = word.text.partition("=")
        value = words[position + 1] if position + 1 < len(words) else None
        position += 1
        if word.known and word.text in _PLAIN:
            continue
        if word.known and word.text in _SHOWING:
            plain = plain and value is None  # --help with a word opens a manual
            return GlobalOptions((), tuple(folders), showing=True, plain=plain, elsewhere=elsewhere, opaque=opaque)
        if word.known and word.text == "-C" and value is not None:
            folders.append(value)
            plain = plain and value.kind is WordKind.LITERAL
            opaque = opaque or value.kind is not WordKind.LITERAL
            position += 1
        elif word.known and word.text == "-c" and value is not None:
            harmless = value.known and _is_harmless(value.text)
            plain, opaque = plain and harmless, opaque or not harmless
            position += 1
        elif word.known and name in _ELSEWHERE:
            plain, elsewhere = False, True
            position += 0 if equals else 1
        elif word.known and word.text in ("--bare", "--paginate", "-p", "--icase-pathspecs"):
            plain = False
        else:
            plain, opaque = False, True
            position += 1 if word.text == "--config-env" else 0
    return GlobalOptions(words[position:], tuple(folders), plain=plain, elsewhere=elsewhere, opaque=opaque)


def _is_harmless(setting: str) -> bool:
    name, equals, value = setting.partition("=")
    return harmless_setting(name, value if equals else "true")


def _git(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    given = global_options(words)
    if not given.plain:
        return None
    if not given.rest:
        return ParsedCommand(program, folder=_folder(given.folders)) if given.showing or not words else None
    name, rest = given.rest[0], given.rest[1:]
    inner = program.subcommands.get(name.text) if name.known else None
    parsed = None if inner is None else parse(inner, rest)
    if parsed is None or not given.folders:
        return parsed
    folder = _folder(given.folders)
    if any(use.word.kind is WordKind.GLOB for use in parsed.uses):
        return None  # the shell looks for it in the current folder, git for what was found in another one
    moving = [use for use in parsed.uses if use.role is not WordRole.TEXT and use is not CONFIG_FILE]
    moved = [WordUse(use.role, _within(folder, use.word)) for use in moving]
    from_top = [use for use in parsed.uses if use.top]
    return replace(parsed, folder=folder, uses=(WordUse(WordRole.READ, folder), *moved, *from_top))


def _folder(folders: tuple[Word, ...]) -> Word:
    found = HERE
    for folder in folders:
        if folder.text:  # an empty one changes nothing
            found = _within(found, folder)
    return found


def _within(folder: Word, word: Word) -> Word:
    """A word that names a path in `folder`, as a path from the current folder."""
    if word.kind is not WordKind.LITERAL or word.home or word.text.startswith("/") or folder is HERE:
        return word
    return folder if word == HERE else Word(f"{folder.text}/{word.text}", home=folder.home)


_SUBCOMMANDS: Mapping[str, Program] = MappingProxyType(
    {
        **VIEWS,
        **ACTIONS,
        "annotate": VIEWS["blame"],
        "stage": ACTIONS["add"],
        "stash": replace(
            VIEWS["stash"],
            subcommands={
                **VIEWS["stash"].subcommands,
                **dict.fromkeys(
                    ("apply", "pop", "drop", "clear", "branch"),
                    Program(flags="q --index", operands=TEXTS, looks=False),
                ),
                "push": Program(
                    flags="p k u a q S --patch --keep-index --no-keep-index --include-untracked --all --staged --quiet",
                    texts="m --message",
                    reads="--pathspec-from-file",
                    operands=(WordRole.WRITE,),
                    looks=False,
                ),
            },
        ),
        "bisect": replace(
            VIEWS["bisect"],
            subcommands={
                **VIEWS["bisect"].subcommands,
                **dict.fromkeys(
                    ("start", "good", "bad", "old", "new", "skip", "reset", "next"),
                    Program(operands=TEXTS, looks=False),
                ),
                "replay": Program(looks=False),
                "run": Program(operands=(WordRole.COMMAND,), permutes=False, looks=False),
            },
        ),
        "submodule": replace(
            VIEWS["submodule"],
            subcommands={
                **VIEWS["submodule"].subcommands,
                "foreach": Program(
                    flags="--recursive --quiet", operands=(WordRole.COMMAND,), permutes=False, free=True, looks=False
                ),
                "update": Program(
                    flags="N f --init --recursive --remote --force --checkout --merge --rebase --no-fetch",
                    texts="--depth --jobs",
                    reads="--reference",
                    operands=(WordRole.WRITE,),
                    looks=False,
                ),
                **dict.fromkeys(("init", "deinit", "sync"), Program(flags="f --all --recursive", looks=False)),
            },
        ),
        "worktree": replace(
            VIEWS["worktree"],
            subcommands={
                **VIEWS["worktree"].subcommands,
                "add": Program(
                    flags="f d q --force --detach --checkout --no-checkout --lock --quiet --track --no-track --orphan",
                    texts="b B --reason",
                    operands=(WordRole.WRITE, WordRole.TEXT),
                    looks=False,
                ),
                "remove": Program(flags="f --force", operands=(WordRole.WRITE,), looks=False),
                "move": Program(flags="f --force", operands=(WordRole.WRITE,), looks=False),
                "prune": Program(flags="n v --dry-run --verbose", operands=(), looks=False),
            },
        ),
    }
)
"""By name. A subcommand that is missing here is not in the grammar, an alias of the user's among them."""


# ── lists of files ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class GitListing:
    """A command of git that prints nothing but names of files that it tracks, one in each line."""

    patterns: tuple[str, ...] = ()
    """Pathspecs of git that limit it; empty: all files below `folder`."""
    folder: Word = HERE
    """Where it works, from the current folder."""
    top: bool = False
    """The names count from the top of the repository, and all of its files are meant."""


def listing_of(parsed: ParsedCommand) -> GitListing | None:
    """Which tracked files a command that only looks may print; None where it may print something else."""
    patterns, folder = tuple(word.text for word in parsed.operands), parsed.folder or HERE
    if not parsed.looks or not all(word.known for word in parsed.operands):
        return None
    if parsed.program is VIEWS["ls-files"]:
        plain = all(name in _PLAIN_LISTING for name, _ in parsed.options)
        return GitListing(patterns, folder) if plain else None
    if parsed.program is VIEWS["diff"]:
        # With a revision it prints names of files that may not be tracked any more.
        plain = parsed.has("--name-only") and all(
            name in ("--name-only", "--diff-filter") for name, _ in parsed.options
        )
        return GitListing((), folder, top=True) if plain and not patterns else None
    if parsed.program is VIEWS["grep"]:
        given = {name for name, _ in parsed.options}
        if not given & _NAMES_OF_GREP or not given <= _NAMES_OF_GREP | _WAYS_OF_GREP:
            return None
        limits = patterns if given & {"-e", "-f"} else patterns[1:]
        if limits[:1] == ("--",):
            return GitListing(limits[1:], folder)
        # A revision may be among them, and is printed before each name.
        return GitListing(limits, folder) if all(map(CERTAIN_PATH.match, limits)) else None
    return None


_PLAIN_LISTING = names("-c -m -z --cached --modified --deduplicate --error-unmatch")
_NAMES_OF_GREP = names("-l -L --files-with-matches --name-only --files-without-match")
_WAYS_OF_GREP = names(
    "-e -f -a -i -I -w -v -E -G -P -F -z --text --ignore-case --word-regexp --invert-match --extended-regexp "
    "--basic-regexp --perl-regexp --fixed-strings --null --no-color --all-match --and --or --not"
)

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {"git": Program(subcommands=_SUBCOMMANDS, bare=True, operands=TEXTS, parser=_git)}
)
