"""From a command line to its simple commands: lists, pipelines, loops, groups and what is substituted.

Read it beside the grammar of bash(1). Each method begins where the cursor stands and leaves it behind what it read.
Commands are gathered in the order in which they end, those of a substitution before the command that it is part of.
"""

from harness.permissions.shell.cursor import METACHARACTERS, Cursor
from harness.permissions.shell.quoting import WordReading, assignment_of
from harness.permissions.shell.words import Assignment, Redirect, Simple, Unreadable, Word, WordKind

LONGEST = 20_000
"""Characters of a line that is read at all."""

OPENING = {"if", "while", "until", "for", "{", "!", "time"}
CLOSING = {"then", "elif", "else", "fi", "do", "done", "}"}
REFUSED = {"case", "esac", "select", "function", "coproc", "[[", "]]", "in"}
"""Words of the grammar that are not read, where a command begins."""
REDIRECTS = ("&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">&", ">|", ">", "<")


def read_line(line: str) -> tuple[Simple, ...]:
    """Every simple command of a line, also those that are substituted. Raises Unreadable."""
    if len(line) > LONGEST:
        raise Unreadable(f"it is longer than {LONGEST:,} characters")
    reading = _Reading(Cursor(line))
    reading.list_until(frozenset())
    if not reading.at.ended:
        raise Unreadable(f"there is a {reading.at.peek()!r} too many")
    reading.at.require_no_heredoc()
    return tuple(reading.found)


class _Reading:
    def __init__(self, cursor: Cursor) -> None:
        self.at = cursor
        self.found: list[Simple] = []
        self._loops = 0
        self._words = WordReading(cursor, self._substitution, self._nested)

    # ── lists ───────────────────────────────────────────────────────────────────────────────────

    def list_until(self, ends: frozenset[str]) -> str:
        """Commands up to a closing word of `ends`, which is read too, or up to a `)` or the end, which are not."""
        first = True
        while True:
            self.at.skip_blank_lines(self._expansions)
            if self.at.ended or self.at.peek() == ")":
                if first and not self.at.ended:
                    raise Unreadable("there is nothing between two brackets")
                return ""
            word = self.at.bare_word()
            if word in ends:
                if first:
                    raise Unreadable(f"there is nothing before {word!r}")
                self.at.advance(len(word))
                return word
            self._pipelines()
            first = False
            if not self._separator():
                word = self.at.bare_word()
                if not (self.at.ended or self.at.peek() == ")"):
                    raise Unreadable(f"there is a {word or self.at.peek()!r} where a command ends")

    def _separator(self) -> bool:
        """A ; & or line break, if one stands here."""
        self.at.skip_blanks()
        if self.at.take("\n"):
            self.at.read_heredocs(self._expansions)
            return True
        if self.at.looking_at(";;", ";&"):
            raise Unreadable("it has a ;; in it")
        return self.at.take(";") or self.at.take("&")

    def _pipelines(self) -> None:
        """Commands joined by | || and &&."""
        piped = False
        while True:
            if piped and self.at.bare_word() in ("!", "time"):
                raise Unreadable("a ! or time stands inside a pipeline")
            self._command()
            self.at.skip_blanks()
            joined = self.at.take("&&") or self.at.take("||")
            piped = not joined and (self.at.take("|&") or self.at.take("|"))
            if not (joined or piped):
                return
            self.at.skip_blank_lines(self._expansions)

    # ── commands ────────────────────────────────────────────────────────────────────────────────

    def _command(self) -> None:
        self.at.skip_blanks()
        begin = self.at.position
        word = self.at.bare_word()
        if self.at.looking_at("(("):
            raise Unreadable("it computes with ((…))")
        if word in REFUSED:
            raise Unreadable(f"it uses {word}")
        if word in CLOSING:
            raise Unreadable(f"there is a {word!r} too many")
        if word not in OPENING and not self.at.looking_at("("):
            return self._simple(begin)
        if self.at.take("("):
            self.list_until(frozenset())
            self.at.expect(")")
        else:
            self.at.advance(len(word))
            if word in ("!", "time"):
                return self._timed_or_negated(word)
            self._compound(word)
        return self._redirects_only(begin)

    def _timed_or_negated(self, word: str) -> None:
        self.at.skip_blanks()
        if word == "time" and self.at.bare_word() == "-p":
            self.at.advance(2)
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

    def _for(self) -> None:
        self.at.skip_blanks()
        begin = self.at.position
        name = self.at.bare_word()
        if not name.isidentifier() or not name.isascii():
            raise Unreadable("it loops over something else than a list of words")
        self.at.advance(len(name))
        self.at.skip_blanks()
        if self.at.bare_word() == "in":
            self.at.advance(2)
            self._arguments()
        self.found.append(Simple((), (Assignment(name, Word("", WordKind.UNKNOWN)),), text=self.at.since(begin)))
        if not self._separator():
            raise Unreadable("a 'do' is missing")
        self.at.skip_blank_lines(self._expansions)
        if self.at.bare_word() != "do":
            raise Unreadable("a 'do' is missing")
        self.at.advance(2)
        self._loops += 1
        self._body("done")
        self._loops -= 1

    def _arguments(self) -> list[Word]:
        words = []
        while self._at_word():
            words.append(self._words.read())
        return words

    def _redirects_only(self, begin: int) -> None:
        """What stands behind a compound command."""
        redirects = []
        while (redirect := self._redirect()) is not None:
            redirects += redirect
        if redirects:
            self.found.append(Simple((), (), tuple(redirects), self._loops > 0, self.at.since(begin)))

    def _simple(self, begin: int) -> None:
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        something = False
        end = begin
        while True:
            if (redirect := self._redirect()) is not None:
                redirects += redirect
                something, end = True, self.at.position
                continue
            if not self._at_word():
                break
            start = self.at.position
            keyword = self.at.bare_word()
            if not words and something and keyword in (OPENING | CLOSING | REFUSED):
                raise Unreadable(f"{keyword} stands behind an assignment or a redirection")
            word = self._words.read()
            if self.at.peek() == "(":
                raise Unreadable("it defines a function or a list")
            something, end = True, self.at.position
            if not words and (assignment := assignment_of(self.at.since(start), word)) is not None:
                assignments.append(assignment)
            else:
                words.append(word)
        if not something:
            raise Unreadable(f"a command is missing before {self.at.peek() or 'the end'!r}")
        text = self.at.between(begin, end)
        self.found.append(Simple(tuple(words), tuple(assignments), tuple(redirects), self._loops > 0, text))

    def _at_word(self) -> bool:
        self.at.skip_blanks()
        return self.at.looking_at("<(", ">(") or not (self.at.ended or self.at.peek() in METACHARACTERS)

    # ── redirections ────────────────────────────────────────────────────────────────────────────

    def _redirect(self) -> list[Redirect] | None:
        """One redirection, as a list that is empty where it names no file; None: none stands here."""
        self.at.skip_blanks()
        digits = self.at.digits()
        if not self.at.looking_at("<", ">", after=len(digits)) and not self.at.looking_at("&>"):
            return None
        if self.at.looking_at("<(", ">("):
            return None
        self.at.advance(len(digits))
        operator = next(operator for operator in REDIRECTS if self.at.take(operator))
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
            number = target.text.removesuffix("-")
            if target.known and (number.isdigit() or not number):
                return []
            if operator == "<&":
                raise Unreadable("it copies an input that is not known")
        return [Redirect(operator, target)]

    # ── what is inside words ────────────────────────────────────────────────────────────────────

    def _substitution(self) -> None:
        """The commands of $(…), <(…) or >(…), the bracket that opens it already read."""
        with self.at.deeper(), self.at.own_heredocs():
            self.list_until(frozenset())
        self.at.expect(")")

    def _nested(self, line: str) -> None:
        """The commands between backquotes."""
        with self.at.deeper():
            inner = _Reading(Cursor(line, self.at.depth))
            inner.list_until(frozenset())
            if not inner.at.ended:
                raise Unreadable("there is a ')' too many")
            inner.at.require_no_heredoc()
        self.found += inner.found

    def _expansions(self, body: str) -> None:
        """The commands in a here-document."""
        with self.at.deeper():
            inner = _Reading(Cursor(body, self.at.depth))
            inner._words.read_expansions()
        self.found += inner.found
