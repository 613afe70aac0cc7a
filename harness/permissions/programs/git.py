"""git: what stands before its subcommand, and the subcommands that only look (`git_views`)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.git_views import CONFIG_FILE, VIEWS
from harness.permissions.programs.grammar import HERE, TEXT, ParsedCommand, Program, WordRole, WordUse, parse
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
    places: tuple[Word, ...] = ()
    """Folders of git and work trees that are named."""
    elsewhere: bool = False
    """Another repository or work tree is named, whose settings git obeys."""
    opaque: bool = False
    """Settings or an option that may turn the subcommand into any command."""


def global_options(words: tuple[Word, ...]) -> GlobalOptions:
    """Read the words behind `git` up to its subcommand."""
    folders: list[Word] = []
    places: list[Word] = []
    plain, elsewhere, opaque, position = True, False, False, 0
    while position < len(words) and words[position].text.startswith("-") and not words[position].home:
        word = words[position]
        name, equals, text = word.text.partition("=")
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
            places += [Word(text, word.kind)] if equals else [] if value is None else [value]
            position += 0 if equals else 1
        elif word.known and word.text in ("--bare", "--paginate", "-p", "--icase-pathspecs"):
            plain = False
        else:
            plain, opaque = False, True
            position += 1 if word.text == "--config-env" else 0
    found = GlobalOptions(words[position:], tuple(folders), plain=plain, elsewhere=elsewhere, opaque=opaque)
    return replace(found, places=tuple(places))


def _is_harmless(setting: str) -> bool:
    name, equals, value = setting.partition("=")
    return harmless_setting(name, value if equals else "true")


def _git(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    given = global_options(words)
    if not given.plain:
        return None
    if not given.rest:
        return ParsedCommand(program, folder=folder_of(given.folders)) if given.showing or not words else None
    name, rest = given.rest[0], given.rest[1:]
    inner = VIEWS.get(name.text) if name.known else None
    parsed = None if inner is None else parse(inner, rest)
    if parsed is None or not given.folders:
        return parsed
    folder = folder_of(given.folders)
    if any(use.word.kind is WordKind.GLOB for use in parsed.uses):
        return None  # the shell looks for it in the current folder, git for what was found in another one
    moving = [use for use in parsed.uses if use.role is not WordRole.TEXT and use is not CONFIG_FILE]
    moved = [WordUse(use.role, within(folder, use.word)) for use in moving]
    from_top = [use for use in parsed.uses if use.top]
    return replace(parsed, folder=folder, uses=(WordUse(WordRole.READ, folder), *moved, *from_top))


def folder_of(folders: tuple[Word, ...]) -> Word:
    found = HERE
    for folder in folders:
        if folder.text:  # an empty one changes nothing
            found = within(found, folder)
    return found


def within(folder: Word, word: Word) -> Word:
    """A word that names a path in `folder`, as a path from the current folder."""
    if word.kind is not WordKind.LITERAL or word.home or word.text.startswith("/") or folder is HERE:
        return word
    return folder if word == HERE else Word(f"{folder.text}/{word.text}", home=folder.home)


SHOWING = frozenset(VIEWS) | names("archive bundle format-patch difftool")
"""Those that may show the content of any file, under options that are not known."""
SUBCOMMANDS = frozenset(VIEWS) | names(
    "add stage apply am rm mv clean checkout restore switch commit reset merge rebase cherry-pick revert init clone "
    "fetch pull push ls-remote archive bundle format-patch filter-branch difftool mergetool hash-object update-index "
    "stash bisect submodule worktree notes gc prune fsck remote config tag branch repack maintenance sparse-checkout"
)
"""Those of git itself; another name may be an alias of the user."""
PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {"git": Program(subcommands=VIEWS, bare=True, operands=(TEXT,), parser=_git)}
)
