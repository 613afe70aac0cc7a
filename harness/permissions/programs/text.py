"""Programs that read, search and count text, or list files: cat, grep, sort, ls.

A table holds the common options of the GNU program that the BSD one reads alike. Where the two differ in whether an
option has a value, it is a flag here, so that the word behind it counts as an operand too. Options missing from the
tables are not in the grammar, such as those that write (`sort -o`), run another program (`rg --pre`, `diff -l`), read a
list of files (`wc --files0-from`), or follow links (`tree -l`).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.programs.grammar import (
    LIST,
    READ,
    TEXT,
    ParsedCommand,
    Program,
    WordRole,
    WordUse,
    option_names,
    plain,
)
from harness.permissions.shell.syntax import Word, WordKind

ABOUT = " --help --version"
"""Options of nearly every program."""

# ── programs that do not read their options as others do ────────────────────────────────────────


def _without_response_files(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """strings of the GNU binutils replaces any word that begins with @ by the content of a file."""
    odd = any(word.text[:1] == "@" or (word.kind is WordKind.GLOB and word.text[:1] in "*?[") for word in words)
    return None if odd else plain(program, words)


def _without_clusters(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """xxd takes -pl for -p, whatever follows, and tree parses what is glued to -L as more options."""
    odd = any(word.text[:1] == "-" and not re.fullmatch(r"-[a-zA-Z]?[0-9]*", word.text) for word in words)
    return None if odd else plain(program, words)


def _rg(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    if parsed.has("--files"):
        listed = tuple(WordUse(LIST, use.word) if use.role is WordRole.TREE else use for use in parsed.uses)
        parsed = replace(parsed, uses=listed)
    brought_back = option_names("u. --unrestricted --hidden t --type")
    globs = option_names("g --glob")
    hidden = any(
        name in brought_back or (name in globs and not (value and value.text.startswith("!")))
        for name, value in parsed.options
    )
    return replace(parsed, skips_hidden=not hidden)


def _fd(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    return None if parsed is None else replace(parsed, skips_hidden=not parsed.has("Hu --unrestricted --hidden"))


def _seq(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Up to three numbers of not too many digits, and steps that come to an end."""
    if not 1 <= len(words) <= 3 or not all(word.known and re.fullmatch("-?[0-9]{1,6}", word.text) for word in words):
        return None
    steps = int(words[1].text) if len(words) == 3 else 1
    return ParsedCommand(program, operands=words) if steps else None


# ── the names of files that a search looks into ─────────────────────────────────────────────────

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


# ── what else has to hold ───────────────────────────────────────────────────────────────────────


def _follows_no_links(parsed: ParsedCommand) -> bool:
    """ls. With -L, -R goes through links, too."""
    return not (parsed.has("R --recursive") and parsed.has("L --dereference"))


def _stops_at_the_end(parsed: ParsedCommand) -> bool:
    """tail. The old form +5f follows, too."""
    return not parsed.has("fF --follow") and not any(re.match(r"\+[0-9].*f", word.text) for word in parsed.operands)


def _has_no_pager(parsed: ParsedCommand) -> bool:
    """bat, which may start less; `bat cache` changes its folder."""
    paging = [value.text for name, value in parsed.options if name == "--paging" and value is not None]
    return paging == ["never"] and not any(word.text == "cache" for word in parsed.operands)


# ── the table ───────────────────────────────────────────────────────────────────────────────────


def _gnu(flags: str = "", texts: str = "", operands: tuple[WordRole, ...] = (READ,), **more: object) -> Program:
    return Program(flags + ABOUT, texts, operands=operands, **more)  # type: ignore[arg-type]


_LISTS, _TEXTS = (LIST,), (TEXT,)
_GREP = _gnu(
    "EFGPiywxzclLoqsbHhnTUZaIv --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
    "--no-ignore-case --word-regexp --line-regexp --count --files-with-matches --files-without-match --only-matching "
    "--quiet --silent --no-messages --with-filename --no-filename --line-number --null --text --invert-match "
    "--line-buffered",
    "emABCD --regexp --max-count --after-context --before-context --context --binary-files --include --exclude "
    "--exclude-dir",
    (TEXT, READ),
    maybe="--color --colour",
    reads="f --file --exclude-from",
    unless="ef --regexp --file",
    tree="r --recursive",
    follow="R --dereference-recursive",
    default=True,
    numbers=True,
)
_RG = _gnu(
    "iSswxvclnNopqaFPUuI0HhV. --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp --invert-match "
    "--count --count-matches --files-with-matches --files-without-match --line-number --no-line-number "
    "--only-matching --quiet --text --fixed-strings --pcre2 --multiline --unrestricted --no-filename --with-filename "
    "--hidden --files --heading --no-heading --column --json --stats --trim --vimgrep --multiline-dotall --no-config "
    "--no-ignore --no-ignore-vcs --no-messages",
    "eABCgtTmrEMjd --regexp --after-context --before-context --context --glob --type --type-not --max-count --replace "
    "--max-columns --max-filesize --max-depth --color --sort --sortr",
    (TEXT, WordRole.TREE),
    reads="f --file",
    unless="ef --regexp --file --files",
    follow="L --follow",
    default=True,
    parser=_rg,
)
_FD = _gnu(
    "HIusigFap01qhV --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive --ignore-case --glob --regex "
    "--fixed-strings --absolute-path --full-path --print0",
    "dteESoc --max-depth --min-depth --type --extension --exclude --size --color --changed-within --changed-before",
    (TEXT, LIST),
    default=True,
    parser=_fd,
)
_DIFF = _gnu(
    "0123456789qscuenypTtNiEZbwBadrP --normal --brief --report-identical-files --side-by-side --left-column "
    "--suppress-common-lines --show-c-function --recursive --no-dereference --new-file --ignore-case "
    "--ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --text --strip-trailing-cr",
    "CUWFLxSI --width --label --exclude --ignore-matching-lines",
    (WordRole.FOLLOWED,),  # of two folders it compares the files, also without -r
    maybe="--color --context --unified",
)
_LS = _gnu(
    "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 --all --almost-all --directory --full-time --group-directories-first "
    "--human-readable --inode --dereference --reverse --recursive --size",
    "--block-size --format --hide --ignore --quoting-style --sort --time --time-style --width",
    _LISTS,
    check=_follows_no_links,
    maybe="--color --classify",
    reads="I",
    default=True,
)
_SORT = _gnu(
    "bdfgihnMRrVcCmsuz --ignore-leading-blanks --ignore-case --general-numeric-sort --human-numeric-sort "
    "--numeric-sort --reverse --version-sort --stable --unique --zero-terminated",
    "ktS --key --field-separator",
)
PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        # ── names, sizes, dates ──
        **dict.fromkeys(("ls", "dir", "vdir"), _LS),
        "stat": _gnu("LFlnqrsx --dereference --file-system --terse", "c --format --printf", _LISTS),
        "realpath": _gnu("emLPqsz --canonicalize-existing --canonicalize-missing", "", _LISTS),
        "readlink": _gnu("femnqsvz --canonicalize --canonicalize-existing --no-newline", "", _LISTS),
        "basename": _gnu("az --multiple --zero", "s --suffix", _TEXTS, free=True),
        "dirname": _gnu("z --zero", "", _TEXTS, free=True),
        "df": _gnu("ahHiklmPT --all --human-readable --inodes --local --print-type --total", "B", _LISTS),
        "du": _gnu(
            "0aAbcDhHkglmPSsxn --all --apparent-size --bytes --total --human-readable --summarize --one-file-system",
            "BdIt --block-size --max-depth --threshold --exclude",
            _LISTS,
            default=True,
        ),
        "tree": Program("acdfghinpqrstuvxACDFJNSUX", "LPI", operands=_LISTS, default=True, parser=_without_clusters),
        **dict.fromkeys(("fd", "fdfind"), _FD),
        # ── contents ──
        "cat": _gnu("AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs"),
        "tac": _gnu("br"),
        "rev": _gnu(),
        "head": _gnu("qvz --quiet --silent --verbose", "cn --bytes --lines", numbers=True),
        "tail": _gnu(
            "qvzrfF --quiet --silent --verbose --retry",
            "bcns --bytes --lines --pid --sleep-interval",
            maybe="--follow",
            numbers=True,
            ends=_stops_at_the_end,
        ),
        "nl": _gnu("p", "bdfhilnsvw --body-numbering --number-format --number-width --starting-line-number"),
        "od": _gnu("abcdfilosvx", "AjNSt --address-radix --skip-bytes --read-bytes --format"),
        **dict.fromkeys(("hexdump", "hd"), _gnu("bcCdovx --canonical", "ens --format --length --skip")),
        "xxd": Program("abCeEipuvd", "cglsno", most=1, permutes=False, parser=_without_clusters),
        "strings": _gnu("adfwo --all --data", "net --bytes --radix", numbers=True, parser=_without_response_files),
        "file": _gnu("bhiIkLnNr0 --brief --mime --mime-type --mime-encoding --keep-going --dereference"),
        **dict.fromkeys(
            ("bat", "batcat"),
            _gnu("pnAuf --plain --number", "lr --language --line-range --color --style --paging", check=_has_no_pager),
        ),
        "wc": _gnu("cmlwL --bytes --chars --lines --words --max-line-length"),
        **dict.fromkeys(("cksum", "sum", "md5", "sha1", "sha256"), _gnu("r")),
        **dict.fromkeys(("md5sum", "sha1sum", "sha256sum", "sha512sum", "b2sum"), _gnu("btz --binary --text --tag")),
        "shasum": _gnu("bptU0", "a --algorithm"),
        **dict.fromkeys(("base64", "base32"), _gnu("dDi --decode --ignore-garbage", "wb --wrap --break")),
        # ── search ──
        **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
        "rg": _RG,
        # ── lines and columns ──
        "cut": _gnu(
            "nswz --complement --only-delimited", "bcdf --bytes --characters --delimiter --fields --output-delimiter"
        ),
        "column": _gnu("txJed --table --json", "csolNRE --separator --output-separator --table-columns"),
        "comm": _gnu("123iz", "--output-delimiter"),
        "cmp": _gnu("blshxz --print-bytes --verbose --quiet --silent", "in"),
        "paste": _gnu("sz --serial", "d --delimiters"),
        "fold": _gnu("bs --bytes --spaces", "w --width", numbers=True),
        "fmt": _gnu("cstu", "wg --width --goal", numbers=True),
        "expand": _gnu("i", "t --tabs", numbers=True),
        "sort": _SORT,
        "uniq": _gnu(
            "cdDuiz --count --repeated --unique --ignore-case",
            "fsw --skip-fields --skip-chars --check-chars",
            most=1,  # the second one is written
            permutes=False,
            numbers=True,
        ),
        "tr": _gnu("cCdstu --complement --delete --squeeze-repeats --truncate-set1", "", _TEXTS, free=True),
        "diff": _DIFF,
        "seq": Program(operands=_TEXTS, parser=_seq),
    }
)
"""Every program of this module by its bare name."""
