"""Revisions and paths among the operands of git, and what of them is shown."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import Word, WordKind
from harness.processes.git_safety import SIGNATURE

_DASHES = Word("--")
_WILDCARD = re.compile(r"[*?\[\\]")
_MAGIC = re.compile(r":\(([^)]*)\)|:[/!^]+:?")
CERTAIN_PATH = re.compile(r"\.?/|\.\.?(/|$)|.*(/$|[*?\[])", re.DOTALL)
"""What no revision looks like."""
_OBJECT = re.compile(r"[^:{}]*:(?![/!^(])[^{}]+", re.DOTALL)
"""A file or folder of a revision, or of the index."""
_FILE = re.compile(r":|^[0-9a-f]{4,64}$", re.IGNORECASE)
"""A part of the name of an object that may be a file."""
REVISION = re.compile(r"(HEAD|@)([~^@][^/]*)?|[^/]*[^./]\.\.\.?[^./].*", re.DOTALL)
"""HEAD and what counts from it, and ranges. A folder of that name is not thought of."""


def paths_of(word: Word) -> Iterator[tuple[Word, bool]]:
    """Everything in an operand that may be a path, and whether it may count from the top of the repository."""
    text = word.text
    if word.home or ":" not in text:
        yield word, False
        return
    magic = _MAGIC.match(text)
    if magic is not None:
        yield Word(text[magic.end() :] or "."), True
        return
    if not text.startswith(":"):
        yield word, False
    for found in re.finditer(":", text):
        path = text[found.end() :]
        yield Word(path or "."), not path.startswith(("./", "../"))


def _limit(word: Word) -> tuple[Word, bool] | None:
    """The file or folder that an operand limits git to, if it is a path; None where it only leaves something out."""
    magic = _MAGIC.match(word.text)
    if magic is not None and ("!" in magic[0] or "^" in magic[0] or "exclude" in magic[0]):
        return None
    top = magic is not None
    text = word.text[magic.end() :] if magic is not None else word.text
    wildcard = _WILDCARD.search(text)
    if wildcard is not None:
        text = text[: wildcard.start()].rpartition("/")[0] + ("/" if text.startswith("/") else "")
    return Word(text or ".", home=word.home), top


def behind_dashes(parsed: ParsedCommand, words: tuple[Word, ...]) -> int:
    """The number of operands after a -- that is not the value of an option."""
    for number, word in enumerate(words):
        if word == _DASHES and not any(value is word for _, value in parsed.options):
            return len(words) - number - 1
    return 0


@dataclass(frozen=True, slots=True)
class ShownContent:
    """The content that a subcommand shows of the files in its operands, or of all files."""

    content: Callable[[ParsedCommand], bool]
    """Content, and not only names."""
    whole: WordRole | None = WordRole.CHANGED
    """The role of the files that git tracks, where content is shown; None: only what operands name."""
    everywhere: bool = True
    """Without a path it is about the whole repository, not only about the current folder."""
    skips: int = 0
    """Operands in front that are text."""
    objects: bool = False
    """It shows a file or folder of a revision (HEAD:src) without comparing it."""
    paths: bool = True
    """Operands may be paths that limit it; False: all are names of objects, behind a -- too."""


def read_limited(shown: ShownContent, program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """The words of a subcommand whose operands are revisions and paths."""
    parsed = parse(replace(program, parser=None), words)
    if parsed is None:
        return None
    operands = parsed.operands[0 if parsed.has(program.unless) else certain_texts(shown.skips, parsed.operands) :]
    if not program.permutes:
        operands = tuple(word for word in operands if word != _DASHES)
    if any(word.kind is WordKind.GLOB and ":" in word.text for word in operands):
        return None  # the shell does not know that a part of it is a path
    content = shown.content(parsed)
    # git has already changed to the top when it opens some of the files that options name.
    uses = [replace(use, top=use.role is WordRole.READ) for use in parsed.uses if use.role is not WordRole.TEXT]
    for word in operands:
        uses += [WordUse(WordRole.READ if content else WordRole.LIST, path, top) for path, top in paths_of(word)]
    for name, value in parsed.options:
        if name == "-L" and value is not None and ":" in value.text:
            uses += [WordUse(WordRole.READ, path, top) for path, top in paths_of(value) if path != value]
    if content and shown.whole is not None:
        uses += _limits(shown, shown.whole, operands, len(operands) - behind_dashes(parsed, words))
    return replace(parsed, program=program, uses=tuple(uses))


def certain_texts(skips: int, operands: tuple[Word, ...]) -> int:
    """How many operands are text in front: a file pattern may be more than one word."""
    return skips if all(word.kind is not WordKind.GLOB for word in operands[:skips]) else 0


def _limits(shown: ShownContent, whole: WordRole, operands: tuple[Word, ...], dashes: int) -> Iterator[WordUse]:
    """The files whose content is shown; all files if no operand is sure to limit them.

    `dashes`: the number of operands before the --.
    """
    limited, commits = False, not operands
    for number, word in enumerate(operands):
        before = number < dashes or not shown.paths
        if "\0" in word.text:  # it stands for the output of another command
            yield WordUse(whole, word)
            commits = True
        elif shown.objects and before and _OBJECT.fullmatch(word.text):
            yield from (WordUse(whole, path, top) for path, top in paths_of(word))
        elif (limit := _limit(word)) is not None:
            yield WordUse(whole, *limit)
            certain = shown.paths and (not before or CERTAIN_PATH.match(word.text) is not None)
            limited, commits = limited or certain, commits or not certain
        else:
            commits = True
    if commits and not limited:
        yield WordUse(whole, HERE, shown.everywhere)


def always(parsed: ParsedCommand) -> bool:
    return True


def never(parsed: ParsedCommand) -> bool:
    return False


_PATCHES = (
    "p u c m U W G S L I --patch --unified --cc --function-context --word-diff --word-diff-regex --color-words --check "
    "--patch-with-raw --patch-with-stat --binary --color-moved"
)
_NAMES = "s --no-patch --stat --numstat --shortstat --summary --dirstat --name-only --name-status --raw --quiet"
_NAMES += " --dirstat-by-file --compact-summary --cumulative"


def shows_patches(parsed: ParsedCommand) -> bool:
    return parsed.has(_PATCHES)


def shows_patches_unless_names(parsed: ParsedCommand) -> bool:
    return parsed.has(_PATCHES) or not parsed.has(_NAMES)


def shows_objects(parsed: ParsedCommand) -> bool:
    """show prints the content of a file by its object, whatever else it is to show of commits."""
    return shows_patches_unless_names(parsed) or any(_FILE.search(word.text) for word in parsed.operands)


def runs_no_gpg(parsed: ParsedCommand) -> bool:
    """No format of it asks for a signature."""
    return not any(
        value is not None and SIGNATURE.search(value.text)
        for name, value in parsed.options
        if name in ("--format", "--pretty", "--sort")
    )
