"""Programs that read, search and count text, or list files: cat, grep, sort, ls.

A table holds the options of the GNU program and those of the BSD one. Where the two differ in whether an option has a
value, it is a flag here, so that the word behind it counts as an operand too; where they differ in what the value is,
it counts as a path. Options missing from the tables are not in the grammar: those that write (`sort -o`), run another
program (`rg --pre`, `diff -l`), read a list of files (`wc --files0-from`), or follow links (`tree -l`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType

from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, option_names
from harness.permissions.programs.parsers import ABOUT, LISTS, TEXTS, plain
from harness.permissions.shell.syntax import Word, WordKind

# ── parsers of programs that do not read their options as others do ─────────────────────────────


def _before_dashes(words: tuple[Word, ...]) -> Iterator[str]:
    """The texts of the words that may be options."""
    return takewhile(lambda text: text != "--", (word.text for word in words))


def _without_response_files(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """strings of the GNU binutils replaces any word that begins with @ by the content of a file."""
    for word in words:
        if word.text.startswith("@") or (word.kind is WordKind.GLOB and word.text[:1] in "*?["):
            return None
    return plain(program, words)


def _without_clusters(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """xxd takes -pl for -p, whatever follows."""
    for text in _before_dashes(words):
        if text.startswith("-") and not re.fullmatch(r"-|-ps|-[a-zA-Z][0-9]*", text):
            return None
    return plain(program, words)


def _with_values_behind(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """tree takes the value of -L from the next word and parses attached text as more options."""
    for text in _before_dashes(words):
        if re.match(r"-[a-zA-Z]*[LPIT].", text) and not re.fullmatch(r"-L[0-9]+", text):
            return None
    return plain(program, words)


def _rg(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    if parsed is None:
        return None
    if parsed.has("--files --type-list"):
        listed = tuple(WordUse(WordRole.LIST, use.word) if use.role is WordRole.TREE else use for use in parsed.uses)
        parsed = replace(parsed, uses=listed)
    brought_back = option_names("u. --unrestricted --hidden t --type --type-add --ignore-file")
    globs = option_names("g --glob --iglob")
    return replace(
        parsed,
        skips_hidden=not any(
            name in brought_back or (name in globs and not (value and value.text.startswith("!")))
            for name, value in parsed.options
        ),
    )


def _fd(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = plain(program, words)
    return None if parsed is None else replace(parsed, skips_hidden=not parsed.has("Hu --unrestricted --hidden"))


_MOST_NUMBERS = 10**7


def _seq(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Numbers may be negative, so that they look like options."""
    flags: list[tuple[str, Word | None]] = []
    rest = list(words)
    while rest and rest[0].known and re.fullmatch(r"-[wfst].*|--.*", rest[0].text):
        word = rest.pop(0)
        if word.text in ("-w", "--equal-width", "--help", "--version"):
            flags.append((word.text, None))
        elif re.match(r"-[fst].|--(format|separator)=", word.text):
            flags.append((word.text[:2], word))
        elif word.text in ("-f", "-s", "-t", "--format", "--separator") and rest and rest[0].known:
            flags.append((word.text, rest.pop(0)))
        else:
            return None
    if len(rest) > 3 or any(word.kind is WordKind.GLOB or word.home for word in rest):
        return None
    return ParsedCommand(program, tuple(flags), tuple(rest), tuple(WordUse(WordRole.TEXT, word) for word in rest))


# ── what else has to hold ───────────────────────────────────────────────────────────────────────


def _follows_no_links(parsed: ParsedCommand) -> bool:
    """ls. With -L, -R goes through links, too."""
    return not (parsed.has("R --recursive") and parsed.has("L --dereference"))


def _stops_at_the_end(parsed: ParsedCommand) -> bool:
    """tail. The old form +5f follows, too."""
    return not parsed.has("fF --follow") and not any(re.match(r"\+[0-9].*f", word.text) for word in parsed.operands)


def _counts_to_an_end(parsed: ParsedCommand) -> bool:
    """seq, from a number to a number in not too many steps."""
    numbers = [word.text for word in parsed.operands]
    known = all(word.known for word in parsed.operands)
    if not known or not all(re.fullmatch(r"[-+]?([0-9]{1,15}(\.[0-9]{0,9})?|\.[0-9]{1,9})", text) for text in numbers):
        return False
    if not numbers:
        return True
    first, step = float(numbers[0]) if len(numbers) > 1 else 1.0, float(numbers[1]) if len(numbers) == 3 else 1.0
    return step != 0 and (float(numbers[-1]) - first) / step < _MOST_NUMBERS


def _draws_to_an_end(parsed: ParsedCommand) -> bool:
    """shuf"""
    return not parsed.has("r --repeat") or parsed.has("n --head-count")


def _small_numbers(parsed: ParsedCommand) -> bool:
    """factor"""
    return all(word.known and re.fullmatch(r"[0-9]{1,18}", word.text) for word in parsed.operands)


def _has_no_pager(parsed: ParsedCommand) -> bool:
    """bat, which may start less; `bat cache` changes its folder."""
    options = [name + ("" if value is None else f"={value.text}") for name, value in parsed.options]
    quiet = "--paging=never" in options or "-P" in options or options.count("-p") > 1
    others = [one for one in options if one.startswith("--paging") and one != "--paging=never"]
    return quiet and not others and not any(word.text == "cache" for word in parsed.operands)


# ── tables ──────────────────────────────────────────────────────────────────────────────────────

_DIGEST = Program(flags="btz --binary --text --tag --zero" + ABOUT)
_LS = Program(
    check=_follows_no_links,
    flags="aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOPW% --all --almost-all --author --escape --ignore-backups "
    "--directory --file-type --full-time --group-directories-first --no-group --human-readable --si "
    "--dereference-command-line --dereference-command-line-symlink-to-dir --inode --kibibytes --dereference "
    "--numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --reverse --recursive --size "
    "--context --zero" + ABOUT,
    maybe="--color --classify --hyperlink",
    texts="--block-size --format --hide --indicator-style --ignore --quoting-style --sort --time --time-style "
    "--tabsize --width",
    lists="ITw",
    operands=LISTS,
    default=True,
)
_GREP = Program(
    flags="EFGPiywxzclLoqsbHhnTUZuVaIv --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
    "--no-ignore-case --word-regexp --line-regexp --null-data --count --files-with-matches --files-without-match "
    "--only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number "
    "--initial-tab --binary --null --text --invert-match --line-buffered --no-group-separator" + ABOUT,
    texts="emABCD --regexp --max-count --after-context --before-context --context --devices --binary-files --include "
    "--exclude --exclude-dir --label --group-separator",
    maybe="--color --colour",
    reads="f --file --exclude-from",
    operands=(WordRole.TEXT, WordRole.READ),
    unless="ef --regexp --file",
    tree="r --recursive",
    follow="R --dereference-recursive",
    default=True,
    numbers=True,
)
_RG = Program(
    flags="iSswxvclnNopqaFPUuI0HhV. --ignore-case --smart-case --case-sensitive --word-regexp --line-regexp "
    "--invert-match --count --count-matches --files-with-matches --files-without-match --line-number "
    "--no-line-number --only-matching --pretty --quiet --text --fixed-strings --pcre2 --multiline --unrestricted "
    "--no-filename --with-filename --null --null-data --hidden --no-hidden --files --type-list --heading --no-heading "
    "--column --no-column --byte-offset --json --stats --trim --vimgrep --passthru --multiline-dotall --crlf --mmap "
    "--no-mmap --line-buffered --block-buffered --max-columns-preview --include-zero --no-config --no-ignore "
    "--no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages "
    "--no-ignore-parent --no-ignore-vcs --no-messages --no-require-git --no-unicode --one-file-system --binary "
    "--glob-case-insensitive --ignore-file-case-insensitive --pcre2-version --auto-hybrid-regex" + ABOUT,
    texts="eABCgtTmrEMjd --regexp --after-context --before-context --context --glob --iglob --type --type-not "
    "--type-add --type-clear --max-count --replace --encoding --max-columns --max-filesize --max-depth --threads "
    "--color --colors --sort --sortr --engine --context-separator --field-context-separator "
    "--field-match-separator --path-separator --dfa-size-limit --regex-size-limit",
    reads="f --file --ignore-file",
    operands=(WordRole.TEXT, WordRole.TREE),
    unless="ef --regexp --file --files --type-list",
    follow="L --follow",
    default=True,
    parser=_rg,
)
_FD = Program(
    flags="HIusigFap01qhV --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted "
    "--case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --relative-path --full-path "
    "--print0 --quiet --show-errors --prune --one-file-system --no-follow" + ABOUT,
    texts="dteESocj --max-depth --min-depth --exact-depth --type --extension --exclude --size --owner --color "
    "--threads --max-results --changed-within --changed-before --path-separator --and",
    maybe="--strip-cwd-prefix",
    lists="--search-path",
    reads="--ignore-file",
    operands=(WordRole.TEXT, WordRole.LIST),
    default=True,
    parser=_fd,
)
_DIFF = Program(
    flags="0123456789qscuenypTtNiEZbwBadrP --normal --brief --report-identical-files --ed --rcs --side-by-side "
    "--left-column --suppress-common-lines --show-c-function --expand-tabs --initial-tab --suppress-blank-empty "
    "--recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case "
    "--no-ignore-file-name-case --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change "
    "--ignore-all-space --ignore-blank-lines --text --strip-trailing-cr --minimal --speed-large-files" + ABOUT,
    texts="CUWFLxSID --width --show-function-line --label --tabsize --exclude --starting-file --ignore-matching-lines "
    "--ifdef --horizon-lines --palette --line-format --old-line-format --new-line-format --unchanged-line-format "
    "--old-group-format --new-group-format --unchanged-group-format --changed-group-format",
    maybe="--color --context --unified",
    reads="X --exclude-from",
    operands=(WordRole.FOLLOWED,),  # of two folders it compares the files, also without -r
)
_DIFF_RUNNER = Program(
    flags="ae3xXimTAELy --text --ed --merge --side-by-side --suppress-common-lines" + ABOUT,
    texts="--label",
    commands="--diff-program",
    writes="o --output",
    looks=False,
)

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        # ── names, sizes, dates ──
        **dict.fromkeys(("ls", "dir", "vdir"), _LS),
        "stat": Program(
            flags="LftFlnqrsx --dereference --file-system --terse" + ABOUT,
            texts="c --format --printf --cached",
            operands=LISTS,
        ),
        "realpath": Program(
            flags="emLPqszE --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip "
            "--no-symlinks --zero" + ABOUT,
            lists="--relative-to --relative-base",
            operands=LISTS,
        ),
        "readlink": Program(
            flags="femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet "
            "--silent --verbose --zero" + ABOUT,
            operands=LISTS,
        ),
        "expr": Program(operands=TEXTS, numbers=True, permutes=False, free=True),
        "basename": Program(flags="az --multiple --zero" + ABOUT, texts="s --suffix", operands=TEXTS, free=True),
        "dirname": Program(flags="z --zero" + ABOUT, operands=TEXTS, free=True),
        "df": Program(
            flags="abcghHiIklmnPTvY --all --human-readable --si --inodes --local --no-sync --portability --total "
            "--print-type" + ABOUT,
            texts="B --block-size --type --exclude-type",
            maybe="--output",
            lists="tx",
            operands=LISTS,
        ),
        "du": Program(
            flags="0aAbcDhHkglmPSsxn --null --all --apparent-size --bytes --total --dereference-args --human-readable "
            "--inodes --count-links --no-dereference --separate-dirs --si --summarize --one-file-system" + ABOUT,
            texts="BdIt --block-size --max-depth --threshold --exclude --time-style",
            maybe="--time",
            reads="X --exclude-from",
            operands=LISTS,
            default=True,
        ),
        "tree": Program(
            flags="acdfghinpqrstuvxACDFJNQSUX --gitignore --matchdirs --metafirst --ignore-case --inodes --device "
            "--dirsfirst --filesfirst --si --du --prune --noreport" + ABOUT,
            texts="LPIT --sort --filelimit --charset --timefmt",
            writes="o",
            operands=LISTS,
            default=True,
            parser=_with_values_behind,
        ),
        **dict.fromkeys(("fd", "fdfind"), _FD),
        # ── contents ──
        "cat": Program(
            flags="AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs "
            "--show-nonprinting" + ABOUT
        ),
        "tac": Program(flags="br --before --regex" + ABOUT, texts="s --separator"),
        "rev": Program(flags=ABOUT),
        "head": Program(
            flags="qvz --quiet --silent --verbose --zero-terminated" + ABOUT,
            texts="cn --bytes --lines",
            numbers=True,
        ),
        "tail": Program(
            flags="qvzrfF --quiet --silent --verbose --zero-terminated --retry" + ABOUT,
            texts="bcns --bytes --lines --pid --sleep-interval --max-unchanged-stats",
            maybe="--follow",
            numbers=True,
            ends=_stops_at_the_end,
        ),
        "nl": Program(
            flags="p --no-renumber" + ABOUT,
            texts="bdfhilnsvw --body-numbering --section-delimiter --footer-numbering --header-numbering "
            "--line-increment --join-blank-lines --number-format --number-separator --starting-line-number "
            "--number-width",
        ),
        "od": Program(
            flags="aBbcDdeFfHhIiLlOosvXx --output-duplicates" + ABOUT,
            texts="AjNSt --address-radix --skip-bytes --read-bytes --format --endian",
            maybe="w --strings --width",
        ),
        **dict.fromkeys(
            ("hexdump", "hd"),
            Program(
                flags="bcCdovx --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal "
                "--two-bytes-hex --no-squeezing" + ABOUT,
                texts="ens --format --length --skip",
                reads="f --format-file",
            ),
        ),
        "xxd": Program(
            flags="abCeEipuvd -ps",
            texts="cglsnoR",
            acts="r",
            operands=(WordRole.READ, WordRole.WRITE),
            permutes=False,
            parser=_without_clusters,
        ),
        "strings": Program(
            flags="adfwoA --all --data --print-file-name --include-all-whitespace" + ABOUT,
            texts="netsU --bytes --radix --encoding --output-separator --unicode",
            numbers=True,
            parser=_without_response_files,
        ),
        "file": Program(
            flags="bhiIkLnNr0 --brief --mime --mime-type --mime-encoding --keep-going --no-buffer --no-pad --raw "
            "--print0 --no-dereference --dereference --extension --apple" + ABOUT,
            texts="eF --exclude --exclude-quiet --separator",
        ),
        **dict.fromkeys(
            ("bat", "batcat"),
            Program(
                flags="pnAuPfSV --plain --number --show-all --unbuffered --force-colorization --chop-long-lines"
                + ABOUT,
                texts="lHrm --language --highlight-line --line-range --color --theme --style --wrap --tabs --paging "
                "--decorations --italic-text --terminal-width --map-syntax --file-name",
                check=_has_no_pager,
            ),
        ),
        "wc": Program(flags="cmlwL --bytes --chars --lines --words --max-line-length" + ABOUT, texts="--total"),
        "cksum": Program(
            flags="brtz --raw --base64 --tag --untagged --zero --debug" + ABOUT, texts="aol --algorithm --length"
        ),
        "sum": Program(flags="rs --sysv" + ABOUT),
        **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _DIGEST),
        "b2sum": replace(_DIGEST, texts="l --length"),
        "shasum": Program(flags="bptU0 --binary --text --UNIVERSAL --01" + ABOUT, texts="a --algorithm"),
        **dict.fromkeys(("md5", "sha1", "sha256", "sha384", "sha512"), Program(flags="qr", texts="s")),
        **dict.fromkeys(
            ("base64", "base32"),
            Program(
                flags="dDi --decode --ignore-garbage" + ABOUT,
                texts="wb --wrap --break",
                reads="--input",
                writes="o --output",
            ),
        ),
        "iconv": Program(flags="cls --list --silent" + ABOUT, texts="ft --from-code --to-code", writes="o --output"),
        # ── search ──
        **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
        "rg": _RG,
        "look": Program(
            flags="abdf --alternative --alphanum --ignore-case" + ABOUT,
            texts="t --terminate",
            operands=(WordRole.TEXT, WordRole.READ),
        ),
        # ── lines and columns ──
        "cut": Program(
            flags="nswz --complement --only-delimited --zero-terminated" + ABOUT,
            texts="bcdf --bytes --characters --delimiter --fields --output-delimiter",
        ),
        "column": Program(
            flags="txJLed --table --json --keep-empty-lines --table-header-repeat --table-noheadings --fillrows"
            + ABOUT,
            texts="csolNOHRTWEpi --output-width --separator --output-separator --table-columns --table-columns-limit "
            "--table-order --table-hide --table-right --table-truncate --table-wrap --table-noextreme --table-name "
            "--tree --tree-id --tree-parent",
        ),
        "comm": Program(
            flags="123iz --check-order --nocheck-order --total --zero-terminated" + ABOUT, texts="--output-delimiter"
        ),
        "cmp": Program(
            flags="blshxz --print-bytes --verbose --quiet --silent" + ABOUT, texts="in --ignore-initial --bytes"
        ),
        "paste": Program(flags="sz --serial --zero-terminated" + ABOUT, texts="d --delimiters"),
        "fold": Program(flags="bs --bytes --spaces" + ABOUT, texts="w --width", numbers=True),
        "fmt": Program(
            flags="cstu --crown-margin --split-only --tagged-paragraph --uniform-spacing" + ABOUT,
            texts="wg --width --goal --prefix",
            reads="p",
            numbers=True,
        ),
        "expand": Program(flags="i --initial" + ABOUT, texts="t --tabs", numbers=True),
        "unexpand": Program(flags="a --all --first-only" + ABOUT, texts="t --tabs", numbers=True),
        "join": Program(
            flags="iz --ignore-case --check-order --nocheck-order --header --zero-terminated" + ABOUT,
            texts="aejotv12",
        ),
        "pr": Program(
            flags="acdfFJmrtTv --across --show-control-chars --double-space --form-feed --join-lines --merge "
            "--no-file-warnings --omit-header --omit-pagination --show-nonprinting" + ABOUT,
            texts="DhlNoWw --columns --pages --date-format --header --length --first-line-number --indent --width "
            "--page-width",
            maybe="einsS --expand-tabs --output-tabs --separator --sep-string",
            numbers=True,
        ),
        "col": Program(flags="bfhpx", texts="l", operands=()),
        "sort": Program(
            flags="bdfgihnMRrVcCmsuz --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
            "--ignore-nonprinting --human-numeric-sort --numeric-sort --month-sort --random-sort --reverse "
            "--version-sort --merge --stable --unique --zero-terminated --debug" + ABOUT,
            texts="ktS --key --field-separator --buffer-size --sort --parallel --batch-size",
            maybe="--check",
            writes="oT --output --temporary-directory",
            commands="--compress-program",
        ),
        "uniq": Program(
            flags="cdDuiz --count --repeated --unique --ignore-case --zero-terminated" + ABOUT,
            texts="fsw --skip-fields --skip-chars --check-chars",
            maybe="--all-repeated --group",
            operands=(WordRole.READ, WordRole.WRITE),
            permutes=False,
            numbers=True,
        ),
        "tr": Program(
            flags="cCdstu --complement --delete --squeeze-repeats --truncate-set1" + ABOUT, operands=TEXTS, free=True
        ),
        "tsort": Program(flags=ABOUT),
        "shuf": Program(
            flags="erz --echo --repeat --zero-terminated" + ABOUT,
            texts="in --input-range --head-count",
            writes="o --output",
            ends=_draws_to_an_end,
        ),
        "diff": _DIFF,
        "colordiff": Program(flags="--help --version", operands=()),
        **dict.fromkeys(("diff3", "sdiff"), _DIFF_RUNNER),
        # ── numbers ──
        "seq": Program(operands=TEXTS, parser=_seq, ends=_counts_to_an_end),
        "factor": Program(flags="h --exponents" + ABOUT, operands=TEXTS, ends=_small_numbers),
        "numfmt": Program(
            flags="z --debug --grouping --zero-terminated" + ABOUT,
            texts="d --delimiter --field --format --from --from-unit --invalid --padding --round --suffix --to "
            "--to-unit",
            maybe="--header",
            operands=TEXTS,
            numbers=True,
        ),
    }
)
"""Every program of this module by its bare name."""
