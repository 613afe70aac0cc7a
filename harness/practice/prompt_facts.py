"""What a prompt says that may be the value of a field: numbers, quotes, names, places, and what is named outright."""

import re
from collections.abc import Iterator
from typing import Any

from harness.events import Json
from harness.practice.schema_limits import FORMATS, allowed, fitted

_LONGEST = 2_000
"""Characters of a text that is taken over whole."""
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\.\w)")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)(?<!\w)[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*")
_PLACE = re.compile(r"\b(?:in|at|from|near|to|for)\s+([A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*)")
_ABOUT_PLACES = frozenset({"city", "location", "place", "country", "town", "where", "destination", "address"})
_ABOUT_NAMES = frozenset({"name", "person", "who", "author", "title", "subject", "customer", "company"})
_ASKED = frozenset({"query", "question", "prompt", "input", "request", "search", "text", "objective"})
_ANSWERED = frozenset(
    {"answer", "response", "result", "content", "message", "summary", "explanation", "reason", "reasoning", "output"}
    | {"reply", "description", "details", "comment", "thought", "thoughts", "analysis", "conclusion"}
)


class PromptFacts:
    """The things in one prompt. Each number, quote and name is used once."""

    def __init__(self, prompt: str, answer: str) -> None:
        """`answer` is what the model would say, for fields that ask for a text of its own."""
        self._prompt = prompt
        self._answer = answer
        self._numbers = [as_number(text) for text in _NUMBER.findall(prompt)]
        self._quotes = ["".join(groups).strip() for groups in _QUOTED.findall(prompt)]
        self._names: list[str] = _NAME.findall(prompt)

    def value(self, kind: str, schema: Json, name: str) -> Any:
        """The first thing that a field is likely to mean, and has room for; None: there is none."""
        found = self._numbers_for(kind, name) if kind in ("integer", "number") else self._texts_for(schema, name)
        for value in found:
            if allowed(value, schema):
                self._use(value)
                return value
        return None

    def _use(self, value: float | str) -> None:
        if isinstance(value, str):
            self._quotes = [quote for quote in self._quotes if quote != value]
            self._names = [name for name in self._names if name != value]
        elif value in self._numbers:
            self._numbers.remove(value)

    def named(self, kind: str, schema: Json, name: str) -> Any:
        """The value that is given to a field by its name ("age: 30"); None: it is not named."""
        text = self._assigned(name)
        if text is None or kind not in ("string", "integer", "number"):
            return None
        if kind == "string":
            value: Any = text
        else:
            value = as_number(text) if _NUMBER.fullmatch(text) else None
        return value if value is not None and allowed(value, schema) else None

    def member(self, members: list[Any]) -> Any:
        """The first text of a closed list that is mentioned; None: none is."""
        words = self._prompt.casefold()
        for member in members:
            if isinstance(member, str) and member and re.search(rf"\b{re.escape(member.casefold())}\b", words):
                return member
        return None

    def mentions(self, name: str) -> bool:
        """The words of a field's name are there, and not denied."""
        words = name.replace("_", " ").casefold().removeprefix("is ").strip()
        found = rf"(?<!not )(?<!no )\b{re.escape(words)}\b"
        return bool(words) and re.search(found, self._prompt.casefold()) is not None

    def _assigned(self, name: str) -> str | None:
        words = r"[ _-]+".join(re.escape(word) for word in re.split(r"[_\s-]+", name) if word)
        if not words:
            return None
        value = r"(?:[\"'“]([^\"'”\n]+)[\"'”]|([^\s,;\n]+))"
        match = re.search(rf"(?i)\b{words}\b\s*(?:\bis\b|\bof\b|[:=])\s*{value}", self._prompt)
        return (match[1] or match[2].rstrip(".!?")) if match else None

    def _numbers_for(self, kind: str, name: str) -> Iterator[int | float]:
        if (text := self._assigned(name)) is not None and _NUMBER.fullmatch(text):
            yield as_number(text)
        yield from [number for number in self._numbers if kind == "number" or isinstance(number, int)]

    def _texts_for(self, schema: Json, name: str) -> Iterator[str]:
        if (form := FORMATS.get(str(schema.get("format")))) is not None:
            yield from re.findall(form[0], self._prompt)
            return
        words = set(re.split(r"[\W_]+", name.casefold()))
        if (text := self._assigned(name)) is not None:
            yield text
        if words & _ABOUT_PLACES:
            yield from _PLACE.findall(self._prompt)
        if words & (_ABOUT_NAMES | _ABOUT_PLACES):
            yield from list(self._names)
        if isinstance(pattern := schema.get("pattern"), str):
            yield from _found(pattern, self._prompt)
            return
        if words & _ANSWERED and self._answer.strip():
            yield fitted(self._answer.strip()[:_LONGEST], schema)
        yield from list(self._quotes)
        if words & _ASKED and self._prompt.strip():
            yield fitted(self._prompt.strip()[:_LONGEST], schema)


def as_number(text: str) -> int | float:
    """The number that a text writes."""
    bare = text.replace(",", "")
    return float(bare) if "." in bare else int(bare)


def _found(pattern: str, prompt: str) -> Iterator[str]:
    try:
        inner = re.compile(pattern.removeprefix("^").removesuffix("$"))
    except re.error:
        return
    yield from (match[0] for match in inner.finditer(prompt) if match[0])
