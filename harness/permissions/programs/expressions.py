"""Programs whose words are a language of their own: find, sed, awk, jq, expr.

The readers of these languages accept a part of each that every implementation reads alike: GNU, BSD, mawk, busybox.
What they do not accept is not harmless, whatever it means.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from harness.permissions.names import names
from harness.permissions.programs.grammar import HERE, Parsed, Program, Role, Use, parse
from harness.permissions.shell.words import Word, WordKind

# ── find ────────────────────────────────────────────────────────────────────────────────────────

_FIND_FLAGS = names(
    "-empty -print -print0 -ls -true -false -prune -quit -readable -writable -executable -xdev -mount -depth -d "
    "-noleaf -daystart -not ! -a -and -o -or ( ) , -nouser -nogroup -warn -nowarn -ignore_readdir_race"
)
_FIND_TEXTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin "
    "-atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype "
    "-fstype -used"
)
_FIND_FILES = names("-newer -anewer -cnewer -samefile")
_FIND_WRITES = names("-fprint -fprint0 -fls -fprintf")
_FIND_ACTIONS = names("-print -print0 -printf -ls -exec") | _FIND_WRITES
_FIND_ALTERNATIVES = names("-o -or ! -not ( ) , -prune -quit")
_FIND_FIRST = names("-P -E -s -x")


@dataclass(frozen=True, slots=True)
class FindSearch:
    """What a `find` command names to the commands that it runs, or that read its output."""

    roots: tuple[Word, ...]
    """Where it begins; the current folder if none is named. It goes down without a limit, and follows no links."""
    names: tuple[str, ...] = ()
    """Patterns of -name, all of which a file must fit; empty: any name."""
    plain_files: bool = False
    """Only regular files, so that a link is not among them."""


@dataclass(slots=True)
class _Find:
    """A find command, read word by word."""

    roots: list[Word] = field(default_factory=list)
    tests: list[tuple[str, str]] = field(default_factory=list)
    """Tests and actions in order, each with its first value."""
    uses: list[Use] = field(default_factory=list)
    turning: list[Word] = field(default_factory=list)
    acts: bool = False


def search_of(words: tuple[Word, ...]) -> FindSearch | None:
    """What `find` with these words finds; None where they are not understood."""
    read = _read_find(words)
    if read is None:
        return None
    roots = tuple(read.roots) or (HERE,)
    first = next((at for at, (name, _) in enumerate(read.tests) if name in _FIND_ACTIONS), len(read.tests))
    if any(name in _FIND_ALTERNATIVES for name, _ in read.tests):
        return FindSearch(roots)
    before = read.tests[:first]
    return FindSearch(roots, tuple(value for name, value in before if name == "-name"), ("-type", "f") in before)


def _find(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    read = _read_find(words)
    if read is None:
        return None
    role = Role.WRITE if any(name == "-delete" for name, _ in read.tests) else Role.LIST
    uses = (*(Use(role, root) for root in read.roots or [HERE]), *read.uses)
    options = tuple((name, Word(value)) for name, value in read.tests)
    return Parsed(program, options, tuple(read.roots), uses, read.acts, tuple(read.turning))


def _read_find(words: tuple[Word, ...]) -> _Find | None:
    read, rest = _Find(), list(words)
    while rest and rest[0].known and rest[0].text in _FIND_FIRST:
        rest.pop(0)
    while rest and not (rest[0].text.startswith("-") or rest[0].text in ("(", ")", "!", ",")):
        root = rest.pop(0)
        if root.kind not in (WordKind.LITERAL, WordKind.GLOB) or not root.text:
            return None
        if root.kind is WordKind.GLOB and root.text[0] in "*?[":
            read.turning.append(root)
        read.roots.append(root)
    while rest:
        word = rest.pop(0)
        if not word.known or not _read_test(read, word.text, rest):
            return None
    return read


def _read_test(read: _Find, name: str, rest: list[Word]) -> bool:
    """Whether a test or an action is understood; takes its values from `rest`."""
    if name == "-exec":
        read.tests.append((name, ""))
        return _skip_command(rest)
    if name in _FIND_FLAGS or name == "-delete":
        read.tests.append((name, ""))
        read.acts = read.acts or name == "-delete"
        return not (name in ("-depth", "-d") and rest and re.match(r"[-+]?[0-9]", rest[0].text))
    writes, dates = name in _FIND_WRITES, re.fullmatch(r"-newer[aBcm]([aBcmt])", name)
    if not (name in _FIND_TEXTS or name in _FIND_FILES or writes or dates) or not rest:
        return False
    value = rest.pop(0)
    if not value.known and not (value.home and value.kind is WordKind.LITERAL):
        return False
    if writes:
        read.acts = True
        read.uses.append(Use(Role.WRITE, value))
        if name == "-fprintf" and (not rest or not rest.pop(0).known):
            return False
    elif name in _FIND_FILES or (dates and dates[1] != "t"):
        read.uses.append(Use(Role.LIST, value))
    read.tests.append((name, value.text))
    return True


def _skip_command(rest: list[Word]) -> bool:
    """Pass over the command behind -exec, which is judged by itself; a pattern could bring the end of it."""
    before = ""
    while rest:
        word = rest.pop(0)
        if not word.known:
            return False
        if word.text == ";" or (word.text == "+" and before == "{}"):
            return bool(before)
        if word.text == "+":
            return False
        before = word.text
    return False


# ── regular expressions between slashes ─────────────────────────────────────────────────────────

_TWO_READINGS = re.compile(r"[^\x00-\x7f]\\|\x00|\r")
"""A backslash that is the second half of a character in some encodings of East Asia."""


def _delimited(text: str, position: int, delimiter: str, *, lines: bool = False) -> int | None:
    """Where the unescaped delimiter is; None where there is none on this line. `lines`: \\ and a newline is allowed."""
    while position < len(text):
        character = text[position]
        if character == delimiter:
            return position
        if character == "\n":
            return None
        if character == "\\":
            position += 1
            if text[position : position + 1] == "\n" and not lines:
                return None
        position += 1
    return None


_CLASS = r"\[:[a-z]+:\]"
_SED_BRACKET = rf"\[\^?+\]?+(?:{_CLASS}|[^\[\]\n])*+\]"
_AWK_BRACKET = rf"\[\^?(?:{_CLASS}|[^\[\]\\/\n]|\\[^\]\n])+\]"


# ── sed ─────────────────────────────────────────────────────────────────────────────────────────

_SED_ADDRESS = re.compile(r"[0-9]+~[0-9]+|[0-9]+|\$")
_SED_LOOP = re.compile(r"\s*:([a-zA-Z]\w*)\s*[;\n]\s*N\s*[;\n]\s*\$!\s*b\s*\1\s*([;\n]|$)")
"""Gathers all lines before anything else: `:a;N;$!ba;`."""
_SED_END = re.compile(r"[ \t]*(?:[;\n]|(?=[}#])|$)")
_SED_WITH_D = frozenset("NnPpDdqQ={")
"""Commands beside which D comes to an end: none of them puts a newline into the pattern space but by reading one."""


class _NotHarmless(Exception):  # noqa: N818  it says what the script is
    """The script is not in the part of the language that is understood."""


class _SedScript:
    """Reads a script; raises _NotHarmless where it may do more than print, or may not end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.commands: set[str] = set()

    def read(self) -> None:
        if _TWO_READINGS.search(self.text):
            raise _NotHarmless
        if loop := _SED_LOOP.match(self.text):
            self.at = loop.end()
        while self._skip(" \t\n;") < len(self.text):
            self._command()
        if self.depth or ("D" in self.commands and not self.commands <= _SED_WITH_D):
            raise _NotHarmless

    def _skip(self, characters: str) -> int:
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.at

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise _NotHarmless
        self.at += 1
        return self.text[self.at - 1]

    def _command(self) -> None:
        self._addresses()
        command = self._next()
        self.commands.add(command)
        match command:
            case "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            case "{":
                self.depth += 1
            case "}":
                self.depth -= 1
                if self.depth < 0:
                    raise _NotHarmless
                self._end()
            case "s":
                self._substitute()
            case "y":
                delimiter = self._delimiter()
                self._until(delimiter)
                self._until(delimiter)
                self._end()
            case "a" | "i" | "c":
                self._insert()
            case "q" | "Q" | "l":
                self._skip(" \t")
                self._skip("0123456789")
                self._end()
            case "b" | "t" | "T":
                found = re.compile(r"[ \t]*(?:[;\n]|$)").match(self.text, self.at)
                if found is None:
                    raise _NotHarmless
                self.at = found.end()
            case _ if command in "pPdD=nNgGhHxFz":
                self._end()
            case _:
                raise _NotHarmless

    def _addresses(self) -> None:
        if self._address():
            self._skip(" \t")
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self._skip(" \t")
                if found := re.compile(r"[+~][0-9]+").match(self.text, self.at):
                    self.at = found.end()
                elif not self._address():
                    raise _NotHarmless
        self._skip(" \t")
        if self.text[self.at : self.at + 1] == "!":
            self.at += 1
            self._skip(" \t")

    def _address(self) -> bool:
        if found := _SED_ADDRESS.match(self.text, self.at):
            self.at = found.end()
            return True
        if self.text[self.at : self.at + 1] not in ("/", "\\"):
            return False
        self._expression("/" if self._next() == "/" else self._delimiter())
        while self.text[self.at : self.at + 1] in ("I", "M"):
            self.at += 1
        return True

    def _delimiter(self) -> str:
        delimiter = self._next()
        if not (delimiter.isascii() and delimiter.isprintable()) or delimiter.isalnum() or delimiter in " \\[]":
            raise _NotHarmless
        return delimiter

    def _until(self, delimiter: str, *, lines: bool = False) -> str:
        end = _delimited(self.text, self.at, delimiter, lines=lines)
        if end is None:
            raise _NotHarmless
        text, self.at = self.text[self.at : end], end + 1
        return text

    def _expression(self, delimiter: str) -> int | None:
        """Read a regular expression. Where it ends for a sed to which a delimiter in brackets is one, if elsewhere."""
        pattern = rf"(?:{_SED_BRACKET}|\\[^\n]|[^\\\[\n{re.escape(delimiter)}])*+"
        found = re.compile(pattern).match(self.text, self.at)
        assert found is not None
        if self.text[found.end() : found.end() + 1] != delimiter:
            raise _NotHarmless
        simply, self.at = _delimited(self.text, self.at, delimiter), found.end() + 1
        return None if simply == found.end() else simply

    def _substitute(self) -> None:
        delimiter = self._delimiter()
        simply = self._expression(delimiter)
        if simply is not None:
            # That sed refuses the expression, but only when it has opened the file of a flag w.
            end = _delimited(self.text, simply + 1, delimiter, lines=True)
            if end is not None and re.match(r"[gpiImM0-9 \t]*[ew]", self.text[end + 1 :]):
                raise _NotHarmless
        self._until(delimiter, lines=True)
        self._skip("gpiImM0123456789")
        self._end()

    def _insert(self) -> None:
        """a, i and c: all the rest of the line is text."""
        found = re.compile(r"[ \t]*\\?[ \t]*\n?[^\\\n]+(?=\n|$)").match(self.text, self.at)
        if found is None or not found[0].strip(" \t\\\n") or ("\n" in found[0] and "\\" not in found[0]):
            raise _NotHarmless
        self.at = found.end()

    def _end(self) -> None:
        found = _SED_END.match(self.text, self.at)
        if found is None:
            raise _NotHarmless
        self.at = found.end()


def _only_prints(script: str) -> bool:
    try:
        _SedScript(script).read()
    except _NotHarmless:
        return False
    return True


def _sed(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or (len(words) == 1 and parsed.has("--help --version")):
        return parsed
    inside = parsed.has("iI --in-place")
    given = [value for name, value in parsed.options if name in ("-e", "--expression") and value is not None]
    if not given and not parsed.has("f --file"):
        given = list(parsed.operands[:1])
    understood = all(word.known for word in given) and _only_prints("\n".join(word.text for word in given))
    uses = [Use(Role.WRITE, use.word) if inside and use.role is Role.READ else use for use in parsed.uses]
    if not understood:
        uses += [Use(Role.COMMAND, word) for word in given]
    return replace(parsed, uses=tuple(uses), acts=inside or parsed.acts)


_SED = Program(
    flags="nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data --debug --sandbox --help "
    "--version",
    texts="e --expression",
    maybe="iI --in-place",
    commands="f --file",
    operands=(Role.TEXT, Role.READ),
    unless="ef --expression --file",
    parser=_sed,
)


# ── awk ─────────────────────────────────────────────────────────────────────────────────────────

_AWK_TOKENS = re.compile(
    r"(?P<blank>[ \t]+|\#[^\n]*)"
    r"|(?P<newline>\n)"
    r'|(?P<string>"(?:[^"\\\n]|\\[^\n])*")'
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?(?![a-zA-Z_]))"
    r"|(?P<name>[a-zA-Z_][a-zA-Z_0-9]*)"
    r"|(?P<operator>\+\+|--|\*\*=|\*\*|[-+*%^]=|[=!<>]=|&&|\|\||!~|[-+*%^=<>~!?:,;{}()\[\]$/])"
)
_AWK_EXPRESSION = re.compile(rf"/(?:{_AWK_BRACKET}|[^\[\]\\/\n]|\\[^\n])*/")
_AWK_FUNCTIONS = names(
    "length substr index split sub gsub match sprintf sin cos atan2 exp log sqrt int rand srand tolower toupper gensub "
    "asort asorti strftime systime mktime patsplit strtonum and or xor lshift rshift compl"
)
_AWK_NEVER = names(
    "system getline close fflush function func return while do switch case default ENVIRON PROCINFO SYMTAB FUNCTAB "
    "ARGV ARGC LINT bindtextdomain dcgettext dcngettext"
)
_AWK_STATEMENTS = names("print printf if else for in next nextfile exit delete BEGIN END")
_AWK_ASSIGNS = names("= += -= *= /= %= ^= ** **= ++ --")
_AWK_VARIABLES = names("FS OFS RS ORS NR FNR NF SUBSEP CONVFMT OFMT IGNORECASE FIELDWIDTHS FPAT")


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    spaced: bool = False
    """A blank stands behind it."""


def _awk_tokens(text: str) -> list[_Token]:
    """The tokens of a program; raises _NotHarmless where awks may differ in what is a regular expression."""
    tokens: list[_Token] = []
    conditions: list[bool] = []
    closed_condition = False
    at = 0
    while at < len(text):
        before = tokens[-1] if tokens else _Token("newline", "\n")
        if text[at] == "/":
            ends_operand = before.kind == "number" or before.text in (")", "]")
            ends_operand = ends_operand or (before.kind == "name" and before.text not in _AWK_STATEMENTS)
            ambiguous = before.text in ("++", "--", "length", "in", "delete", "next", "exit")
            if ambiguous or closed_condition or before.kind in ("string", "expression"):
                raise _NotHarmless
            if not ends_operand:
                found = _AWK_EXPRESSION.match(text, at)
                if found is None:
                    raise _NotHarmless
                tokens.append(_Token("expression", found[0]))
                at = found.end()
                continue
        match = _AWK_TOKENS.match(text, at)
        if match is None or match.lastgroup is None:
            raise _NotHarmless
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
    if _TWO_READINGS.search(text) or "::" in text:
        return False
    try:
        tokens = _awk_tokens(text)
    except _NotHarmless:
        return False
    return all(map(_is_harmless_name, tokens, [*tokens[1:], _Token("newline", "\n")])) and (
        _redirects_nothing(tokens) and all(map(_loops_end, _rules(tokens)))
    )


def _is_harmless_name(token: _Token, following: _Token) -> bool:
    if token.kind != "name":
        return True
    if token.text in _AWK_NEVER:
        return False
    if token.text in _AWK_FUNCTIONS:
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


_AWK_HEADER = re.compile(
    r"for \( (\w+) = (?:[0-9]+|\w+)(?: [-+] [0-9]+)? ; \1 (<|<=|>|>=) (.+) ; "
    r"(?:\1 (\+\+|--|[-+]= [1-9][0-9]*)|(\+\+|--) \1) \)"
)
_AWK_BOUND = re.compile(r"(?:[0-9]{1,7}|length \( \$? ?(\w+) \)|(\w+))(?: [-+] [0-9]{1,7})?")


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
        header = _AWK_HEADER.fullmatch(" ".join(texts[at : end + 1]))
        if header is None:
            return False
        variable, compared, bound, step = header[1], header[2], header[3], header[4] or header[5]
        changed = _changed_behind(texts, end + 1)
        bounds = _AWK_BOUND.fullmatch(bound)
        if changed is None or bounds is None or (compared[0] == "<") != (step[0] == "+"):
            return False
        if {variable, bounds[1], bounds[2]} & changed or _grows(texts[end + 1 :], variable):
            return False
    return True


def _changed_behind(texts: list[str], begin: int) -> set[str] | None:
    """Names of variables and arrays that the tokens from there on may change; None where it cannot be told."""
    changed = set()
    for at in range(begin, len(texts)):
        if texts[at] in ("sub", "gsub", "split", "asort", "asorti", "patsplit", "match"):
            return None
        if texts[at] not in _AWK_ASSIGNS:
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
        if text == "$" and texts[at + 2] in _AWK_ASSIGNS and texts[at + 1] not in (variable, "NF"):
            return True
        if text == "$" and texts[at + 1] in ("++", "--", "$"):
            return True
    return False


def _awk(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or parsed.has("f") or (len(words) == 1 and parsed.has("--help --version")):
        return parsed
    if parsed.has("--help --version"):
        return None  # some ignore them beside others
    for name, value in parsed.options:
        variable = value.text.partition("=")[0] if name == "-v" and value is not None else "FS"
        if variable not in _AWK_VARIABLES and (variable in _AWK_NEVER or not re.fullmatch(r"[a-zA-Z_]\w*", variable)):
            return None
    script = parsed.operands[:1]
    if script and not (script[0].known and _harmless_awk(script[0].text)):
        return replace(parsed, uses=(*parsed.uses, Use(Role.COMMAND, script[0])))
    return parsed


_AWK = Program(
    flags="--help --version",
    texts="Fv",
    commands="f",
    operands=(Role.TEXT, Role.READ),
    unless="f",
    permutes=False,
    parser=_awk,
)


# ── jq ──────────────────────────────────────────────────────────────────────────────────────────

_JQ_FLAGS = names(
    "--compact-output --null-input --exit-status --slurp --raw-output --raw-output0 --raw-input --join-output "
    "--ascii-output --color-output --monochrome-output --sort-keys --tab --seq --stream --stream-errors --unbuffered "
    "--help --version"
)
_JQ_LETTERS = re.compile(r"-[cnesrRjaCMSh]+")
_JQ_WORDS = names(
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
_JQ_TOKENS = re.compile(
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
    if _TWO_READINGS.search(text):
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
        found = _JQ_TOKENS.match(text, at)
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
                if token not in _JQ_WORDS or (token == "end" and (not brackets or brackets.pop() != "if")):
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


def _jq(program: Program, words: tuple[Word, ...]) -> Parsed | None:
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    uses: list[Use] = []
    turning: list[Word] = []
    rest, only_operands, later = list(words), False, Role.READ
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
            uses.append(Use(later if operands else Role.TEXT, word))
            operands.append(word)
        elif not word.known:
            return None
        elif text == "--":
            only_operands = True
        elif text in ("--args", "--jsonargs"):
            later = Role.TEXT
        elif text in _JQ_FLAGS or _JQ_LETTERS.fullmatch(text):
            options.append((text, None))
        elif text in ("--arg", "--argjson", "--rawfile", "--slurpfile", "--indent"):
            values = [rest.pop(0) for _ in range(1 if text == "--indent" else 2) if rest]
            if not values or any(value.kind is not WordKind.LITERAL for value in values):
                return None
            if text in ("--rawfile", "--slurpfile"):
                uses.append(Use(Role.READ, values[-1]))
            options.append((text, values[-1]))
        else:
            return None
    if operands and not _harmless_filter(operands[0].text):
        uses.append(Use(Role.COMMAND, operands[0]))
    return Parsed(program, tuple(options), tuple(operands), tuple(uses), turning=tuple(turning))


# ── all of them ─────────────────────────────────────────────────────────────────────────────────

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        "find": Program(operands=(Role.LIST,), parser=_find),
        "sed": _SED,
        "gsed": _SED,
        **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk"), _AWK),
        "jq": Program(operands=(Role.TEXT, Role.READ), parser=_jq),
        "expr": Program(operands=(Role.TEXT,), numbers=True, permutes=False, free=True),
    }
)
"""Every program of this module by its bare name."""
