"""sed, awk and jq: small parts of their languages that print and nothing else, and end.

Each part is one that every implementation reads alike: GNU, BSD, mawk, busybox. A script outside of it is not
understood, whatever it means.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import READ, TEXT, ParsedCommand, Parser, Program, plain
from harness.permissions.programs.text import ABOUT
from harness.permissions.shell.syntax import Word

_TWO_READINGS = re.compile(r"[^\x00-\x7f]\\|\x00|\r")
"""A backslash that is the second half of a character in some encodings of East Asia."""


def _reads(harmless: Callable[[str], bool], options: str = "") -> Parser:
    """Words with a script, given as the first operand or by one of the options, of which each has to be harmless."""

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        parsed = plain(program, words)
        if parsed is None or (len(words) == 1 and parsed.has(ABOUT)):
            return parsed
        given = [value for name, value in parsed.options if name in options.split() and value is not None]
        scripts = given or list(parsed.operands[:1])
        known = not parsed.has(ABOUT) and all(one.known and not _TWO_READINGS.search(one.text) for one in scripts)
        return parsed if known and all(harmless(one.text) for one in scripts) else None

    return read


# ── sed ─────────────────────────────────────────────────────────────────────────────────────────


def _delimited(delimiter: str) -> str:
    """A regular expression between delimiters, without one inside brackets, where programs differ."""
    brackets = rf"\[\^?(?:\[:[a-z]+:\]|[^]\[\\\n{delimiter}])+\]"
    return rf"(?:\\[^\n]|{brackets}|[^\\\[\n{delimiter}])*+"


_ADDRESS = rf"(?:[0-9]+|\$|/{_delimited('/')}/I?)"
_SUBSTITUTE = "|".join(
    rf"s{one}{_delimited(one)}{one}(?:\\[^\n]|[^\\\n{one}])*+{one}[gpI0-9]*" for one in map(re.escape, "/|,#:@")
)
_SED = re.compile(
    rf"[\s;]*(?:(?:{_ADDRESS}(?:[ \t]*,[ \t]*(?:{_ADDRESS}|\+[0-9]+))?[ \t]*!?[ \t]*)?"
    rf"(?:[pdn=]|q[0-9]*|{_SUBSTITUTE})[ \t]*(?:[;\n]\s*|\Z))*"
)

# ── awk ─────────────────────────────────────────────────────────────────────────────────────────

_AWK_TOKENS = re.compile(
    r"(?P<blank>[ \t]+)"
    r"|(?P<loop>for ?\([a-z]\w* in [a-z]\w*\))"
    r'|(?P<text>"(?:[^"\\\n]|\\[nt"\\/])*")'
    r"|(?P<number>[0-9]{1,6}(?:\.[0-9]{1,6})?(?![\w.]))"
    r"|(?P<name>[a-zA-Z_]\w*)"
    r"|(?P<operator>\+\+|--|\+=|-=|[=!<>]=|&&|\|\||!~|[-+*%=<>~!?:,;{}()\[\]$\n])"
)
_AWK_EXPRESSION = re.compile(r'/(?:[^\[\\/\n"]|\\[^\n"]|\[\^?(?:\[:[a-z]+:\]|[^]\[\\/\n"])+\])*+/')
_AWK_BEFORE = frozenset({"\n", "(", ",", "~", "!~", "!", "&&", "||", "{", "}", ";"})
"""Behind these an operand has to follow, so that a / begins an expression."""
_AWK_WORDS = names(
    "print printf if else next exit BEGIN END NR NF FNR FS OFS RS ORS in length substr index split sub gsub match "
    "sprintf int tolower toupper delete"
)
_AWK_NEVER = names(
    "system getline close fflush function func return while do for switch case default nextfile systime strftime "
    "bindtextdomain dcgettext include load"
)
_AWK_SETS = frozenset({"=", "+=", "-=", "++", "--"})
_WIDE = re.compile(r"%[^A-Za-z%]*(?:[0-9]{5}|\*)")
"""A width that fills the memory."""


def _harmless_awk(text: str) -> bool:
    """No output but print, no input but fields, no loop but `for (k in a)`, and no field is set."""
    at, depth, inner, before = 0, 0, 0, ["", "\n"]
    while at < len(text):
        begins = text[at] == "/" and before[-1] in _AWK_BEFORE
        found = (_AWK_EXPRESSION if begins else _AWK_TOKENS).match(text, at)
        if found is None:
            return False
        at, token, kind = found.end(), found[0], found.lastgroup
        if kind == "blank":
            continue
        depth += (token == "{") - (token == "}")
        inner += (token == "(") - (token == ")")
        if (
            (kind == "name" and (token in _AWK_NEVER or (token not in _AWK_WORDS and not token.islower())))
            or (kind == "text" and _WIDE.search(token))
            or (token == "(" and before[-1].isidentifier() and before[-1] not in _AWK_WORDS)
            or (token == ">" and depth and not inner)  # behind print it would write a file
            or (token in _AWK_SETS and (before[-1] in ("NF", ")") or before[-2] == "$"))
            or (token == "$" and before[-1] in ("++", "--"))
            or (token == "[" and before[-2] == "$")
            or (token == "NF" and before[-1] in ("++", "--"))
        ):
            return False
        before.append(token)
    return not depth and not inner


# ── jq ──────────────────────────────────────────────────────────────────────────────────────────

_JQ_TOKENS = re.compile(
    r"(?P<key>(?<=[{,])[ \t\n]*[a-zA-Z_]\w*[ \t\n]*:(?!:))"
    r"|(?P<blank>[ \t\n]+)"
    r'|(?P<text>"(?:[^"\\]|\\[^(]|\\\((?:\.[a-zA-Z_]\w*|\.|\[[0-9]*\])+\))*")'
    r"|(?P<recurse>\.\.)"
    r"|(?P<field>\.[a-zA-Z_]\w*)"
    r"|(?P<part>\[-?[0-9]*(?::-?[0-9]*)?\])"
    r"|(?P<name>[a-zA-Z_]\w*)"
    r"|(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?(?![\w.]))"
    r"|(?P<operator>//|[=!<>]=|[-+*/<>|,.?()\[\]{}])"
)
_JQ_WORDS = names(
    "if then elif else end and or not null true false length keys keys_unsorted values select map map_values has in "
    "type add any all sort sort_by group_by unique unique_by min max min_by max_by first last flatten reverse join "
    "split test contains startswith endswith ascii_downcase ascii_upcase ltrimstr rtrimstr tostring tonumber tojson "
    "fromjson to_entries from_entries with_entries del paths empty index range floor"
)


def _harmless_jq(text: str) -> bool:
    at, keys, brackets = 0, False, False
    while at < len(text):
        found = _JQ_TOKENS.match(text, at)
        if found is None or (found.lastgroup == "name" and found[0] not in _JQ_WORDS):
            return False
        at = found.end()
        keys, brackets = keys or found.lastgroup == "key", brackets or found[0] == "["
    return not (keys and brackets)  # inside brackets a colon does not make a word a key


_ONE = (TEXT, READ)
PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(
            ("sed", "gsed"),
            Program(
                "nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data" + ABOUT,
                "e --expression",
                operands=_ONE,
                unless="e --expression",
                parser=_reads(lambda text: _SED.fullmatch(text) is not None, "-e --expression"),
            ),
        ),
        **dict.fromkeys(
            ("awk", "gawk", "mawk", "nawk"),
            Program(ABOUT, "F", operands=_ONE, permutes=False, parser=_reads(_harmless_awk)),
        ),
        "jq": Program(
            "cnesrRjaCMS --compact-output --null-input --exit-status --slurp --raw-output --raw-input --join-output "
            "--color-output --monochrome-output --sort-keys --tab" + ABOUT,
            operands=_ONE,
            parser=_reads(_harmless_jq),
        ),
    }
)
