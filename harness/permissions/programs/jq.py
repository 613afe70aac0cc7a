"""jq: which filters only print what they read."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse
from harness.permissions.programs.scripts import TWO_READINGS
from harness.permissions.shell.syntax import Word, WordKind

_FLAGS = names(
    "--compact-output --null-input --exit-status --slurp --raw-output --raw-output0 --raw-input --join-output "
    "--ascii-output --color-output --monochrome-output --sort-keys --tab --seq --stream --stream-errors --unbuffered "
    "--help --version"
)
_LETTERS = re.compile(r"-[cnesrRjaCMSh]+")
_WORDS = names(
    "if then elif else end and or not as reduce foreach try catch label break IN INDEX GROUP_BY UNIQUE_BY JOIN abs "
    "acos acosh add all any arrays ascii ascii_downcase ascii_upcase asin asinh atan atan2 atanh booleans bsearch "
    "builtins capture cbrt ceil combinations contains cos cosh date dateadd datesub debug del delpaths empty "
    "endswith error exp exp10 exp2 explode fabs false finites first flatten floor fmax fmin fmod format "
    "from_entries fromdate fromdateiso8601 fromjson fromstream getpath gmtime group_by gsub halt halt_error has "
    "have_decnum have_literal_numbers implode in index indices input input_filename input_line_number inputs inside "
    "isempty isfinite isinfinite isnan isnormal isvalid iterables join keys keys_unsorted last leaf_paths length "
    "limit localtime log log10 log2 ltrim ltrimstr map map_values match max max_by min min_by mktime nan normals "
    "now nth null nulls numbers objects path paths pick pow pow10 range recurse_down reverse rindex round rtrim "
    "rtrimstr scalars scan select setpath sin sinh skip sort sort_by split splits sqrt startswith stderr "
    "strflocaltime strftime strings strptime sub tan tanh test to_entries toarray todate todateiso8601 tojson "
    "tonumber tostream tostring transpose trim trimstr true trunc truncate_stream type unique unique_by "
    "utf8bytelength values walk with_entries"
)
"""Words of the language and its functions that look at the input alone and come to an end."""
_TOKENS = re.compile(
    r"(?P<blank>[ \t\n]+)"
    r'|(?P<quote>")'
    r"|(?P<recurse>\.\.|recurse(?![a-zA-Z0-9_:]|[ \t\n]*\())"
    r"|(?P<field>\.[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<variable>\$[ \t\n]*(?P<bound>[a-zA-Z_][a-zA-Z_0-9]*))"
    r"|(?P<format>@(?:text|json|html|uri|urid|csv|tsv|sh|base64|base64d|base32|base32d)(?![a-zA-Z_0-9]))"
    r"|(?P<name>[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<number>(?>[0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)(?![0-9a-zA-Z_]))"
    r"|(?P<operator>\?//=|\?//|//=|//|\|=|[-+*/%=!<>]=|[-+*/%=<>|,.:;?()\[\]{}])"
)


def _harmless_filter(text: str) -> bool:
    """A filter of jq that reads nothing but its input. Strings with \\(…) are read, too."""
    if TWO_READINGS.search(text):
        return False
    brackets: list[str] = []
    before, at = "", 0
    while at < len(text):
        if brackets and brackets[-1] == '"':
            character, at = text[at], at + 1
            if character == '"':
                brackets.pop()
                before = '"'
            elif character == "\\":
                if text[at : at + 1] == "(":
                    brackets.append("\\(")
                    before = "("
                at += 1
            continue
        found = _TOKENS.match(text, at)
        if found is None or text.startswith("::", at):
            return False
        at = found.end()
        kind, token = found.lastgroup, found[0]
        if kind == "blank":
            continue
        if found["bound"] is not None:
            if found["bound"] == "ENV" or (found["bound"].startswith("__") and found["bound"] != "__loc__"):
                return False
        elif kind == "quote":
            brackets.append(token)
        elif kind == "name":
            is_key = brackets[-1:] == ["{"] and before in ("{", ",")
            if not is_key:
                if token not in _WORDS or (token == "end" and (not brackets or brackets.pop() != "if")):
                    return False
                if token == "if":
                    brackets.append(token)
        elif token in ("(", "[", "{"):
            brackets.append(token)
        elif token in (")", "]", "}"):
            opened = brackets.pop() if brackets else ""
            if opened.lstrip("\\") != {")": "(", "]": "[", "}": "{"}[token]:
                return False
        before = token
    return not brackets


def _jq(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    uses: list[WordUse] = []
    turning: list[Word] = []
    rest, only_operands, later = list(words), False, WordRole.READ
    while rest:
        word = rest.pop(0)
        if word.kind is WordKind.UNKNOWN:
            return None
        text = word.text
        if only_operands or not text.startswith("-") or text == "-" or word.kind is WordKind.PIPE or word.home:
            if not operands and not word.known:
                return None
            if word.kind is WordKind.GLOB and text[:1] in "*?[" and not only_operands:
                turning.append(word)
            uses.append(WordUse(later if operands else WordRole.TEXT, word))
            operands.append(word)
        elif not word.known:
            return None
        elif text == "--":
            only_operands = True
        elif text in ("--args", "--jsonargs"):
            later = WordRole.TEXT
        elif text in _FLAGS or _LETTERS.fullmatch(text):
            options.append((text, None))
        elif text in ("--arg", "--argjson", "--rawfile", "--slurpfile", "--indent"):
            values = [rest.pop(0) for _ in range(1 if text == "--indent" else 2) if rest]
            if not values or any(value.kind is not WordKind.LITERAL for value in values):
                return None
            if text in ("--rawfile", "--slurpfile"):
                uses.append(WordUse(WordRole.READ, values[-1]))
            options.append((text, values[-1]))
        else:
            return None
    if operands and not _harmless_filter(operands[0].text):
        uses.append(WordUse(WordRole.COMMAND, operands[0]))
    return ParsedCommand(program, tuple(options), tuple(operands), tuple(uses), turning=tuple(turning))


PROGRAMS: Mapping[str, Program] = MappingProxyType({"jq": Program(operands=(WordRole.TEXT, WordRole.READ), parser=_jq)})
