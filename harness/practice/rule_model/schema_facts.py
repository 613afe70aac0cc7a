"""What a prompt says that a field of a JSON Schema may mean: numbers, quotes, names, dates and addresses."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.events import Json

LONGEST = 2_000
"""Characters of a text that is taken over whole."""
FORMATS: Mapping[str, tuple[str, str]] = {
    "date-time": (r"\b\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", "2026-01-01T00:00:00Z"),
    "date": (r"\b\d{4}-\d\d-\d\d\b", "2026-01-01"),
    "time": (r"\b\d\d:\d\d:\d\d(?:[Zz]|[+-]\d\d:\d\d)", "00:00:00Z"),
    "duration": (r"\bP(?:\d+[DWMY]|T?\d+[HMS])+\b", "P1D"),
    "email": (r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", "user@example.com"),
    "hostname": (r"\b[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}\b", "example.com"),
    "uri": (r"\bhttps?://[^\s\"'<>)\]]+[^\s\"'<>)\].,;:!?]", "https://example.com/"),
    "ipv4": (r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "127.0.0.1"),
    "ipv6": (r"\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b", "::1"),
    "uuid": (r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "00000000-0000-4000-8000-000000000000"),
}
"""A pattern for each format, and a default value."""
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\.\w)")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NAME = r"[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*"
_NAMES = re.compile(rf"(?<![.!?]\s)(?<!^)(?<!\w){_NAME}")
_SUBJECT = re.compile(
    r"\A\s*(?!(?:He|Here|How|It|She|That|There|This|What|When|Where|Which|Who|Why)\b)"
    rf"({_NAME})(?=\s+(?:has|had|is|was|owns|lives)\b)"
)
"""A name that begins the prompt: "Ada has 7 cats"."""
_PLACE = re.compile(rf"\b(?:in|at|from|near|to|for)\s+({_NAME})")
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
        self._answer = answer.strip()[:LONGEST]
        self.used: tuple[Any, ...] = ()

    def use(self, value: Any) -> None:
        """Leave the value out from now on."""
        if isinstance(value, str | int | float):
            self.used = (*self.used, value)

    def values(self, kind: str, schema: Json, name: str) -> Iterator[Any]:
        """What a field may mean, the likeliest first."""
        if kind in ("integer", "number"):
            found: list[Any] = [as_number(text) for text in _NUMBER.findall(self._prompt)]
            for value in self.used:
                if value in found:
                    found.remove(value)
            given = self.assigned(name)
            given_number = [as_number(given)] if given and _NUMBER.fullmatch(given) else []
            yield from (one for one in (*given_number, *found) if kind == "number" or isinstance(one, int))
        elif kind == "string":
            yield from self._texts(schema, name)

    def members(self, members: Iterable[Any]) -> Iterator[str]:
        """Texts of a closed list that are mentioned."""
        words = self._prompt.casefold()
        texts = (member for member in members if isinstance(member, str) and member)
        yield from (text for text in texts if re.search(rf"\b{re.escape(text.casefold())}\b", words))

    def mentions(self, name: str) -> bool:
        """The words of a field's name are there, and not denied."""
        words = name.replace("_", " ").casefold().removeprefix("is ").strip()
        found = rf"(?<!not )(?<!no )\b{re.escape(words)}\b"
        return bool(words) and re.search(found, self._prompt.casefold()) is not None

    def assigned(self, name: str) -> str | None:
        """The value that is given to a field by its name ("age: 30")."""
        words = r"[ _-]+".join(re.escape(word) for word in re.split(r"[_\s-]+", name) if word)
        value = r"(?:[\"'“]([^\"'”\n]+)[\"'”]|([^\s,;\n]+))"
        match = words and re.search(rf"(?i)\b{words}\b\s*(?:\bis\b|\bof\b|[:=])\s*{value}", self._prompt)
        return (match[1] or match[2].rstrip(".!?")) if match else None

    def _texts(self, schema: Json, name: str) -> Iterator[str]:
        if (form := FORMATS.get(str(schema.get("format")))) is not None:
            yield from re.findall(form[0], self._prompt)
            return
        words = set(re.split(r"[\W_]+", name.casefold()))
        least, most = schema.get("minLength", 0), schema.get("maxLength", LONGEST)
        if (text := self.assigned(name)) is not None:
            yield text
        if words & _ABOUT_PLACES:
            yield from self._unused(_PLACE.findall(self._prompt))
        if words & (_ABOUT_NAMES | _ABOUT_PLACES):
            yield from self._unused([*_SUBJECT.findall(self._prompt), *_NAMES.findall(self._prompt)])
        if isinstance(pattern := schema.get("pattern"), str):
            yield from _found(pattern.removeprefix("^").removesuffix("$"), self._prompt)
            return
        if words & _ANSWERED and self._answer:
            yield fitted(self._answer, least, most)
        yield from self._unused(["".join(groups).strip() for groups in _QUOTED.findall(self._prompt)])
        if words & _ASKED and self._prompt.strip():
            yield fitted(self._prompt.strip()[:LONGEST], least, most)

    def _unused(self, texts: Iterable[str]) -> Iterator[str]:
        return (text for text in texts if text not in self.used)


def as_number(text: str) -> int | float:
    """The number that a text writes."""
    bare = text.replace(",", "")
    return float(bare) if "." in bare else int(bare)


def fitted(text: str, least: int, most: int) -> str:
    """The text, cut or lengthened to a number of characters."""
    made = text[:most]
    while len(made) < least:
        made += f" {text}"[: least - len(made)]
    return made[:-1] + "x" if made.endswith(" ") else made


def _found(pattern: str, prompt: str) -> Iterator[str]:
    try:
        yield from (match[0] for match in re.finditer(pattern, prompt) if match[0])
    except re.error:
        return
