# ruff: noqa: E501 - a pattern reads best in one piece
"""What a sentence mentions: quoted text, paths, folders, patterns, numbers.

Quoted text and code are taken out first and replaced by marks, so that words inside of them are
never taken for a verb or for the end of a sentence.
"""

import re
from dataclasses import dataclass
from functools import cached_property

_QUOTES = re.compile(
    r"```[\w+-]*\n(?P<fence>.*?)\n?```|`(?P<tick>[^`\n]+)`|\"(?P<double>[^\"]*)\"|“(?P<curly>[^”]{0,1000})”"
    r"|「(?P<corner>[^」]{0,1000})」|『(?P<white>[^』]{0,1000})』|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)",
    re.DOTALL,
)
_MARK = re.compile(r"\ue000(\d+)\ue001")
_BARE = r"(?i:README|CHANGELOG)|LICEN[SC]E|CONTRIBUTING|NOTICE|AUTHORS|Makefile|Dockerfile|Procfile|Justfile"
_PATH = re.compile(
    r"(?<![\w./~@:-])(?:~?/|\.{1,2}/)?(?:[\w@+-][\w.@+-]*/)*"
    rf"(?:\.?[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{{0,9}}|\.(?:env|gitignore|editorconfig|dockerignore)|(?:{_BARE}))"
    r"(?![\w*/])",
    re.ASCII,
)
_KANA_PATH = re.compile(r"[^\s、。「」『』()（）,/\x00-\x2f]+\.[A-Za-z][A-Za-z0-9]{0,9}(?![A-Za-z0-9])")
_QUOTED_PATH = re.compile(
    rf"(?!\w+://)[^\s*()=]*(?:[^\s*()=]\.[A-Za-z][A-Za-z0-9]{{0,9}}|\.(?:env|gitignore)|\b(?:{_BARE}))"
)
_ADDRESS = re.compile(r"https?://\S+")
_FOLDER_WORD = r"folder|directory|dir|package"
_FOLDERS = (
    re.compile(rf"(?:the )?(?:{_FOLDER_WORD})(?: called| named)? (?P<name>\.?[\w./+-]*\w/?)", re.ASCII | re.IGNORECASE),
    re.compile(rf"(?P<name>\.?[\w./+-]*\w)/? (?:{_FOLDER_WORD})\b", re.ASCII | re.IGNORECASE),
    re.compile(r"(?P<name>\.?[\w./+-]*\w)/?\s*(?:フォルダー?|ディレクトリー?|配下|以下|の中|内|下)", re.ASCII),
    re.compile(
        r"\b(?:in|under|inside|of|from|within|into) (?:the )?(?P<name>\.?[\w./+-]*\w/?)", re.ASCII | re.IGNORECASE
    ),
    re.compile(r"(?<![\w.])(?P<name>\.?[\w.+-]+(?:/[\w.+-]+)*/)(?![\w*])", re.ASCII),
)
_NOT_FOLDERS = frozenset(
    re.findall(
        r"\w+",
        """
        the this that these those it its my your our here there a an all any every each which current same
        working whole  folder directory dir structure tree listing contents content file files project repo repository workspace code lines line
        words text them order total  python markdown json english japanese both where what detail details
        short brief one two three git
        """,
    )
)
_GLOB = re.compile(r"(?<![\w*])[\w./-]*\*[\w.*/{},-]*", re.ASCII)
_KINDS = {
    "python": "*.py", "パイソン": "*.py", "markdown": "*.md", "マークダウン": "*.md", "javascript": "*.js", "typescript": "*.ts",
    "json": "*.json", "toml": "*.toml", "yaml": "*.y*ml", "html": "*.html", "css": "*.css", "rust": "*.rs", "shell": "*.sh",
    "text": "*.txt", "テキスト": "*.txt", "csv": "*.csv", "java": "*.java", "go": "*.go", "test": "test_*.py", "テスト": "test_*.py",
}  # fmt: skip
_KIND = re.compile(
    rf"(?P<kind>{'|'.join(_KINDS)})\s*(?:の)?\s*(?:source )?(?:files?|modules?|scripts?|ファイル)", re.IGNORECASE
)
_EXTENSION = re.compile(r"(?<![\w*])\.(?P<ending>[a-z][a-z0-9]{0,5})(?=\s*(?:files?|ファイル))", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]*\.?\d)", re.ASCII)
_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "twenty": 20, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip

LONGEST_SENTENCE = 3_000
"""Characters of a request that are looked at, quotes not counted. Nobody says more in plain words."""


@dataclass(frozen=True)
class Sentence:
    """A request, or one clause of it, with its quotes set apart."""

    text: str
    """With a mark in place of each quote."""
    quotes: tuple[str, ...]
    """All quotes of the request that the clause is part of; a mark is an index into it."""

    @cached_property
    def words(self) -> str:
        """What is to be matched for verbs: lower case, a quote as ⟦⟧, the name of a file as «»."""
        text = _MARK.sub(" ⟦⟧ ", self.text)
        for path in sorted(self.paths, key=len, reverse=True):
            text = re.sub(re.escape(path), "«»", text, flags=re.IGNORECASE)
        return text.lower()

    @cached_property
    def plain(self) -> str:
        """The clause as it was typed, less the quotation marks."""
        return _MARK.sub(lambda mark: self.quotes[int(mark[1])], self.text)

    @cached_property
    def quoted(self) -> tuple[str, ...]:
        """The quotes of this clause, in order."""
        return tuple(self.quotes[int(mark[1])] for mark in _MARK.finditer(self.text))

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Files that are named, each once, in order. Quoted ones count where they look like a path."""
        found = [(m.start(), self.quotes[int(m[1])]) for m in _MARK.finditer(self.text) if self._is_path(m)]
        return tuple(dict.fromkeys(name for _, name in sorted([*found, *self._bare])))

    @cached_property
    def bare_paths(self) -> tuple[str, ...]:
        """Files that are named without quotation marks."""
        return tuple(dict.fromkeys(name for _, name in sorted(self._bare)))

    @cached_property
    def _bare(self) -> tuple[tuple[int, str], ...]:
        bare = _blanked(_ADDRESS, _blanked(_GLOB, _blanked(_MARK, self.text)))
        found = [(match.start(), _as_written(match[0].rstrip("."))) for match in _PATH.finditer(bare)]
        for match in _KANA_PATH.finditer(_blanked(_PATH, bare)):
            name = re.split(r"(?:から|書いた|書かれた|という|名前の|と|を|に|は|が|の)(?=[^\s]*\.)", match[0])[-1]
            found.append((match.start(), name))
        return tuple(found)

    def _is_path(self, mark: re.Match[str]) -> bool:
        return _QUOTED_PATH.fullmatch(self.quotes[int(mark[1])]) is not None

    @cached_property
    def targets_and_texts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files to change and the texts to put in: beside a file named without marks, all quotes are text."""
        return (self.bare_paths, self.quoted) if self.bare_paths else (self.paths, self.texts)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The quotes that are not paths and not patterns."""
        paths = set(self.paths)
        return tuple(text for text in self.quoted if text not in paths)

    @cached_property
    def glob(self) -> str | None:
        """A pattern for file names: written out, or "all Python files"."""
        for text in (*(quote for quote in self.quoted if "*" in quote and " " not in quote), _MARK.sub(" ", self.text)):
            if (match := _GLOB.search(text)) and len(match[0].strip("*")) > 0:
                return match[0].rstrip(".,")
        if match := _EXTENSION.search(self.text):
            return f"*.{match['ending']}"
        if match := _KIND.search(self.text):
            return _KINDS[match["kind"].lower()]
        return None

    @cached_property
    def folder(self) -> str | None:
        """A folder that is named, without the slash at its end."""
        text = _MARK.sub(lambda mark: f" {self.quotes[int(mark[1])]} ", self.text)
        for pattern in _FOLDERS:
            for match in pattern.finditer(_GLOB.sub(" ", text)):
                name = match["name"].rstrip("/")
                if name.lower() not in _NOT_FOLDERS and match["name"] not in self.paths and not name.isdigit():
                    return name
        return None

    @cached_property
    def numbers(self) -> tuple[int | float, ...]:
        """Numbers in digits, in order; where there are none, those in words."""
        found = [_number(match[0]) for match in _NUMBER.finditer(_MARK.sub(" ", self.text))]
        if not found:
            words = re.findall(r"[a-z]+|[一二三四五六七八九十]", self.words)
            found = [_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS]
        return tuple(found)

    def part(self, text: str) -> "Sentence":
        """A piece of this text, marks included, as a sentence of its own."""
        return Sentence(text.strip(), self.quotes)

    def retold(self, text: str) -> str:
        """A piece of this text for somebody else to read: with its quotes put back, in quotation marks."""
        return _MARK.sub(lambda mark: _in_marks(self.quotes[int(mark[1])]), text).strip()

    def restored(self, text: str) -> str:
        """A piece of this text with its quotes put back, without quotation marks."""
        return _MARK.sub(lambda mark: self.quotes[int(mark[1])], text).strip()


def sentence(text: str) -> Sentence:
    """A prompt with its quotes set apart."""
    quotes: list[str] = []

    def set_apart(match: re.Match[str]) -> str:
        quotes.append(next(group for group in match.groups() if group is not None))
        return f"\ue000{len(quotes) - 1}\ue001"

    marked = _QUOTES.sub(set_apart, text.replace("\ue000", "").replace("\ue001", ""))
    return Sentence(marked.strip()[:LONGEST_SENTENCE], tuple(quotes))


def _in_marks(quote: str) -> str:
    if "\n" in quote:
        return f"```\n{quote}\n```"
    return f"`{quote}`" if '"' in quote else f'"{quote}"'


def _as_written(name: str) -> str:
    """ "the readme" means README."""
    return name.upper() if name.lower() in ("readme", "changelog") else name


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """The text with what the pattern finds replaced by as many spaces."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def _number(text: str) -> int | float:
    digits = text[:300]
    return float(digits) if "." in digits else int(digits)
