# ruff: noqa: E501 - a pattern reads best in one piece
"""The notation of the documented sentences, and how a prompt is matched against it.

    (list|show) [me] [the] files [in {folder}]

Round brackets hold alternatives, square brackets optional words, braces a slot. A sentence must fit as a whole.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

_MARK = r"\ue000\d+\ue001"
"""Stands for a quoted text, so that words in quotes never match a form."""
_QUOTES = re.compile(
    r"```[\w+-]*\n(.*?)\n?```|`([^`\n]+)`|\"([^\"]*)\"|“([^”]{0,1000})”|「([^」]{0,1000})」|『([^』]{0,1000})』|(?<!\w)'([^'\n]+)'(?!\w)",
    re.DOTALL,
)
_CHARACTER = r"[A-Za-z0-9À-ÖØ-öø-ɏ_.@+#~-]"
_JAPANESE_NAME = r"[^\x00-\x7f\s、。，：「」『』（）をとにはのがへでもや\ue000\ue001]+"
_FILE = rf"(?:{_MARK}|/?(?:{_CHARACTER}+/)*(?:{_CHARACTER}*\.[A-Za-z][A-Za-z0-9]{{0,9}}|README|LICENSE|Makefile|Dockerfile)|{_JAPANESE_NAME}\.[A-Za-z][A-Za-z0-9]{{0,9}})"
_RESERVED = r"(?!(?:it|its|this|that|these|those|them|everything|all|nothing|anything|not|no|the|an?|lines?|files?|only|but|and|or|then|if|unless|except|without|never)\b(?![.\w-]))"
_NUMBERS = {
    "a": 1, "an": 1, "another": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_PROGRAMS = r"(?:python3?|pytest|pip3?|uv|git|ls|cat|echo|make|npm|node|cargo|go|bash|sh|grep|find|wc|head|tail|mkdir|rm|cp|mv|touch|pwd|date|which|df|du|ps|pgrep|sleep|true|false|exit|curl|sort|sed|awk|printf|\.{0,2}/\S+)"
_PROSE = r"(?!(?:and|then|but|if|unless|except|not|in|or|the|as|an?|this|that|it|please|again|now|to|when|without|only|never|for)(?![^\s,;.]))"
_REST = r"(?:(?![.!?] +\S|[。！？] *\S|\n).)+"

SLOTS: Mapping[str, str] = {
    "file": _FILE,
    "files": rf"{_FILE}(?:(?:,? +and +|, *|、 *| *と *){_FILE})*",
    "folder": rf"(?:{_MARK}|(?!(?:here|this|the|not|only|but|and|or|then|if|except)\b)[A-Za-z0-9_.+/-]*[A-Za-z0-9_.]/?)",
    "glob": r"[A-Za-z0-9_./-]*\*[A-Za-z0-9_.*/-]*",
    "text": _MARK,
    "word": rf"(?:{_MARK}|{_RESERVED}[^\s*、。「」をはがの\ue000\ue001]+)",
    "old": rf"(?:{_MARK}|[A-Za-z0-9_.-]+)",
    "new": rf"(?:{_MARK}|[A-Za-z0-9_.-]+)",
    "printed": rf"(?:{_MARK}|{_RESERVED}[\w!'.-]+(?: +{_RESERVED}[\w!'.-]+){{0,3}})",
    "command": rf"(?:{_MARK}|{_PROGRAMS}(?: +{_PROSE}(?:\.\.?(?= |$)|(?:[!-~]|{_MARK})+(?<![.,:!?])))*)",
    "count": rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)})",
    "job": r"b\d{1,6}",
    "agent": r"a\d{1,6}",
    "skill": rf"(?:{_MARK}|[\w.-]+)",
    "url": rf"(?:{_MARK}|https?://[!-~]+(?<![.,:!?]))",
    "tool": r"[A-Za-z_][\w.-]*",
    "value": rf"(?:{_MARK}|[\w.'-]+)",
    "run": "and run it",
    "task": _REST,
    "fact": _REST,
    "choices": _REST,
}  # fmt: skip
"""The pattern of each slot."""

_TOKEN = re.compile(
    r" \[(?P<behind>[^\]]*)\]|\[(?P<before>[^\]]*)\] |\[(?P<maybe>[^\]]*)\]|\{(?P<slot>\w+)\}|(?P<blank> )|(?P<sign>[()|])|(?P<other>.)"
)
_POLITE = re.compile(
    r"(?:(?:please|now|then|also|ok|first|next|finally)\b,? +|(?:hello|hi)[,!.] +|(?:まず|次に|それから|そして|最後に)、? *)+",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:,? +(?:please|now|for me)|(?<=[てで]) *(?:ください|下さい|お願いします|ね))?[\s.!。！]*(?P<asked>[?？]?)\s*$",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+")
_JOINT = re.compile(
    r"\s*\n\s*(?!\ue000)|\s*;\s*|(?<=[.!?])\s+|(?<=[。！？])\s*|,?\s+and\s+then\s+|,?\s+then\s+|,?\s+and\s+|(?<=[てで])[、,]?\s*",
    re.IGNORECASE,
)
_MOST_JOINTS = 60
_LONGEST_PROMPT = 2_000


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """A sentence that fits a form, with its slots."""

    sentence: str
    slots: Mapping[str, str | None]
    quotes: Sequence[re.Match[str]]

    def typed(self, slot: str) -> str:
        """The slot as typed; "" where it is empty."""
        return re.sub(_MARK, lambda mark: self.quotes[int(mark[0][1:-1])][0], self.slots.get(slot) or "").strip()

    def __getitem__(self, slot: str) -> str:
        """The slot without quotation marks; "" where it is empty."""
        return self._bare(self.slots.get(slot) or "")

    def files(self, slot: str) -> tuple[str, ...]:
        """The files in a slot, each once."""
        return tuple(dict.fromkeys(map(self._bare, re.findall(_FILE, self.slots.get(slot) or "", re.IGNORECASE))))

    def count(self) -> int:
        """A number in digits or words; 1 where there is none."""
        word = self["count"].lower()
        return int(word) if word.isdecimal() else _NUMBERS.get(word, 1)

    @property
    def background(self) -> bool:
        """The sentence asks for the background."""
        head = self.sentence.partition(self.slots.get("task") or "\n")[0]
        return re.search(r"\bbackground\b|バックグラウンド", head, re.IGNORECASE) is not None

    def _bare(self, text: str) -> str:
        def inner(mark: re.Match[str]) -> str:
            return next(group for group in self.quotes[int(mark[0][1:-1])].groups() if group is not None)

        return re.sub(_MARK, inner, text).strip()


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """A prompt with marks in place of its quotes."""

    text: str
    quotes: Sequence[re.Match[str]]

    def splits(self) -> Iterator[tuple["PreparedPrompt", "PreparedPrompt"]]:
        """Every way to take a first sentence off."""
        joints = list(_JOINT.finditer(self.text))
        for joint in joints if len(joints) <= _MOST_JOINTS else ():
            first, rest = self.text[: joint.start()], self.text[joint.end() :]
            if first.strip() and rest.strip():
                yield PreparedPrompt(first, self.quotes), PreparedPrompt(rest, self.quotes)

    def match(self, form: str) -> SentenceMatch | None:
        """The slots of the sentence, if it fits the form as a whole, words of courtesy aside."""
        text = self.text[: found.start()] if (found := _END.search(self.text)) else self.text
        text = text[found.end() :] if (found := _POLITE.match(text)) else text
        fits = _compiled(form).fullmatch(text.strip(" 、,"))
        return SentenceMatch(text, fits.groupdict(), self.quotes) if fits else None

    @property
    def is_question(self) -> bool:
        """It ends with a question mark."""
        end = _END.search(self.text)
        return end is not None and bool(end["asked"])


def prepared(prompt: str) -> PreparedPrompt | None:
    """A prompt ready to be matched; None for one that is empty or too long."""
    prompt = re.sub("[\ue000\ue001]", "", prompt).strip()
    whole = _QUOTES.fullmatch(prompt)
    if whole and not prompt.startswith("`"):
        prompt = next(group for group in whole.groups() if group is not None).replace('\\"', '"').strip()
    quotes = list(_QUOTES.finditer(prompt))
    numbers = iter(range(len(quotes)))
    text = _QUOTES.sub(lambda quote: f"\ue000{next(numbers)}\ue001", prompt)
    text = _BULLET.sub("", re.sub(r"[ \t\u3000]+|\n(?=\ue000)", " ", text)).strip()
    return PreparedPrompt(text, quotes) if text and len(text) <= _LONGEST_PROMPT else None


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(_pattern(form), re.IGNORECASE)


def _pattern(form: str) -> str:
    space = " *" if re.search("[\u3041-\u9fff]", form) else ""
    parts: list[str] = []
    for token in _TOKEN.finditer(form):
        if token["behind"] is not None:
            parts.append(f"(?: +(?:{_pattern(token['behind'])}))?")
        elif token["before"] is not None:
            parts.append(f"(?:(?:{_pattern(token['before'])}) +)?")
        elif token["maybe"] is not None:
            parts.append(f"(?:{_pattern(token['maybe'])})?")
        elif token["slot"]:
            parts.append(f"{space}(?P<{token['slot']}>{SLOTS[token['slot']]}){space}")
        elif token["blank"]:
            parts.append(" +")
        else:
            parts.append(token["sign"] or re.escape(token["other"]))
    return "".join(parts)
