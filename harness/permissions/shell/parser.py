"""From a command line to its simple commands: lists, pipelines, loops, groups and substitutions.

Read it beside the grammar of bash(1). Each method starts at the cursor and leaves it after the text it read. Commands
are gathered in the order they end, those of a substitution before the command that contains it. The body of a `for`
over words that are known is read once more for each of them, with the word for the variable.
"""

import re
from dataclasses import dataclass, field, replace

from harness.permissions.shell.assignments import assigns, only_looped
from harness.permissions.shell.cursor import BLANKS, METACHARACTERS, Cursor
from harness.permissions.shell.printed import printed
from harness.permissions.shell.syntax import (
    BASH,
    PORTABLE,
    Assignment,
    Dialect,
    Redirect,
    SimpleCommand,
    Unreadable,
    Word,
    WordKind,
)
from harness.permissions.shell.word_parser import WordParser, assignment_of, unquoted

LONGEST = 20_000
"""Characters of a line that is read at all."""
MOST_COMMANDS = 50
"""Most commands and words that all loops of a line together expand to."""

OPENING = {"if", "while", "until", "for", "{", "!", "time", "case", "[["}
CLOSING = {"then", "elif", "else", "fi", "do", "done", "}", "esac"}
REFUSED = {"select", "function", "coproc", "]]", "in"}
"""Words of the grammar that are not read, where a command begins."""
REDIRECTS = ("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", ">", "<")
NOT_PORTABLE = ("&>>", "&>", "<<<")

_UNARY = frozenset(f"-{letter}" for letter in "abcdefgGhkLnNOprsStuwxz")
_BINARY = frozenset({"==", "=", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"})
_COMPARES = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_NUMBER = re.compile(r"-?[0-9]+")


def read_line(line: str, dialect: Dialect = BASH) -> tuple[SimpleCommand, ...]:
    """Every simple command of a line, also those that are substituted. Raises Unreadable."""
    if len(line) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST:,} characters")
    first = _Line(dialect)
    found = _read(line, first)
    loops = only_looped(first.loops - first.nested, found)
    if not loops:
        return found
    # What assigns a variable in a way that shows only when the shell has run, shows here with the words for the loops.
    known = _read(line, _Line(dialect, loops))
    return found if any(map(assigns, known)) else known


def _read(line: str, whole: "_Line") -> tuple[SimpleCommand, ...]:
    reading = _Reading(Cursor(line), whole, {})
    reading.list_until(frozenset())
    if not reading.at.ended:
        raise Unreadable(f"there is a {reading.at.peek()!r} too many")
    reading.at.require_no_heredoc()
    return tuple(replace(simple, in_chain=True) if whole.chain else simple for simple in reading.found)


def _changes_folder(simple: SimpleCommand) -> bool:
    return simple.program is None or simple.program in (
        *("cd", "pushd", "popd", "command", "builtin", "eval", "source", "."),
    )


@dataclass(slots=True)
class _Line:
    """What all parts of a line share."""

    dialect: Dialect
    known: frozenset[str] = frozenset()
    """Variables of a `for` that nothing else assigns: it is read once for each word."""
    loops: set[str] = field(default_factory=set)
    """Variables of every `for`."""
    nested: set[str] = field(default_factory=set)
    """Those of a `for` inside another one with the same variable."""
    chain: bool = True
    """It is nothing but commands joined by &&, and no other part of it changes the folder."""
    readings: int = 0
    """How often the body of a loop was read once more."""


class _Reading:
    def __init__(self, cursor: Cursor, line: _Line, values: dict[str, Word]) -> None:
        self.at = cursor
        self.found: list[SimpleCommand] = []
        self._line = line
        self._portable = line.dialect == PORTABLE
        self._values = values
        self._loops = 0
        self._open: list[str] = []
        self._inside = 0
        self._words = WordParser(cursor, self._substitution, self._nested, line.dialect, values)

    # ── lists ───────────────────────────────────────────────────────────────────────────────────

    def list_until(self, ends: frozenset[str], *, case: bool = False) -> str:
        """Commands up to a closing word of `ends`, which is read too, or up to a `)` or the end, which are not.

        `case`: also up to a `;;`, which is read and returned.
        """
        first = True
        while True:
            self.at.skip_blank_lines(self._expansions)
            if self.at.ended or self.at.peek() == ")":
                if first and not self.at.ended:
                    raise Unreadable("there is nothing between two brackets")
                return ""
            if case and self.at.looking_at(";;") and not self.at.looking_at(";;&"):
                self.at.advance(2)
                return ";;"
            word = self.at.bare_word()
            if word in ends:
                if first and not case:
                    raise Unreadable(f"there is nothing before {word!r}")
                self.at.advance(len(word))
                return word
            self._line.chain = self._line.chain and first
            self._pipelines()
            first = False
            if not self._separator(case=case):
                word = self.at.bare_word()
                if not (self.at.ended or self.at.peek() == ")" or (case and self.at.looking_at(";;"))):
                    raise Unreadable(f"there is a {word or self.at.peek()!r} where a command ends")

    def _separator(self, *, case: bool = False) -> bool:
        """A ; & or line break, if there is one here."""
        self.at.skip_blanks()
        if self.at.take("\n"):
            self.at.read_heredocs(self._expansions)
            return True
        if self.at.looking_at(";;", ";&"):
            if case and self.at.looking_at(";;") and not self.at.looking_at(";;&"):
                return False
            raise Unreadable("it contains ;;")
        if self.at.take("&"):
            self._line.chain = False
            return True
        return self.at.take(";")

    def _pipelines(self) -> None:
        """Commands joined by | || and &&."""
        piped, was_piped = False, False
        while True:
            if piped and self.at.bare_word() in ("!", "time"):
                raise Unreadable("a ! or time inside a pipeline")
            simple = self._command()
            self.at.skip_blanks()
            either = self.at.looking_at("||")
            joined = self.at.take("&&") or self.at.take("||")
            both = not joined and self.at.take("|&")
            piped = both or (not joined and self.at.take("|"))
            part = piped or was_piped
            if either or simple is None or (part and _changes_folder(simple)):
                self._line.chain = False
            was_piped = piped
            if both and self._portable:
                raise Unreadable("not every shell knows |&")
            if not (joined or piped):
                return
            self.at.skip_blank_lines(self._expansions)

    # ── commands ────────────────────────────────────────────────────────────────────────────────

    def _command(self) -> SimpleCommand | None:
        """One command; returns it if it is a simple one whose output is what it seems to be."""
        self.at.skip_blanks()
        begin = self.at.position
        word = self.at.bare_word()
        if self.at.looking_at("(("):
            raise Unreadable("it computes with ((…))")
        if word in REFUSED or (word == "[[" and self._portable):
            raise Unreadable(f"it uses {word}")
        if word in CLOSING:
            raise Unreadable(f"there is a {word!r} too many")
        if word not in OPENING and not self.at.looking_at("("):
            return self._simple(begin)
        if self.at.take("("):
            with self.at.deeper():
                self.list_until(frozenset())
            self.at.expect(")")
        else:
            self.at.advance(len(word))
            if word in ("!", "time"):
                self._timed_or_negated(word)
                return None
            self._compound(word)
        self._redirects_only(begin)
        return None

    def _timed_or_negated(self, word: str) -> None:
        self.at.skip_blanks()
        if word == "time" and self.at.bare_word() == "-p":
            self.at.advance(2)
            self.at.skip_blanks()
        following = self.at.bare_word()
        if (word == "time" and self.at.looking_at("-")) or (
            self._portable and (not following or following in OPENING or (word == "time" and "=" in following))
        ):
            raise Unreadable(f"shells differ in how they read the text after {word}")
        self._command()

    def _compound(self, word: str) -> None:
        match word:
            case "{":
                self._body("}")
            case "if":
                self._body("then")
                while (end := self._body("elif", "else", "fi")) != "fi":
                    if end == "elif":
                        self._body("then")
                    else:
                        self._body("fi")
                        return
            case "for":
                self._for()
            case "case":
                self._case()
            case "[[":
                self._conditional()
            case _:
                self._loops += 1
                self._body("do")
                self._body("done")
                self._loops -= 1

    def _body(self, *ends: str) -> str:
        with self.at.deeper():
            end = self.list_until(frozenset(ends))
        if not end:
            raise Unreadable(f"a {ends[-1]!r} is missing")
        return end

    def _case(self) -> None:
        """case WORD in PATTERN | PATTERN) commands ;; esac: every branch may be taken."""
        if self._inside:
            raise Unreadable("a case inside a substitution, which not every bash reads")
        begin = self.at.position
        if not self._at_word():
            raise Unreadable("a case has no word")
        outer, self._words.variables = self._words.variables, []
        self._words.read()
        self.at.skip_blank_lines(self._expansions)
        if self.at.bare_word() != "in":
            raise Unreadable("an 'in' is missing")
        self.at.advance(2)
        while True:
            self.at.skip_blank_lines(self._expansions)
            if self.at.bare_word() == "esac":
                self.at.advance(4)
                break
            if self._pattern():
                break
        if self._words.variables:
            self.found.append(SimpleCommand((), text=self.at.since(begin), variables=tuple(self._words.variables)))
        self._words.variables = outer

    def _pattern(self) -> bool:
        """A branch of a case; whether it was the last."""
        self.at.take("(")
        while True:
            if not self._at_word() or self.at.bare_word() in OPENING | CLOSING | REFUSED:
                raise Unreadable("a case has a pattern that is not plain")
            self._words.read()
            self.at.skip_blanks()
            if not self.at.take("|"):
                break
        self.at.expect(")")
        with self.at.deeper():
            end = self.list_until(frozenset({"esac"}), case=True)
        if not end:
            raise Unreadable("an 'esac' is missing")
        return end == "esac"

    # ── loops over words ────────────────────────────────────────────────────────────────────────

    def _for(self) -> None:
        self.at.skip_blanks()
        begin = self.at.position
        name = self.at.bare_word()
        if not name.isidentifier() or not name.isascii():
            raise Unreadable("it loops over something else than a list of words")
        self.at.advance(len(name))
        self.at.skip_blanks()
        outer, self._words.variables = self._words.variables, []
        words: list[Word] = []
        if self.at.bare_word() == "in":
            self.at.advance(2)
            words = self._arguments()
        elif self._portable:
            raise Unreadable("it loops over words that are not written out")
        set_to = (Assignment(name, Word("", WordKind.UNKNOWN)),)
        text = "for " + self.at.since(begin)
        variables = tuple(self._words.variables)
        self.found.append(SimpleCommand((), set_to, text=text, variables=variables, looped=tuple(words)))
        self._words.variables = outer
        if not self._separator():
            raise Unreadable("a 'do' is missing")
        self.at.skip_blank_lines(self._expansions)
        if self.at.bare_word() != "do":
            raise Unreadable("a 'do' is missing")
        self.at.advance(2)
        self._line.loops.add(name)
        if name in self._open:
            self._line.nested.add(name)
        self._open.append(name)
        self._loops += 1
        self._for_body(name, words)
        self._loops -= 1
        self._open.pop()

    def _for_body(self, name: str, words: list[Word]) -> None:
        """The body, and where the words are known what it is for each of them."""
        first, start = len(self.found), self.at.mark()
        self._body("done")
        whole, end = self.found[first:], self.at.mark()
        usable = all(word.kind in (WordKind.LITERAL, WordKind.GLOB) for word in words)
        if name not in self._line.known or not words or not usable or start is None or end is None:
            return
        each: dict[SimpleCommand, None] = {}
        for word in words:
            self._line.readings += 1
            if self._line.readings > MOST_COMMANDS or len(each) > MOST_COMMANDS:
                break
            del self.found[first:]
            self.at.reset(start)
            self._values[name] = word
            self._body("done")
            each |= dict.fromkeys(self.found[first:])
        else:
            whole = list(each) if len(each) <= MOST_COMMANDS else whole
        self._values.pop(name, None)
        self.at.reset(end)
        self.found[first:] = whole

    def _arguments(self) -> list[Word]:
        words: list[Word] = []
        while self._at_word():
            words += self._words.read_all()
        return words

    # ── conditions ──────────────────────────────────────────────────────────────────────────────

    def _conditional(self) -> None:
        """[[ … ]]; each test becomes a separate command."""
        with self.at.deeper():
            self._either()
        if self.at.bare_word() != "]]":
            raise Unreadable("a ']]' is missing")
        self.at.advance(2)

    def _either(self) -> None:
        while True:
            self._test()
            self.at.skip_blanks()
            if not (self.at.take("&&") or self.at.take("||")):
                return

    def _test(self) -> None:
        self.at.skip_blanks()
        if self.at.bare_word() == "!":
            self.at.advance()
            self._test()
            return
        if self.at.take("("):
            with self.at.deeper():
                self._either()
            self.at.skip_blanks()
            self.at.expect(")")
            return
        begin = self.at.position
        outer, self._words.variables = self._words.variables, []
        operator = self.at.bare_word()
        if operator in _UNARY:
            self.at.advance(len(operator))
            words = [Word(operator), self._operand()]
        else:
            words = [self._operand()]
            self.at.skip_blanks()
            operator = self._operator()
            if operator:
                words += [Word(operator), self._operand(regular=operator == "=~")]
            if operator in _COMPARES and not all(
                (word.known and _NUMBER.fullmatch(word.text)) or word.text in ("$?", "$#", "$$", "$!")
                for word in (words[0], words[2])
            ):
                raise Unreadable(f"the text beside {operator} may be computed")
        text = self.at.since(begin)
        self.found.append(
            SimpleCommand(
                (Word("[["), *words, Word("]]")),
                repeated=self._loops > 0,
                text=f"[[ {text} ]]",
                variables=tuple(self._words.variables),
            )
        )
        self._words.variables = outer

    def _operator(self) -> str:
        if self.at.looking_at("<", ">") and self.at.looking_at(*BLANKS, after=1):
            return self.at.advance()
        operator = self.at.bare_word()
        if operator in _BINARY | _COMPARES:
            return self.at.advance(len(operator))
        return ""

    def _operand(self, *, regular: bool = False) -> Word:
        """One word without word splitting or file patterns."""
        self.at.skip_blanks()
        bare = self.at.bare_word()
        if (
            not self._at_word()
            or bare in _BINARY | _COMPARES | {"]]", "!"}
            or (bare.startswith("-") and not bare[1:].isdigit())
        ):
            raise Unreadable("a test in [[ ]] is not plain")
        if self.at.looking_at("<", ">"):
            raise Unreadable("a test in [[ ]] is not plain")
        word = self._words.read()
        if not self.at.looking_at(*BLANKS) and not (self.at.peek() == ")" and not regular):
            raise Unreadable("a test in [[ ]] is not plain")
        return unquoted(word)

    # ── simple commands ─────────────────────────────────────────────────────────────────────────

    def _redirects_only(self, begin: int) -> None:
        """The redirections after a compound command."""
        redirects = []
        outer, self._words.variables = self._words.variables, []
        while (redirect := self._redirect()) is not None:
            redirects += redirect
        if redirects or self._words.variables:
            text, variables = self.at.since(begin), tuple(self._words.variables)
            self.found.append(SimpleCommand((), (), tuple(redirects), self._loops > 0, text, variables=variables))
        self._words.variables = outer

    def _simple(self, begin: int) -> SimpleCommand | None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        outer, self._words.variables = self._words.variables, []
        something, plain = False, True
        end = begin
        while True:
            self.at.skip_blanks()
            start = self.at.position
            if (redirect := self._redirect()) is not None:
                redirects += redirect
                plain = plain and "<<" not in self.at.since(start)
                something, end = True, self.at.position
                continue
            if not self._at_word():
                break
            start = self.at.position
            keyword = self.at.bare_word()
            if not words and something and keyword in (OPENING | CLOSING | REFUSED):
                raise Unreadable(f"{keyword} comes after an assignment or a redirection")
            read = self._words.read_all()
            if self.at.peek() == "(":
                raise Unreadable("it defines a function or a list")
            something, end = True, self.at.position
            written = self.at.since(start)
            whole = read[0] if len(read) == 1 else Word(written, WordKind.UNKNOWN)
            if not words and (assignment := assignment_of(written, whole)) is not None:
                assignments.append(assignment)
            else:
                words += read
        if not something:
            raise Unreadable(f"a command is missing before {self.at.peek() or 'the end'!r}")
        simple = SimpleCommand(
            tuple(words),
            tuple(assignments),
            tuple(redirects),
            self._loops > 0,
            self.at.between(begin, end),
            tuple(self._words.variables),
        )
        self._words.variables = outer
        if words or assignments or redirects or simple.text:
            self.found.append(simple)
        return simple if words and plain else None

    def _at_word(self) -> bool:
        self.at.skip_blanks()
        return self.at.looking_at("<(", ">(") or not (self.at.ended or self.at.peek() in METACHARACTERS)

    # ── redirections ────────────────────────────────────────────────────────────────────────────

    def _redirect(self) -> list[Redirect] | None:
        """One redirection, as a list that is empty where it names no file; None: there is none here."""
        self.at.skip_blanks()
        digits = self.at.digits()
        if not self.at.looking_at("<", ">", after=len(digits)) and not self.at.looking_at("&>"):
            return None
        if self.at.looking_at("<(", ">("):
            if self._portable:
                raise Unreadable("not every shell knows <(…) and >(…)")
            return None
        self.at.advance(len(digits))
        operator = next(operator for operator in REDIRECTS if self.at.take(operator))
        if self._portable and (len(digits) > 1 or operator in NOT_PORTABLE):
            raise Unreadable(f"not every shell knows {digits}{operator}")
        self.at.skip_blanks()
        if operator in ("<<", "<<-"):
            self.at.begin_heredoc(strip=operator == "<<-")
            return []
        if not self._at_word():
            raise Unreadable(f"{operator} has no target")
        target = self._words.read()
        if operator == "<<<":
            return []
        if operator in (">&", "<&"):
            if target.text.startswith("-") and target.text != "-":
                raise Unreadable(f"the text after {operator}- is a word of the command")
            number = target.text.removesuffix("-")
            if target.known and (number.isdigit() or not number) and not (self._portable and len(target.text) > 1):
                return []
            if operator == "<&" or self._portable:
                raise Unreadable("it copies an input or output that is not known")
        return [Redirect(operator, target)]

    # ── what is inside words ────────────────────────────────────────────────────────────────────

    def _substitution(self) -> str | None:
        """The commands of $(…), <(…) or >(…), the bracket that opens it already read; returns what they print."""
        self._inside += 1
        begin = self.at.position
        chain, before, documents = self._line.chain, len(self.found), self.at.documents
        with self.at.deeper(), self.at.own_heredocs():
            self.list_until(frozenset())
        self._line.chain = chain and not any(map(_changes_folder, self.found[before:]))
        if self.at.documents > documents and sum(bool(one.words) for one in self.found[before:]) > 1:
            # bash 5.2 writes such a substitution anew before it runs it, and joins commands by mistake.
            raise Unreadable("a substitution has a here-document and more than one command")
        self._inside -= 1
        written = self.at.since(begin)
        self.at.expect(")")
        return printed(tuple(self.found[before:]), written)

    def _nested(self, line: str) -> None:
        """The commands between backquotes."""
        with self.at.deeper():
            inner = _Reading(Cursor(line, self.at.depth), self._line, self._values)
            inner._open, inner._inside = self._open, 1
            inner.list_until(frozenset())
            if not inner.at.ended:
                raise Unreadable("there is a ')' too many")
            inner.at.require_no_heredoc()
        self._line.chain = False
        self.found += inner.found

    def _expansions(self, body: str) -> None:
        """The commands in a here-document."""
        with self.at.deeper():
            inner = _Reading(Cursor(body, self.at.depth), self._line, self._values)
            inner._open, inner._inside = self._open, 1
            inner._words.read_expansions()
        self.found += inner.found
        if inner._words.variables:
            self.found.append(SimpleCommand((), text="<<", variables=tuple(inner._words.variables)))
