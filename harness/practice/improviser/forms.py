# ruff: noqa: E501 - a pattern reads best in one piece
"""The notation of the documented sentences, and how a sentence is held against it.

    (list|show) [me] [all] [the] files [in {folder}]

Round brackets hold alternatives, square brackets what may be left out, braces a slot. A sentence fits a form only as a
whole: what is left over at either end, or in between, means that it does not fit.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from harness.practice.improviser.quotes import MARK, Quotes

_N = r"[A-Za-z0-9_.@+#~-]"
_NOT_ASCII = r"[^\x00-\x7f\s、。，：「」『』（）をとにはのがへでもや\ue000\ue001]"
"""A character of a file name that needs no quotes, where the name is all Japanese; a particle in it does need them."""
_BARE_NAMES = "README|CHANGELOG|LICENSE|LICENCE|CONTRIBUTING|NOTICE|AUTHORS|Makefile|Dockerfile"
_FILE = (
    rf"(?:{MARK}|/?(?:{_N}+/)*(?:{_N}*\.[A-Za-z][A-Za-z0-9]{{0,9}}|{_BARE_NAMES})"
    rf"|{_NOT_ASCII}+\.[A-Za-z][A-Za-z0-9]{{0,9}})"
)
_FILES = rf"{_FILE}(?:(?:,? +and +|, *|、 *| *と *){_FILE})*"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "last")
_ONE = (
    rf"(?:{_FILE}|(?:it|this|that)(?: +file)?|the +file|the +(?:{'|'.join(_ORDINALS)})(?: +(?:one|file))?"
    r"|(?:それ|これ|その *ファイル|この *ファイル)|[1-5一二三四五](?:番目|つ目)(?:の *ファイル)?)"
)
_RESERVED = (
    r"(?!(?:it|its|this|that|these|those|them|everything|all|nothing|something|anything|not|no|the|an?|lines?|files?|"
    r"functions?|only|but|and|or|then|if|unless|except|without|for|don['’]?t|never)\b(?![.\w-]))"
)
"""Words that are never meant literally where they stand without quotes."""
_WORD = rf"(?:{MARK}|{_RESERVED}[^\s、。「」をはがの\ue000\ue001]+)"
_WORD_JAPANESE = rf"(?:{MARK}|[A-Za-z0-9_.-]+)"
_PRINTED = rf"(?:{MARK}|{_RESERVED}[\w!'.-]+(?:,? +{_RESERVED}[\w!'.-]+){{0,3}})"
_PRINTED_JAPANESE = rf"(?:{MARK}|[^、。「」\n\ue000\ue001]{{1,30}}?)"
_NUMBER_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twenty": 20,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_NUMBER = rf"(?:\d{{1,4}}|{'|'.join(_NUMBER_WORDS)})"
KINDS: Mapping[str, str] = {
    "python": "*.py", "markdown": "*.md", "javascript": "*.js", "typescript": "*.ts", "shell": "*.sh", "text": "*.txt",
    "rust": "*.rs", "go": "*.go", "java": "*.java", "html": "*.html", "css": "*.css", "json": "*.json", "toml": "*.toml",
    "yaml": "*.y*ml", "csv": "*.csv", "txt": "*.txt", "py": "*.py", "md": "*.md", "js": "*.js", "ts": "*.ts",
    "パイソン": "*.py", "マークダウン": "*.md", "テキスト": "*.txt",
}  # fmt: skip
"""Words for kinds of files, and the patterns that they stand for."""
_PROGRAMS = (
    r"(?:python3?|pytest|pip3?|uv|git|ls|cat|echo|make|npm|npx|node|cargo|go|bash|sh|grep|find|wc|head|tail|mkdir|rm|cp|mv|touch|"
    r"pwd|date|whoami|env|which|ruff|mypy|df|du|ps|pgrep|sleep|true|false|exit|curl|sort|uniq|sed|awk|printf|tree|uname|seq|"
    r"\.{0,2}/\S+)"
)
_TALKED = r"(?!(?:and|then|but|if|unless|except|not|no|in|or|the|as|an?|this|that|it|please|wait|again|now|to|sure|way|how|nothing|everything|anything|something|your?|my|we|when|without|only|don['’]?t|never|nor|afterwards|for)(?![^\s,;.]))"
_COMMAND = rf"(?:{MARK}|{_PROGRAMS}(?: +{_TALKED}(?:\.\.?(?= |$)|(?:[!-~]|{MARK})+(?<![.,:!?])))*)"
"""Without quotes: a known program, and no words by which people talk about commands."""
_REST = r"(?:(?![.!?] +\S|[。！？] *\S|\n).)+"
"""Free words up to the end of the sentence."""
_VALUE = rf"(?:[A-Za-z_]\w* *[=:] *)?(?:{MARK}|[A-Za-z0-9_.@/+-]+)"
_NO_FOLDER = r"(?!(?:here|this|the)\b|(?:not|no|only|but|and|or|then|if|unless|except|without)\b(?![.\w/-]))"
_FOLDER = rf"(?:{MARK}|{_NO_FOLDER}[A-Za-z0-9_.+/-]*[A-Za-z0-9_.]/?)"
_GLOB = rf"(?:{MARK}|[A-Za-z0-9_./-]*\*[A-Za-z0-9_.*/-]*)"

SLOTS: Mapping[str, str] = {
    "file": _FILE, "other": _FILE, "target": _FILE, "files": _FILES, "one": _ONE, "text": MARK, "printed": _PRINTED,
    "printed_ja": _PRINTED_JAPANESE, "word": _WORD, "old": _WORD, "new": _WORD, "old_ja": _WORD_JAPANESE, "new_ja": _WORD_JAPANESE, "folder": _FOLDER, "glob": _GLOB,
    "kind": rf"(?:{'|'.join(KINDS)})", "n": _NUMBER, "command": _COMMAND, "line": r"(?s:.+)", "id": r"b\d{1,6}",
    "agent": r"a\d{1,6}", "count": rf"(?:{_NUMBER}|an?|the|another)", "task": _REST, "fact": _REST, "question": _REST, "choices": _REST, "skill": rf"(?:{MARK}|[\w.-]+)",
    "url": rf"(?:{MARK}|https?://[!-~]+(?<![.,:!?]))",
    "tool": r"[A-Za-z_][\w.-]*", "arguments": rf"{_VALUE}(?:(?:,? +and +|, *| *と *){_VALUE})*", "value": rf"(?:{MARK}|[\w.'-]+)",
    "expression": r"[-+(]*\d[\d.,+*/%^×÷＋－()\s-]*(?:(?:plus|minus|times|multiplied +by|divided +by|足す|引く|掛ける|かける|割る)[\d.,+*/%^×÷()\s-]*)*",
}  # fmt: skip
"""What may stand in a slot."""

_TOKEN = re.compile(
    r"(?P<space> )\[(?P<behind>[^\]]*)\]|\[(?P<before>[^\]]*)\] |\[(?P<maybe>[^\]]*)\]|\{(?P<slot>\w+)\}|(?P<blank> )|(?P<sign>[()|])|(?P<other>.)"
)
_GAP = frozenset("をにのはがでと、：")
"""Around these a Japanese sentence may have a space."""


@cache
def compiled(form: str) -> re.Pattern[str]:
    """A form as a regular expression, to be matched in full."""
    return re.compile(_pattern(form), re.IGNORECASE)


def _pattern(form: str) -> str:
    parts: list[str] = []
    for token in _TOKEN.finditer(form):
        if token["behind"] is not None:
            parts.append(f"(?: +(?:{_pattern(token['behind'])}))?")
        elif token["before"] is not None:
            parts.append(f"(?:(?:{_pattern(token['before'])}) +)?")
        elif token["maybe"] is not None:
            parts.append(f"(?:{_pattern(token['maybe'])})?")
        elif token["slot"]:
            parts.append(rf" *(?P<{token['slot']}>{SLOTS[token['slot']]}) *" if _japanese(form) else rf"(?P<{token['slot']}>{SLOTS[token['slot']]})")  # fmt: skip
        elif token["blank"]:
            parts.append(" +")
        else:
            parts.append(
                token["sign"] or (f" *{token['other']} *" if token["other"] in _GAP else re.escape(token["other"]))
            )
    return "".join(parts)


def _japanese(form: str) -> bool:
    return any(char > "\u3000" for char in form)


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence that fits a form, and what stands in its slots."""

    sentence: str
    """The whole of it, with marks in place of quotes."""
    slots: Mapping[str, str | None]
    quotes: Quotes

    def typed(self, slot: str) -> str:
        """The words as typed, "" where the slot is empty."""
        return self.quotes.typed(self.slots.get(slot) or "")

    def bare(self, slot: str) -> str:
        """The words without quotation marks, "" where the slot is empty."""
        return self.quotes.bare(self.slots.get(slot) or "")

    def file(self, slot: str = "file") -> str:
        """The name of a file; "the readme" means README."""
        name = self.bare(slot)
        return name.upper() if name.lower() in ("readme", "changelog") else name

    def files(self, slot: str = "files") -> tuple[str, ...]:
        """The names in a list of files, each once."""
        raw = re.findall(_FILE, self.slots.get(slot) or "", re.IGNORECASE)
        return tuple(dict.fromkeys(Found(name, {"file": name}, self.quotes).file() for name in raw))

    def is_file(self, slot: str = "one") -> bool:
        """Whether a file is named there, and not referred to."""
        return re.fullmatch(_FILE, self.slots.get(slot) or "", re.IGNORECASE) is not None

    def number(self, slot: str = "n", default: int = 0) -> int:
        """A number in digits or words."""
        word = self.bare(slot).lower()
        return int(word) if word.isdecimal() else _NUMBER_WORDS.get(word, default)

    def place(self) -> int | None:
        """Which one of a list is meant by "the second one"; None where none is."""
        word = (self.slots.get("one") or "").lower()
        if match := re.match(rf"the +({'|'.join(_ORDINALS)})\b", word):
            return -1 if match[1] == "last" else _ORDINALS.index(match[1])
        return (
            Found(word, {"n": word[0]}, self.quotes).number() - 1
            if re.match(r"[1-5一二三四五](?:番目|つ目)", word)
            else None
        )

    def values(self) -> tuple[tuple[str, str], ...]:
        """The arguments for a tool, each with its name; "" where it has none."""
        found = re.finditer(
            rf"(?:(?P<name>[A-Za-z_]\w*) *[=:] *)?(?P<value>{MARK}|[A-Za-z0-9_.@/+-]+)",
            re.sub(r",? +and +|, *| *と *", "\n", self.slots.get("arguments") or ""),
        )
        return tuple((one["name"] or "", self.quotes.bare(one["value"])) for one in found)


def fitted(form: str, text: str, quotes: Quotes) -> Found | None:
    """The sentence in the slots of a form; None where it does not fit as a whole."""
    match = compiled(form).fullmatch(text)
    return Found(text, match.groupdict(), quotes) if match else None
