"""Which files a pipeline lists: `find src -name '*.py'`, `git ls-files | grep -v test`, derived from its words.

What reads its output, by `xargs` or by `$(…)`, can then be judged by the files instead of not at all. The answer may
hold more files than the pipeline prints, never fewer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.permissions.programs import PROGRAMS, ParsedCommand, WordRole, parse
from harness.permissions.programs.find import search_of
from harness.permissions.programs.git import listing_of
from harness.permissions.programs.grammar import HERE
from harness.permissions.shell.syntax import SimpleCommand, Word, WordKind
from harness.permissions.variables import harmless_assignment

_SELECTING = frozenset({"head", "tail", "sort", "uniq", "tac", "shuf", "cat"})
"""Programs that print some of the lines that they read, and no others."""


_NAMES_ONLY = "l L --files-with-matches --files-without-match --files"
"""Options of grep and rg with which they print names of files."""
_OTHER_LINES = "o n c b H l L Z T A B C --only-matching --line-number --count"
"""Options of grep with which it prints something else than some of its lines."""


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files whose names a pipeline prints, one in a line."""

    roots: tuple[Word, ...]
    names: tuple[str, ...] = ()
    """Patterns for the last part of the names; none: any."""
    tracked: bool = False
    from_top: bool = False
    """The names count from the top of the repository, wherever the command runs."""
    whole: bool = False
    """No name can be split into two: each ends with a null byte, or find passes it on."""


_TYPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "py": ("*.py", "*.pyi"),
        "js": ("*.js", "*.jsx", "*.vue", "*.cjs", "*.mjs"),
        "ts": ("*.ts", "*.tsx", "*.cts", "*.mts"),
        "go": ("*.go",),
        "rust": ("*.rs",),
        "java": ("*.java", "*.jsp", "*.jspx", "*.properties"),
        "md": ("*.md", "*.markdown", "*.mdown", "*.mdwn", "*.mdx", "*.mkd", "*.mkdn"),
        "css": ("*.css", "*.scss"),
        "html": ("*.htm", "*.html", "*.ejs"),
    }
)
"""Types of files of ripgrep that are nothing but endings of names."""


def searched_names(parsed: ParsedCommand) -> tuple[str, ...]:
    """Patterns for the names of the files that a search looks into (`grep -r --include='*.py'`); none: any."""
    names: list[str] = []
    for option, value in parsed.options:
        text = "" if value is None else value.text
        if option in ("--include", "-g", "--glob"):
            names.append(text.rpartition("/")[2])
            if text.startswith("!") or not names[-1] or "**" in names[-1] or "{" in text or "\\" in text:
                return ()
        elif option in ("-t", "--type") and parsed.has("t --type"):
            if text not in _TYPES:
                return ()
            names += _TYPES[text]
        elif option in ("--type-add", "--iglob") or (option == "--exclude" and not names):
            return ()  # a file that fits neither is searched where grep is given --exclude first
    return tuple(names)


def unsearched_names(parsed: ParsedCommand) -> tuple[str, ...]:
    """Patterns for the names of the files that a search leaves out (`grep -r --exclude='.env*'`)."""
    if parsed.has("--include --exclude-from"):
        return ()  # the last one that fits wins
    texts = (value.text for option, value in parsed.options if option == "--exclude" and value is not None)
    return tuple(text for text in texts if re.fullmatch(r"[\w.*?-]+", text))


def listing(pipeline: tuple[SimpleCommand, ...]) -> FileListing | None:
    """What a pipeline lists; None if its words do not determine them."""
    if not pipeline or any(one.redirects or not all(map(harmless_assignment, one.assignments)) for one in pipeline[1:]):
        return None
    first, *others = pipeline
    found = _listed_by(first)
    if found is not None and any(root.kind is not WordKind.LITERAL for root in found.roots):
        return None
    return found if found is not None and all(_selects(one, whole=found.whole) for one in others) else None


def _listed_by(simple: SimpleCommand) -> FileListing | None:
    program = simple.program
    parsed = _parsed(simple)
    if program is None or parsed is None or not parsed.looks or simple.assignments:
        return None
    if program == "find":
        search = search_of(simple.words[1:])
        if search is None or any(word.text.startswith(("-exec", "-ok", "-printf", "-ls")) for word in simple.words):
            return None
        whole = any(word.text == "-print0" for word in simple.words)
        return FileListing(search.roots or (HERE,), search.names, whole=whole)
    if program == "git":
        tracked = listing_of(parsed)
        if tracked is None or parsed.folder is not None:
            return None
        names = _last_parts(tracked.patterns)
        whole = parsed.has("z --null")
        return FileListing((HERE,), names, tracked=True, from_top=tracked.top, whole=whole)
    if program in ("grep", "egrep", "fgrep", "rg") and parsed.has(_NAMES_ONLY):
        roots = tuple(
            use.word
            for use in parsed.uses
            if use.role in (WordRole.TREE, WordRole.FOLLOWED, WordRole.READ, WordRole.LIST)
        )
        return FileListing(roots, whole=parsed.has("Z 0 --null")) if roots else None
    return None


def _last_parts(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Patterns of paths as patterns of names; none where one names a folder."""
    names = tuple(pattern.rpartition("/")[2] for pattern in patterns)
    return names if all("*" in name for name in names) else ()


def _selects(simple: SimpleCommand, *, whole: bool) -> bool:
    """It prints only whole lines of its input."""
    program, parsed = simple.program, _parsed(simple)
    if program is None or parsed is None or not parsed.looks:
        return False
    if program in ("grep", "egrep", "fgrep"):
        read = any(use.role is not WordRole.TEXT for use in parsed.uses)
        return not read and not whole and not parsed.has(_OTHER_LINES)
    if program in ("sort", "uniq") and parsed.has("c --count"):
        return False
    return program in _SELECTING and not parsed.operands and not whole and not parsed.has("b n v A E T --number")


def _parsed(simple: SimpleCommand) -> ParsedCommand | None:
    grammar = PROGRAMS.get(simple.program or "")
    return None if grammar is None else parse(grammar, simple.words[1:])
