"""A value that fits a JSON Schema, made of what the prompt says where that is plain.

A model that is forced to call a tool, or to answer in a given form, gives what the schema asks for, whatever it was
asked. The rule-based model has no idea of most schemas, so it takes numbers, quotes, names, dates and addresses out of
the prompt where a field has room for them, and fills the rest with the plainest value that fits.

Known are: type, enum, const, default, examples, properties, required, additionalProperties, minProperties, items,
prefixItems, minItems, maxItems, uniqueItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf,
minLength, maxLength, pattern, format, $ref, allOf, anyOf and oneOf. Other keywords are left out of account.
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from harness.events import Json
from harness.practice.rule_model.schema_limits import (
    FORMATS,
    allowed,
    as_list,
    both,
    fitted,
    is_impossible,
    is_kind,
    kind_of,
    number_of,
    same,
    text_matching,
)

_LONGEST = 2_000
"""Characters of a text that is taken over whole."""
_NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w]*\.\w)")
_QUOTED = re.compile(r"\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|`([^`\n]+)`|(?<!\w)'([^'\n]+)'(?!\w)")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)(?<!\w)[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*")
_SUBJECT = re.compile(
    r"\A\s*(?!(?:He|Here|How|It|She|That|There|This|What|When|Where|Which|Who|Why)\b)"
    r"([A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*)(?=\s+(?:has|had|is|was|owns|lives)\b)"
)
"""A name that begins the prompt: "Ada has 7 cats"."""
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
        self._names: list[str] = [*_SUBJECT.findall(prompt), *_NAME.findall(prompt)]

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


_DEEPEST = 12
_ROOMY = 4
"""Down to this depth an array that may be empty has an item."""
_MOST_ITEMS = 1_000


def value_of(schema: Any, prompt: str = "", answer: str = "") -> Any:
    """A value that fits `schema`.

    Args:
        schema: JSON Schema; `$ref` is looked up in it.
        prompt: the request, for values it names.
        answer: what the model would say, for fields that ask for a text of its own.
    """
    root = schema if isinstance(schema, dict) else {}
    return _SchemaFiller(root, PromptFacts(prompt, answer)).value(root, "", 0, 0)


class _SchemaFiller:
    """One value in the making."""

    def __init__(self, root: Json, facts: PromptFacts) -> None:
        self._root = root
        self._facts = facts

    def value(self, schema: Any, name: str, depth: int, nth: int) -> Any:
        """The `nth` of several values, which differ where there is room for that. Number 0 may be out of the prompt."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return {}
        flat = self._flat(schema, depth)
        kind = kind_of(flat)
        if "const" in flat:
            return flat["const"]
        if members := as_list(flat.get("enum")):
            fitting = [member for member in members if allowed(member, flat)] or members
            said = self._facts.member(fitting) if nth == 0 else None
            return fitting[nth % len(fitting)] if said is None else said
        if kind in ("object", "array"):
            return self._object(flat, depth, nth) if kind == "object" else self._array(flat, name, depth, nth)
        if nth == 0 and (said := self._facts.value(kind, flat, name)) is not None:
            return said
        given = [flat["default"]] if "default" in flat else []
        for value in (*given, *as_list(flat.get("examples"))) if nth == 0 else ():
            if is_kind(value, kind) and allowed(value, flat):
                return value
        match kind:
            case "integer" | "number":
                return _number(flat, kind, nth)
            case "boolean":
                return nth % 2 == 1 if nth else self._facts.mentions(name)
            case "null":
                return None
            case _:
                return _text(flat, name, nth)

    def _flat(self, schema: Json, depth: int) -> Json:
        """The schema without $ref, allOf, anyOf and oneOf: one way to fit it."""
        flat = self._without_references(schema, depth)
        for word in ("anyOf", "oneOf"):
            options = [option for option in as_list(flat.pop(word, None)) if isinstance(option, dict)]
            ways = [self._flat(both(flat, option), depth + 1) for option in options if depth <= _DEEPEST]
            if ways:
                flat = min(ways, key=lambda way: (is_impossible(way), self._rank(kind_of(way), depth)))
        return flat

    @staticmethod
    def _rank(kind: str, depth: int) -> bool:
        """Alternatives that come last: null, and at depth whatever may be infinite."""
        return kind == "null" if depth < _ROOMY else kind in ("object", "array")

    def _without_references(self, schema: Json, depth: int) -> Json:
        flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = [part for part in as_list(schema.get("allOf")) if isinstance(part, dict)]
        if isinstance(target := self._target(schema.get("$ref")), dict):
            parts.append(target)
        for part in parts if depth <= 2 * _DEEPEST else ():
            flat = both(flat, self._without_references(part, depth + 1))
        return self._without_references(flat, depth + 1) if "allOf" in flat and depth <= 2 * _DEEPEST else flat

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        place: Any = self._root
        for key in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            name = key.replace("~1", "/").replace("~0", "~")
            place = place.get(name) if isinstance(place, dict) else None
        return place

    def _object(self, schema: Json, depth: int, nth: int) -> Json:
        properties = schema.get("properties")
        fields: Json = properties if isinstance(properties, dict) else {}
        required = [key for key in as_list(schema.get("required")) if isinstance(key, str)]
        others, least = schema.get("additionalProperties", True), _count(schema.get("minProperties"))
        made: Json = {}
        for key in dict.fromkeys((*fields, *required)):
            if key in required:
                made[key] = self.value(fields.get(key, others if isinstance(others, dict) else {}), key, depth + 1, nth)
            elif nth == 0 and (said := self._named(fields[key], key, depth)) is not None:
                made[key] = said
        for key, field in fields.items():
            if len(made) < least and key not in made:
                made[key] = self.value(field, key, depth + 1, nth)
        extra = 0
        while others is not False and len(made) < least:
            extra += 1
            made.setdefault(f"key{extra}", self.value(others if isinstance(others, dict) else {}, "", depth + 1, nth))
        return made

    def _named(self, field: Any, name: str, depth: int) -> Any:
        """The value that the prompt gives to a field that need not be there; None: it does not name it."""
        if not isinstance(field, dict):
            return None
        flat = self._flat(field, depth + 1)
        return self._facts.named(kind_of(flat), flat, name)

    def _array(self, schema: Json, name: str, depth: int, nth: int) -> list[Any]:
        first, rest = as_list(schema.get("prefixItems")), schema.get("items", True)
        least, most = _count(schema.get("minItems")), int(number_of(schema, "maxItems", _MOST_ITEMS))
        roomy = depth < _ROOMY and not first and isinstance(rest, dict)
        wanted = max(least, min(1, most)) if roomy else least
        made: list[Any] = [self.value(item, name, depth + 1, nth) for item in first[:most]]
        tries = 0
        while len(made) < wanted and rest is not False and tries < wanted + _MOST_ITEMS:
            singular = name[:-1] if name.endswith("s") and len(name) > 3 else name
            item = self.value(rest if isinstance(rest, dict) else {}, singular, depth + 1, nth + tries)
            tries += 1
            if schema.get("uniqueItems") is not True or not any(same(item, other) for other in made):
                made.append(item)
        return made


def _text(schema: Json, name: str, nth: int) -> str:
    if isinstance(pattern := schema.get("pattern"), str) and (made := text_matching(pattern, nth)) is not None:
        longer = fitted(made, schema)
        return longer if allowed(longer, schema) else made
    if (form := FORMATS.get(str(schema.get("format")))) is not None:
        return _moved_on(form[1], nth)
    words = re.sub(r"[_-]+", " ", name).strip() or "text"
    if nth == 0:
        return fitted(words, schema)
    number = str(nth + 1)
    most = int(number_of(schema, "maxLength", math.inf)) if "maxLength" in schema else len(words) + len(number) + 1
    return fitted(number.rjust(most, "x")[-most:] if most <= len(number) + 1 else f"{number} {words}", schema)


def _moved_on(text: str, nth: int) -> str:
    """Another text of the same form: its last digit moved on, or a number before it."""
    if not nth:
        return text
    digits = [at for at, char in enumerate(text) if char.isdigit()]
    if not digits:
        return f"a{nth}.{text}" if "@" not in text and "/" not in text else text.replace("example", f"example{nth}")
    last = digits[-1]
    return text[:last] + str((int(text[last]) + nth) % 10) + text[last + 1 :]


def _number(schema: Json, kind: str, nth: int) -> int | float:
    low = max(number_of(schema, "minimum", -math.inf), number_of(schema, "exclusiveMinimum", -math.inf))
    high = min(number_of(schema, "maximum", math.inf), number_of(schema, "exclusiveMaximum", math.inf))
    step = number_of(schema, "multipleOf", 0)
    start = 0 if low <= 0 <= high else (low if low > 0 else high)
    unit = (math.lcm(int(step), 1) if float(step).is_integer() and step else step) or 1
    whole = math.ceil(start / unit) * unit
    tries: list[float] = [whole + unit * (at + nth) for at in range(3)]
    tries += [whole - unit * (at + nth) for at in range(1, 4)]
    if kind == "integer":
        tries += [math.ceil(start) + at + nth for at in range(1_000)]
    elif not step:
        tries += [start, low + (high - low) * (nth + 1) / (nth + 3)]
    for number in tries:
        if math.isfinite(number) and allowed(number, schema | {"type": kind}):
            return int(number) if kind == "integer" else number
    return int(start) if kind == "integer" else start


def _count(value: Any) -> int:
    return min(int(value), _MOST_ITEMS) if isinstance(value, int | float) and value > 0 else 0
