"""Programs that read, search and count text, list files, or show the state of the system: cat, grep, sort, ls, ps.

A table holds the options of the GNU program and those of the BSD one. Where the two differ in whether an option has a
value, it is a flag here, so that the word behind it counts as an operand too; where they differ in what the value is,
it counts as a path. Options of which the tables say nothing are not in the grammar: those that write (`sort -o`), run
another program (`rg --pre`, `diff -l`), read a list of files (`wc --files0-from`), or follow links (`tree -l`).
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType

from harness.permissions.names import names
from harness.permissions.programs.grammar import Parsed, Program, Role, Use, parse
from harness.permissions.shell.words import Word, WordKind

_ABOUT = " --help --version"
_TEXT = (Role.TEXT,)
_LIST = (Role.LIST,)

# ── parsers of programs that do not read their options as others do ─────────────────────────────


def _plainly(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    return parse(replace(program, parser=None), words)


def _before_dashes(words: tuple[Word, ...]) -> Iterator[str]:
    """The texts of the words that may be options."""
    return takewhile(lambda text: text != "--", (word.text for word in words))


def _without_response_files(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """strings of the GNU binutils replaces any word that begins with @ by the content of a file."""
    for word in words:
        if word.text.startswith("@") or (word.kind is WordKind.GLOB and word.text[:1] in "*?["):
            return None
    return _plainly(program, words)


def _without_clusters(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """xxd takes -pl for -p, whatever follows."""
    for text in _before_dashes(words):
        if text.startswith("-") and not re.fullmatch(r"-|-ps|-[a-zA-Z][0-9]*", text):
            return None
    return _plainly(program, words)


def _with_values_behind(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """tree takes the value of -L from the next word, and what is glued on for more options."""
    for text in _before_dashes(words):
        if re.match(r"-[a-zA-Z]*[LPIT].", text) and not re.fullmatch(r"-L[0-9]+", text):
            return None
    return _plainly(program, words)


def _rg(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = _plainly(program, words)
    if parsed is None:
        return None
    if parsed.has("--files --type-list"):
        listed = tuple(Use(Role.LIST, use.word) if use.role is Role.TREE else use for use in parsed.uses)
        parsed = replace(parsed, uses=listed)
    brought_back = "u. --unrestricted --hidden g t --glob --iglob --type --type-add --ignore-file"
    return replace(parsed, skips_hidden=not parsed.has(brought_back))


def _fd(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = _plainly(program, words)
    return None if parsed is None else replace(parsed, skips_hidden=not parsed.has("Hu --unrestricted --hidden"))


_PS_COLUMNS = names(
    "pid ppid pgid sid tid lwp nlwp user uid gid group ruser euser tty tt stat state s comm command cmd args ucmd "
    "pcpu %cpu pmem %mem rss rsz vsz sz time cputime etime etimes start lstart stime ni nice pri f wchan psr cls "
    "min_flt maj_flt"
)
_PS_FLAGS = re.compile(r"-e[fFljHwLTy]*|-[AadfFjlHwLTy]+|-ax[wjl]*|-aux[w]*|[auxwfjl]+|-[mM]|[0-9]+|-[0-9]+")
"""Without the e of BSD, which shows the variables of other programs."""


def _ps(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    """Linux reads a line that it does not understand once more as BSD would, where -e is that e: only known words."""
    texts = [word.text for word in words if word.known]
    if len(texts) != len(words):
        return None
    every = any(re.match(r"-[^-]*e", text) for text in texts)
    position = 0
    while position < len(texts):
        text, position = texts[position], position + 1
        if every and text.startswith("-aux"):
            return None
        columns, name = re.fullmatch(r"-[eA]?[wf]*o(.*)", text), text.partition("=")[0]
        if columns or name in ("--sort", "--format"):
            value = columns[1] if columns else text.partition("=")[2]
            if not value and not ("=" in text and not columns):
                value = texts[position] if position < len(texts) else ""
                position += 1
            named = re.split(r"[, ]+", value)
            if not all(re.sub(r"=.*|:[0-9]+$", "", one).lstrip("+-") in _PS_COLUMNS for one in named):
                return None
        elif text in ("-p", "--pid", "-q", "--ppid"):
            if position >= len(texts) or not re.fullmatch(r"[0-9]+(,[0-9]+)*", texts[position]):
                return None
            position += 1
        elif text in ("-C", "-u", "-U"):
            others = [one for one in texts if one != text]
            if position >= len(texts) or any("e" in one for one in others if not one.startswith("--")):
                return None
            position += 1
        elif not (_PS_FLAGS.fullmatch(text) or text in ("--no-headers", "--no-headings", "--forest", "--version")):
            return None
    return Parsed(program, operands=words, uses=tuple(Use(Role.TEXT, word) for word in words))


_MOST_NUMBERS = 10**7


def _seq(program: Program, words: tuple[Word, ...]) -> Parsed | None:
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
    return Parsed(program, tuple(flags), tuple(rest), tuple(Use(Role.TEXT, word) for word in rest))


# ── what else has to hold ───────────────────────────────────────────────────────────────────────


def _follows_no_links(parsed: Parsed) -> bool:
    """ls. With -L, -R goes through links, too."""
    return not (parsed.has("R --recursive") and parsed.has("L --dereference"))


def _stops_at_the_end(parsed: Parsed) -> bool:
    """tail. The old form +5f follows, too."""
    return not parsed.has("fF --follow") and not any(re.match(r"\+[0-9].*f", word.text) for word in parsed.operands)


def _counts_to_an_end(parsed: Parsed) -> bool:
    """seq, from a number to a number in not too many steps."""
    numbers = [word.text for word in parsed.operands]
    known = all(word.known for word in parsed.operands)
    if not known or not all(re.fullmatch(r"[-+]?([0-9]{1,15}(\.[0-9]{0,9})?|\.[0-9]{1,9})", text) for text in numbers):
        return False
    if not numbers:
        return True
    first, step = float(numbers[0]) if len(numbers) > 1 else 1.0, float(numbers[1]) if len(numbers) == 3 else 1.0
    return step != 0 and (float(numbers[-1]) - first) / step < _MOST_NUMBERS


def _repeats_so_often(parsed: Parsed) -> bool:
    """vmstat and iostat: without an interval, or with a number of reports behind it."""
    numbers = [word.text for word in parsed.operands if not re.match(r"[a-zA-Z/]", word.text)]
    return len(numbers) != 1


def _says_it_once(parsed: Parsed) -> bool:
    return not parsed.has("s --seconds")


def _draws_to_an_end(parsed: Parsed) -> bool:
    """shuf"""
    return not parsed.has("r --repeat") or parsed.has("n --head-count")


def _small_numbers(parsed: Parsed) -> bool:
    """factor"""
    return all(word.known and re.fullmatch(r"[0-9]{1,18}", word.text) for word in parsed.operands)


def _shows_a_date(parsed: Parsed) -> bool:
    """A word without a + in front sets the clock."""
    return all(word.known and word.text.startswith("+") for word in parsed.operands)


_PLAIN_VARIABLES = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|TZ|PWD|OLDPWD|HOSTNAME|EDITOR|VISUAL|PAGER|"
    r"COLUMNS|LINES|CI|DISPLAY|TMPDIR|VIRTUAL_ENV|CONDA_PREFIX|CONDA_DEFAULT_ENV|PYTHONPATH|NODE_ENV|JAVA_HOME|"
    r"GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|XDG_[A-Z]+_HOME|NO_COLOR|DEBUG|RUST_LOG|RUST_BACKTRACE"
)


def _prints_plain_variables(parsed: Parsed) -> bool:
    named = all(word.known and _PLAIN_VARIABLES.fullmatch(word.text) for word in parsed.operands)
    return bool(parsed.operands) and named


def _has_no_pager(parsed: Parsed) -> bool:
    """bat, which may start less; `bat cache` changes its folder."""
    options = [name + ("" if value is None else f"={value.text}") for name, value in parsed.options]
    quiet = "--paging=never" in options or "-P" in options or options.count("-p") > 1
    others = [one for one in options if one.startswith("--paging") and one != "--paging=never"]
    return quiet and not others and not any(word.text == "cache" for word in parsed.operands)


# ── tables ──────────────────────────────────────────────────────────────────────────────────────

_NOTHING = Program(flags=_ABOUT, operands=())
_DIGEST = Program(flags="btz --binary --text --tag --zero" + _ABOUT)
_LS = Program(
    check=_follows_no_links,
    flags="aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOPW% --all --almost-all --author --escape --ignore-backups "
    "--directory --file-type --full-time --group-directories-first --no-group --human-readable --si "
    "--dereference-command-line --dereference-command-line-symlink-to-dir --inode --kibibytes --dereference "
    "--numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --reverse --recursive --size "
    "--context --zero" + _ABOUT,
    maybe="--color --classify --hyperlink",
    texts="--block-size --format --hide --indicator-style --ignore --quoting-style --sort --time --time-style "
    "--tabsize --width",
    lists="ITw",
    operands=_LIST,
    default=True,
)
_GREP = Program(
    flags="EFGPiywxzclLoqsbHhnTUZuVaIv --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case "
    "--no-ignore-case --word-regexp --line-regexp --null-data --count --files-with-matches --files-without-match "
    "--only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number "
    "--initial-tab --binary --null --text --invert-match --line-buffered --no-group-separator" + _ABOUT,
    texts="emABCD --regexp --max-count --after-context --before-context --context --devices --binary-files --include "
    "--exclude --exclude-dir --label --group-separator",
    maybe="--color --colour",
    reads="f --file --exclude-from",
    operands=(Role.TEXT, Role.READ),
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
    "--glob-case-insensitive --ignore-file-case-insensitive --pcre2-version --auto-hybrid-regex" + _ABOUT,
    texts="eABCgtTmrEMjd --regexp --after-context --before-context --context --glob --iglob --type --type-not "
    "--type-add --type-clear --max-count --replace --encoding --max-columns --max-filesize --max-depth --threads "
    "--color --colors --sort --sortr --engine --context-separator --field-context-separator "
    "--field-match-separator --path-separator --dfa-size-limit --regex-size-limit",
    reads="f --file --ignore-file",
    operands=(Role.TEXT, Role.TREE),
    unless="ef --regexp --file --files --type-list",
    follow="L --follow",
    default=True,
    parser=_rg,
)
_FD = Program(
    flags="HIusigFap01qhV --hidden --no-hidden --no-ignore --no-ignore-vcs --no-ignore-parent --unrestricted "
    "--case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --relative-path --full-path "
    "--print0 --quiet --show-errors --prune --one-file-system --no-follow" + _ABOUT,
    texts="dteESocj --max-depth --min-depth --exact-depth --type --extension --exclude --size --owner --color "
    "--threads --max-results --changed-within --changed-before --path-separator --and",
    maybe="--strip-cwd-prefix",
    lists="--search-path",
    reads="--ignore-file",
    operands=(Role.TEXT, Role.LIST),
    default=True,
    parser=_fd,
)
_DIFF = Program(
    flags="0123456789qscuenypTtNiEZbwBadrP --normal --brief --report-identical-files --ed --rcs --side-by-side "
    "--left-column --suppress-common-lines --show-c-function --expand-tabs --initial-tab --suppress-blank-empty "
    "--recursive --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case "
    "--no-ignore-file-name-case --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change "
    "--ignore-all-space --ignore-blank-lines --text --strip-trailing-cr --minimal --speed-large-files" + _ABOUT,
    texts="CUWFLxSID --width --show-function-line --label --tabsize --exclude --starting-file --ignore-matching-lines "
    "--ifdef --horizon-lines --palette --line-format --old-line-format --new-line-format --unchanged-line-format "
    "--old-group-format --new-group-format --unchanged-group-format --changed-group-format",
    maybe="--color --context --unified",
    reads="X --exclude-from",
    operands=(Role.FOLLOWED,),  # of two folders it compares the files, also without -r
)
_DIFF_RUNNER = Program(
    flags="ae3xXimTAELy --text --ed --merge --side-by-side --suppress-common-lines" + _ABOUT,
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
            flags="LftFlnqrsx --dereference --file-system --terse" + _ABOUT,
            texts="c --format --printf --cached",
            operands=_LIST,
        ),
        "realpath": Program(
            flags="emLPqszE --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip "
            "--no-symlinks --zero" + _ABOUT,
            lists="--relative-to --relative-base",
            operands=_LIST,
        ),
        "readlink": Program(
            flags="femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline --quiet "
            "--silent --verbose --zero" + _ABOUT,
            operands=_LIST,
        ),
        "expr": Program(operands=_TEXT, numbers=True, permutes=False, free=True),
        "basename": Program(flags="az --multiple --zero" + _ABOUT, texts="s --suffix", operands=_TEXT, free=True),
        "dirname": Program(flags="z --zero" + _ABOUT, operands=_TEXT, free=True),
        "df": Program(
            flags="abcghHiIklmnPTvY --all --human-readable --si --inodes --local --no-sync --portability --total "
            "--print-type" + _ABOUT,
            texts="B --block-size --type --exclude-type",
            maybe="--output",
            lists="tx",
            operands=_LIST,
        ),
        "du": Program(
            flags="0aAbcDhHkglmPSsxn --null --all --apparent-size --bytes --total --dereference-args --human-readable "
            "--inodes --count-links --no-dereference --separate-dirs --si --summarize --one-file-system" + _ABOUT,
            texts="BdIt --block-size --max-depth --threshold --exclude --time-style",
            maybe="--time",
            reads="X --exclude-from",
            operands=_LIST,
            default=True,
        ),
        "tree": Program(
            flags="acdfghinpqrstuvxACDFJNQSUX --gitignore --matchdirs --metafirst --ignore-case --inodes --device "
            "--dirsfirst --filesfirst --si --du --prune --noreport" + _ABOUT,
            texts="LPIT --sort --filelimit --charset --timefmt",
            writes="o",
            operands=_LIST,
            default=True,
            parser=_with_values_behind,
        ),
        **dict.fromkeys(("fd", "fdfind"), _FD),
        # ── contents ──
        "cat": Program(
            flags="AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs "
            "--show-nonprinting" + _ABOUT
        ),
        "tac": Program(flags="br --before --regex" + _ABOUT, texts="s --separator"),
        "rev": Program(flags=_ABOUT),
        "head": Program(
            flags="qvz --quiet --silent --verbose --zero-terminated" + _ABOUT,
            texts="cn --bytes --lines",
            numbers=True,
        ),
        "tail": Program(
            flags="qvzrfF --quiet --silent --verbose --zero-terminated --retry" + _ABOUT,
            texts="bcns --bytes --lines --pid --sleep-interval --max-unchanged-stats",
            maybe="--follow",
            numbers=True,
            ends=_stops_at_the_end,
        ),
        "nl": Program(
            flags="p --no-renumber" + _ABOUT,
            texts="bdfhilnsvw --body-numbering --section-delimiter --footer-numbering --header-numbering "
            "--line-increment --join-blank-lines --number-format --number-separator --starting-line-number "
            "--number-width",
        ),
        "od": Program(
            flags="aBbcDdeFfHhIiLlOosvXx --output-duplicates" + _ABOUT,
            texts="AjNSt --address-radix --skip-bytes --read-bytes --format --endian",
            maybe="w --strings --width",
        ),
        **dict.fromkeys(
            ("hexdump", "hd"),
            Program(
                flags="bcCdovx --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal "
                "--two-bytes-hex --no-squeezing" + _ABOUT,
                texts="ens --format --length --skip",
                reads="f --format-file",
            ),
        ),
        "xxd": Program(
            flags="abCeEipuvd -ps",
            texts="cglsnoR",
            acts="r",
            operands=(Role.READ, Role.WRITE),
            permutes=False,
            parser=_without_clusters,
        ),
        "strings": Program(
            flags="adfwoA --all --data --print-file-name --include-all-whitespace" + _ABOUT,
            texts="netsU --bytes --radix --encoding --output-separator --unicode",
            numbers=True,
            parser=_without_response_files,
        ),
        "file": Program(
            flags="bhiIkLnNr0 --brief --mime --mime-type --mime-encoding --keep-going --no-buffer --no-pad --raw "
            "--print0 --no-dereference --dereference --extension --apple" + _ABOUT,
            texts="eF --exclude --exclude-quiet --separator",
        ),
        **dict.fromkeys(
            ("bat", "batcat"),
            Program(
                flags="pnAuPfSV --plain --number --show-all --unbuffered --force-colorization --chop-long-lines"
                + _ABOUT,
                texts="lHrm --language --highlight-line --line-range --color --theme --style --wrap --tabs --paging "
                "--decorations --italic-text --terminal-width --map-syntax --file-name",
                check=_has_no_pager,
            ),
        ),
        "wc": Program(flags="cmlwL --bytes --chars --lines --words --max-line-length" + _ABOUT, texts="--total"),
        "cksum": Program(
            flags="brtz --raw --base64 --tag --untagged --zero --debug" + _ABOUT, texts="aol --algorithm --length"
        ),
        "sum": Program(flags="rs --sysv" + _ABOUT),
        **dict.fromkeys(("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"), _DIGEST),
        "b2sum": replace(_DIGEST, texts="l --length"),
        "shasum": Program(flags="bptU0 --binary --text --UNIVERSAL --01" + _ABOUT, texts="a --algorithm"),
        **dict.fromkeys(("md5", "sha1", "sha256", "sha384", "sha512"), Program(flags="qr", texts="s")),
        **dict.fromkeys(
            ("base64", "base32"),
            Program(
                flags="dDi --decode --ignore-garbage" + _ABOUT,
                texts="wb --wrap --break",
                reads="--input",
                writes="o --output",
            ),
        ),
        "iconv": Program(flags="cls --list --silent" + _ABOUT, texts="ft --from-code --to-code", writes="o --output"),
        # ── search ──
        **dict.fromkeys(("grep", "egrep", "fgrep"), _GREP),
        "rg": _RG,
        "look": Program(
            flags="abdf --alternative --alphanum --ignore-case" + _ABOUT,
            texts="t --terminate",
            operands=(Role.TEXT, Role.READ),
        ),
        # ── lines and columns ──
        "cut": Program(
            flags="nswz --complement --only-delimited --zero-terminated" + _ABOUT,
            texts="bcdf --bytes --characters --delimiter --fields --output-delimiter",
        ),
        "column": Program(
            flags="txJLed --table --json --keep-empty-lines --table-header-repeat --table-noheadings --fillrows"
            + _ABOUT,
            texts="csolNOHRTWEpi --output-width --separator --output-separator --table-columns --table-columns-limit "
            "--table-order --table-hide --table-right --table-truncate --table-wrap --table-noextreme --table-name "
            "--tree --tree-id --tree-parent",
        ),
        "comm": Program(
            flags="123iz --check-order --nocheck-order --total --zero-terminated" + _ABOUT, texts="--output-delimiter"
        ),
        "cmp": Program(
            flags="blshxz --print-bytes --verbose --quiet --silent" + _ABOUT, texts="in --ignore-initial --bytes"
        ),
        "paste": Program(flags="sz --serial --zero-terminated" + _ABOUT, texts="d --delimiters"),
        "fold": Program(flags="bs --bytes --spaces" + _ABOUT, texts="w --width", numbers=True),
        "fmt": Program(
            flags="cstu --crown-margin --split-only --tagged-paragraph --uniform-spacing" + _ABOUT,
            texts="wg --width --goal --prefix",
            reads="p",
            numbers=True,
        ),
        "expand": Program(flags="i --initial" + _ABOUT, texts="t --tabs", numbers=True),
        "unexpand": Program(flags="a --all --first-only" + _ABOUT, texts="t --tabs", numbers=True),
        "join": Program(
            flags="iz --ignore-case --check-order --nocheck-order --header --zero-terminated" + _ABOUT,
            texts="aejotv12",
        ),
        "pr": Program(
            flags="acdfFJmrtTv --across --show-control-chars --double-space --form-feed --join-lines --merge "
            "--no-file-warnings --omit-header --omit-pagination --show-nonprinting" + _ABOUT,
            texts="DhlNoWw --columns --pages --date-format --header --length --first-line-number --indent --width "
            "--page-width",
            maybe="einsS --expand-tabs --output-tabs --separator --sep-string",
            numbers=True,
        ),
        "col": Program(flags="bfhpx", texts="l", operands=()),
        "sort": Program(
            flags="bdfgihnMRrVcCmsuz --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
            "--ignore-nonprinting --human-numeric-sort --numeric-sort --month-sort --random-sort --reverse "
            "--version-sort --merge --stable --unique --zero-terminated --debug" + _ABOUT,
            texts="ktS --key --field-separator --buffer-size --sort --parallel --batch-size",
            maybe="--check",
            writes="oT --output --temporary-directory",
            commands="--compress-program",
        ),
        "uniq": Program(
            flags="cdDuiz --count --repeated --unique --ignore-case --zero-terminated" + _ABOUT,
            texts="fsw --skip-fields --skip-chars --check-chars",
            maybe="--all-repeated --group",
            operands=(Role.READ, Role.WRITE),
            permutes=False,
            numbers=True,
        ),
        "tr": Program(
            flags="cCdstu --complement --delete --squeeze-repeats --truncate-set1" + _ABOUT, operands=_TEXT, free=True
        ),
        "tsort": Program(flags=_ABOUT),
        "shuf": Program(
            flags="erz --echo --repeat --zero-terminated" + _ABOUT,
            texts="in --input-range --head-count",
            writes="o --output",
            ends=_draws_to_an_end,
        ),
        "diff": _DIFF,
        "colordiff": Program(flags="--help --version", operands=()),
        **dict.fromkeys(("diff3", "sdiff"), _DIFF_RUNNER),
        # ── numbers ──
        "seq": Program(operands=_TEXT, parser=_seq, ends=_counts_to_an_end),
        "factor": Program(flags="h --exponents" + _ABOUT, operands=_TEXT, ends=_small_numbers),
        "numfmt": Program(
            flags="z --debug --grouping --zero-terminated" + _ABOUT,
            texts="d --delimiter --field --format --from --from-unit --invalid --padding --round --suffix --to "
            "--to-unit",
            maybe="--header",
            operands=_TEXT,
            numbers=True,
        ),
        # ── the system ──
        **dict.fromkeys(("whoami", "logname", "hostid", "arch", "users"), _NOTHING),
        "tty": Program(flags="s --silent --quiet" + _ABOUT, operands=()),
        "nproc": Program(flags="--all" + _ABOUT, texts="--ignore", operands=()),
        "uptime": Program(flags="ps --pretty --since" + _ABOUT, operands=()),
        "uname": Program(
            flags="asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor "
            "--hardware-platform --operating-system" + _ABOUT,
            operands=(),
        ),
        "hostname": Program(
            flags="aAdfiIs --alias --all-fqdns --domain --fqdn --long --ip-address --all-ip-addresses --short" + _ABOUT,
            operands=(),
        ),
        "id": Program(
            flags="aFgGnpPruzZ --context --group --groups --name --real --user --zero" + _ABOUT, operands=_TEXT
        ),
        "groups": Program(flags=_ABOUT, operands=_TEXT),
        "who": Program(
            flags="abdHlmpqrstTuw --all --boot --dead --heading --ips --login --lookup --process --count --runlevel "
            "--short --time --mesg --users --message --writable" + _ABOUT
        ),
        "w": Program(
            flags="husfoi --no-header --no-current --short --from --old-style --ip-addr" + _ABOUT, operands=_TEXT
        ),
        "last": Program(
            flags="adFiRwx --hostlast --dns --fulltimes --ip --nohostname --fullnames --system" + _ABOUT,
            texts="nstp --limit --since --until --present --time-format",
            reads="f --file",
            operands=_TEXT,
            numbers=True,
        ),
        "date": Program(
            flags="uRjn --utc --universal --rfc-email --debug --resolution" + _ABOUT,
            texts="dv --date --rfc-3339",
            maybe="I --iso-8601",
            lists="r --reference",
            acts="s --set",
            operands=_TEXT,
            most=1,
            check=_shows_a_date,
        ),
        **dict.fromkeys(("cal", "ncal"), Program(flags="13bhjmMNsSwyY", texts="ABdn", operands=_TEXT, free=True)),
        "printenv": Program(flags="0 --null" + _ABOUT, operands=_TEXT, check=_prints_plain_variables),
        "locale": Program(flags="ack --all-locales --category-name --keyword-name" + _ABOUT, operands=_TEXT),
        "getconf": Program(flags="a", operands=(Role.TEXT, Role.LIST)),
        "ps": Program(operands=_TEXT, parser=_ps),
        "pstree": Program(
            flags="aAcgGhlnpsStTuUVZ --arguments --ascii --compact-not --show-pgids --vt100 --highlight-all --long "
            "--numeric-sort --show-pids --show-parents --ns-changes --thread-names --hide-threads --uid-changes "
            "--unicode --security-context" + _ABOUT,
            texts="HCN --color",
            operands=_TEXT,
        ),
        "pgrep": Program(
            flags="lavwcfinoxLAhV --list-name --list-full --inverse --lightweight --count --full --ignore-case "
            "--newest --oldest --exact --logpidfile --ignore-ancestors" + _ABOUT,
            texts="dgGOPstuUr --delimiter --pgroup --group --older --parent --session --terminal --euid --uid "
            "--runstates --cgroup --ns --nslist",
            reads="F --pidfile",
            operands=_TEXT,
        ),
        "pidof": Program(flags="sxcnqw", texts="oS", operands=_TEXT),
        "which": Program(flags="as --all", operands=_TEXT, free=True),
        "whereis": Program(flags="bmsul", operands=_TEXT),
        "free": Program(
            flags="bkmghltvwV --bytes --kilo --mega --giga --tera --peta --kibi --mebi --gibi --tebi --pebi --human "
            "--si --lohi --total --committed --wide" + _ABOUT,
            texts="s --seconds",
            operands=(),
            ends=_says_it_once,
        ),
        "vmstat": Program(
            flags="afmnsdDtyV --active --forks --slabs --one-header --stats --disk --disk-sum --timestamp --no-first"
            + _ABOUT,
            texts="pS --partition --unit",
            operands=_TEXT,
            ends=_repeats_so_often,
        ),
        "iostat": Program(flags="cdhkmNtxyz", operands=_TEXT, ends=_repeats_so_often),
        "lscpu": Program(
            flags="abBcJxyhV --all --online --bytes --offline --json --hex --physical --output-all" + _ABOUT,
            maybe="Cep --caches --extended --parse",
            operands=(),
        ),
        "lsblk": Program(
            flags="abAdDfiJlmMnNOpPrsStvVyz --all --noempty --bytes --discard --nodeps --fs --ascii --json --list "
            "--perms --merge --noheadings --output-all --paths --pairs --raw --inverse --scsi --topology --shell "
            "--zoned" + _ABOUT,
            texts="eEIowx --exclude --dedup --include --output --width --sort",
            maybe="T --tree",
            operands=_LIST,
        ),
    }
)
"""Every program of this module by its bare name."""
