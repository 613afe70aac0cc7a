"""awk: which programs only print, and end."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.programs.scripts import CLASS, TWO_READINGS, NotHarmless
from harness.permissions.shell.syntax import Word

_BRACKET = rf"\[\^?(?:{CLASS}|[^\[\]\\/\n]|\\[^\]\n])+\]"
_TOKENS = re.compile(
    r"(?P<blank>[ \t]+|\#[^\n]*)"
    r"|(?P<newline>\n)"
    r'|(?P<string>"(?:[^"\\\n]|\\[^\n])*")'
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![a-zA-Z_]))"
    r"|(?P<name>[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<operator>\+\+|--|\*\*=|\*\*|[-+*%^]=|[=!<>]=|&&|\|\||!~|[-+*%^=<>~!?:,;{}()\[\]$/])"
)
_EXPRESSION = re.compile(rf"/(?:{_BRACKET}|[^\[\]\\/\n]|\\[^\n])*/")
_FUNCTIONS = names(
    "length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper gensub "
    "asort asorti strftime systime mktime patsplit strtonum and or xor lshift rshift compl"
)
_NEVER = names(
    "system getline close fflush function func return while do switch case default ENVIRON PROCINFO SYMTAB FUNCTAB "
    "ARGV ARGC LINT bindtextdomain dcgettext dcngettext"
)
_STATEMENTS = names("print printf if else for in next nextfile exit delete BEGIN END")
_ASSIGNS = names("= += -= *= /= %= ^= ** **= ++ --")
_VARIABLES = names("FS OFS RS ORS NR FNR NF SUBSEP CONVFMT OFMT IGNORECASE FIELDWIDTHS FPAT")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    spaced: bool = False
    """Followed by a blank."""


def _awk_tokens(text: str) -> list[_Token]:
    """The tokens of a program; raises NotHarmless where awk implementations may differ about regular expressions."""
    tokens: list[_Token] = []
    conditions: list[bool] = []
    closed_condition = False
    at = 0
    while at < len(text):
        before = tokens[-1] if tokens else _Token("newline", "\n")
        if text[at] == "/":
            ends_operand = before.kind == "number" or before.text in (")", "]")
            ends_operand = ends_operand or (before.kind == "name" and before.text not in _STATEMENTS)
            ambiguous = before.text in ("++", "--", "length", "in", "delete", "next", "exit")
            if ambiguous or closed_condition or before.kind in ("string", "expression"):
                raise NotHarmless
            if not ends_operand:
                found = _EXPRESSION.match(text, at)
                if found is None:
                    raise NotHarmless
                tokens.append(_Token("expression", found[0]))
                at = found.end()
                continue
        match = _TOKENS.match(text, at)
        if match is None or match.lastgroup is None:
            raise NotHarmless
        at = match.end()
        if match.lastgroup == "blank":
            if tokens:
                tokens[-1] = replace(before, spaced=True)
            continue
        token = _Token(match.lastgroup, match[0])
        if token.text == "(":
            conditions.append(before.text in ("if", "for"))
        closed_condition = token.text == ")" and bool(conditions) and conditions.pop()
        tokens.append(token)
    return tokens


def _harmless_awk(text: str) -> bool:
    """The program prints, and ends when its input does."""
    if TWO_READINGS.search(text) or "::" in text:
        return False
    try:
        tokens = _awk_tokens(text)
    except NotHarmless:
        return False
    return all(map(_is_harmless_name, tokens, [*tokens[1:], _Token("newline", "\n")])) and (
        _redirects_nothing(tokens) and all(map(_loops_end, _rules(tokens)))
    )


def _is_harmless_name(token: _Token, following: _Token) -> bool:
    if token.kind != "name":
        return True
    if token.text in _NEVER:
        return False
    if token.text in _FUNCTIONS:
        return following.text == "(" or token.text == "length"
    called = following.text == "(" and not token.spaced
    return not called or token.text in ("if", "for", "print", "printf", "in", "exit", "else")


def _redirects_nothing(tokens: list[_Token]) -> bool:
    """No > behind print. In a pattern, in parentheses and in other statements it compares."""
    braces = parentheses = 0
    printing = False
    for token, following in zip(tokens, [*tokens[1:], _Token("newline", "\n")], strict=False):
        if token.text in (";", "{", "}") and token.kind == "operator" and not parentheses:
            printing = False
        if token.kind == "operator":
            braces += (token.text == "{") - (token.text == "}")
            parentheses += (token.text == "(") - (token.text == ")")
        if token.kind == "name" and token.text in ("print", "printf"):
            if parentheses or not braces:
                return False  # the last part of `for (…)` may be a statement
            printing = True
        if token.kind == "operator" and token.text in (">", ">="):
            if following.text in (">", ">=", "="):
                return False
            if token.text == ">" and printing and not parentheses:
                return False
    return not braces and not parentheses


def _rules(tokens: list[_Token]) -> Iterator[list[_Token]]:
    """The parts of a program between braces that are not inside others."""
    depth, rule = 0, list[_Token]()
    for token in tokens:
        if token.kind == "newline":
            continue
        rule.append(token)
        if token.kind == "operator":
            depth += (token.text == "{") - (token.text == "}")
            if token.text == "}" and not depth:
                yield rule
                rule = []
    yield rule


_HEADER = re.compile(
    r"for \( (\w+) = (?:[0-9]+|\w+)(?: [-+] [0-9]+)? ; \1 (<|<=|>|>=) (.+) ; "
    r"(?:\1 (\+\+|--|[-+]= [1-9][0-9]*)|(\+\+|--) \1) \)"
)
_BOUND = re.compile(r"(?:[0-9]{1,7}|length \( \$? ?(\w+) \)|(\w+))(?: [-+] [0-9]{1,7})?")


def _loops_end(rule: list[_Token]) -> bool:
    """Each loop is `for (k in a)` or counts to a number that the rule does not change behind it."""
    texts = [token.text for token in rule]
    for at, text in enumerate(texts):
        if text != "for" or rule[at].kind != "name":
            continue
        if texts[at + 1 : at + 2] == ["("] and texts[at + 3 : at + 4] == ["in"] and texts[at + 5 : at + 6] == [")"]:
            continue
        try:
            end = texts.index(")", texts.index(";", texts.index(";", at) + 1))
        except ValueError:
            return False
        header = _HEADER.fullmatch(" ".join(texts[at : end + 1]))
        if header is None:
            return False
        variable, compared, bound, step = header[1], header[2], header[3], header[4] or header[5]
        changed = _changed_behind(texts, end + 1)
        bounds = _BOUND.fullmatch(bound)
        if changed is None or bounds is None or (compared[0] == "<") != (step[0] == "+"):
            return False
        if {variable, bounds[1], bounds[2]} & changed or _grows(texts[end + 1 :], variable):
            return False
    return True


def _changed_behind(texts: list[str], begin: int) -> set[str] | None:
    """Names of variables and arrays that the tokens from there on may change; None if it is unknown."""
    changed = set()
    for at in range(begin, len(texts)):
        if texts[at] in ("sub", "gsub", "split", "asort", "asorti", "patsplit", "match"):
            return None
        if texts[at] not in _ASSIGNS:
            if texts[at] == "in" and texts[at - 2] == "(":
                changed.add(texts[at - 1])
            continue
        if texts[at - 1] == ")":
            return None
        if texts[at - 2] != "$":
            changed.add(texts[at - 1])
        if texts[at - 1] == "]":
            opened = _opening(texts, at - 1)
            changed.add(texts[opened - 1])
        if texts[at] in ("++", "--"):
            changed.update(texts[at + 1 : at + 3])
    return changed


def _opening(texts: list[str], closing: int) -> int:
    depth = 0
    for at in range(closing, 0, -1):
        depth += (texts[at] == "]") - (texts[at] == "[")
        if not depth:
            return at
    return 0


def _grows(texts: list[str], variable: str) -> bool:
    """A field is set that may be behind the last one, so that there are more of them."""
    for at, text in enumerate(texts[:-2]):
        if text == "$" and texts[at + 2] in _ASSIGNS and texts[at + 1] not in (variable, "NF"):
            return True
        if text == "$" and texts[at + 1] in ("++", "--", "$"):
            return True
    return False


def _awk(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or parsed.has("f") or (len(words) == 1 and parsed.has("--help --version")):
        return parsed
    if parsed.has("--help --version"):
        return None  # some ignore them beside others
    for name, value in parsed.options:
        variable = value.text.partition("=")[0] if name == "-v" and value is not None else "FS"
        if variable not in _VARIABLES and (variable in _NEVER or not re.fullmatch(r"[a-zA-Z_]\w*", variable)):
            return None
    script = parsed.operands[:1]
    if script and not (script[0].known and _harmless_awk(script[0].text)):
        return replace(parsed, uses=(*parsed.uses, WordUse(WordRole.COMMAND, script[0])))
    return parsed


_AWK = Program(
    flags="--help --version",
    texts="Fv",
    commands="f",
    operands=(WordRole.TEXT, WordRole.READ),
    unless="f",
    permutes=False,
    parser=_awk,
)


PROGRAMS: Mapping[str, Program] = MappingProxyType(dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), _AWK))
