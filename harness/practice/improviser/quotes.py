"""Quoted text, set apart.

Quotes and code are taken out of a sentence first and replaced by marks, so that words inside of them are never taken
for a verb or for the end of a step.
"""

import re
from dataclasses import dataclass

MARK = r"\ue000\d+\ue001"
"""What takes the place of a quote, as a regular expression."""

LONGEST_SENTENCE = 2_000
"""Characters of a request, quotes not counted. A longer one is none of the documented sentences."""

_QUOTES = re.compile(
    r"```[\w+-]*\n(?P<fence>.*?)\n?```|`(?P<tick>[^`\n]+)`|\"(?P<double>[^\"]*)\"|“(?P<curly>[^”]{0,1000})”"
    r"|「(?P<corner>[^」]{0,1000})」|『(?P<white>[^』]{0,1000})』|(?<!\w)'(?P<single>[^'\n]+)'(?!\w)",
    re.DOTALL,
)
_ESCAPED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_MARK = re.compile(r"\ue000(\d+)\ue001")


@dataclass(frozen=True, slots=True)
class Quotes:
    """The quotes of a request; a mark is an index into them."""

    inner: tuple[str, ...]
    """Without the quotation marks."""
    raw: tuple[str, ...]
    """As typed."""

    def bare(self, text: str) -> str:
        """A piece of the request with its quotes put back, without quotation marks."""
        return _MARK.sub(lambda mark: self.inner[int(mark[1])], text).strip()

    def typed(self, text: str) -> str:
        """A piece of the request as it was typed."""
        return _MARK.sub(lambda mark: self.raw[int(mark[1])], text).strip()


def set_apart(prompt: str) -> tuple[str, Quotes]:
    """A prompt with marks in place of its quotes, and the quotes. A prompt that is one quote is read like the quote."""
    prompt = unwrapped(prompt.replace("\ue000", "").replace("\ue001", ""))
    inner: list[str] = []
    raw: list[str] = []

    def marked(match: re.Match[str]) -> str:
        inner.append(next(group for group in match.groups() if group is not None))
        raw.append(match[0])
        return f"\ue000{len(inner) - 1}\ue001"

    return _QUOTES.sub(marked, prompt), Quotes(tuple(inner), tuple(raw))


def unwrapped(prompt: str) -> str:
    """The prompt without the quotation marks that some clients put around the whole of it, escaping those inside."""
    if (escaped := _ESCAPED.fullmatch(prompt.strip())) and "\\" in escaped[1]:
        return re.sub(r"\\([\"\\])", r"\1", escaped[1]).strip()
    whole = _QUOTES.fullmatch(prompt.strip())
    if whole is None or whole["fence"] is not None or whole["tick"] is not None:
        return prompt.strip()
    return next(group for group in whole.groups() if group is not None).strip()
