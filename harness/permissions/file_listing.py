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
from harness.permissions.programs.git import global_options, listing_of
from harness.permissions.programs.grammar import HERE, option_names
from harness.permissions.shell.syntax import SimpleCommand, Word, WordKind
from harness.permissions.variables import harmless_assignment

_SELECTING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("head", "tail"), "n q --lines --quiet --silent"),
        "sort": "b d f g h i k M n R r s t u V --key --field-separator --unique --reverse --numeric-sort "
        "--version-sort --ignore-case --stable --random-sort --human-numeric-sort",
        "uniq": "d u i f s w --repeated --unique --ignore-case --skip-fields --skip-chars --check-chars",
        "tac": "",
        "shuf": "n --head-count",
        "cat": "s u",
        **dict.fromkeys(
            ("grep", "egrep", "fgrep"),
            "E F G P i y w x v e a m --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
            "--word-regexp --line-regexp --invert-match --regexp --text --max-count --line-buffered",
        ),
    }
)
"""Programs that print some of the lines that they read and no others, with the options that leave it so."""
_SEARCHING = (
    "l L r R n H E F G P i y w x v e a I m s S U u t T g Z 0 --files-with-matches --files-without-match --files "
    "--recursive --line-number --with-filename "
    "--dereference-recursive --extended-regexp --fixed-strings --basic-regexp --perl-regexp --pcre2 --ignore-case "
    "--smart-case --case-sensitive --word-regexp --line-regexp --invert-match --regexp --text --max-count "
    "--no-messages --include --exclude --exclude-dir --exclude-from --multiline --type --type-not --glob --iglob "
    "--hidden --no-hidden --unrestricted --no-ignore --no-ignore-vcs --no-ignore-parent --no-config --sort --sortr "
    "--max-depth --max-filesize --follow --null -."
)
"""Options with which grep and rg, asked for names, print names and nothing else: no colours, no counts, no help."""
_NAMES_ONLY = "l L --files-with-matches --files-without-match --files"
"""Options of grep and rg with which they print names of files."""


_ODD = re.compile(r"[\s'\"\\*?\[\x00-\x1f\x7f]")
"""What would make several names of one."""


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files whose names a pipeline prints, one in a line."""

    roots: tuple[Word, ...]
    names: tuple[str, ...] = ()
    """Patterns for the last part of the names; none: any."""
    tracked: bool = False
    from_top: bool = False
    """The names count from the top of the repository, wherever the command runs."""
    hidden: bool = True
    """Names that begin with a dot are among them, without an ignore file that brings them back."""
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
    if not pipeline or any(not all(map(harmless_assignment, one.assignments)) for one in pipeline):
        return None
    redirects = [redirect for one in pipeline for redirect in one.redirects]
    if any(not redirect.writes or redirect.target.text != "/dev/null" for redirect in redirects):
        return None
    first, *others = pipeline
    found = _listed_by(first)
    if found is not None and any(root.kind is not WordKind.LITERAL or _ODD.search(root.text) for root in found.roots):
        return None
    return found if found is not None and all(_selects(one, whole=found.whole) for one in others) else None


def _listed_by(simple: SimpleCommand) -> FileListing | None:
    program = simple.program
    parsed = _parsed(simple)
    if program is None or parsed is None or not parsed.looks:
        return None
    if program == "find":
        search = search_of(simple.words[1:])
        if search is None or any(word.text.startswith(("-exec", "-ok", "-printf", "-ls")) for word in simple.words):
            return None
        whole = any(word.text == "-print0" for word in simple.words)
        return FileListing(search.roots or (HERE,), search.names, whole=whole)
    if program == "git":
        rest = global_options(simple.words[1:]).rest
        if any(word.text == "-c" for word in simple.words[: -len(rest)]):
            return None  # a setting may change what it prints
        tracked = listing_of(parsed)
        if tracked is None or parsed.folder is not None:
            return None
        names = _last_parts(tracked.patterns)
        whole = parsed.has("z --null")
        return FileListing((HERE,), names, tracked=True, from_top=tracked.top, whole=whole)
    searches = program in ("grep", "egrep", "fgrep", "rg") and parsed.has(_NAMES_ONLY)
    if searches and _has_only(parsed, _SEARCHING):
        roots = tuple(
            use.word
            for use in parsed.uses
            if use.role in (WordRole.TREE, WordRole.FOLLOWED, WordRole.READ, WordRole.LIST)
        )
        whole = parsed.has("Z 0 --null")
        return FileListing(roots, hidden=not parsed.skips_hidden, whole=whole) if roots else None
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
    reads_files = any(use.role is not WordRole.TEXT for use in parsed.uses)
    return program in _SELECTING and not (reads_files or whole) and _has_only(parsed, _SELECTING[program])


def _has_only(parsed: ParsedCommand, options: str) -> bool:
    allowed = option_names(options)
    return all(name in allowed or name[1:].isdigit() for name, _ in parsed.options)


def _parsed(simple: SimpleCommand) -> ParsedCommand | None:
    grammar = PROGRAMS.get(simple.program or "")
    return None if grammar is None else parse(grammar, simple.words[1:])
