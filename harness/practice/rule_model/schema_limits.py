"""Single schemas: what kind of value they ask for, which values keep their limits, two of them put together."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from harness.events import Json

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


def kind_of(schema: Json) -> str:
    """The type of the values that a schema is for; the first where it takes several."""
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else [kind for kind in as_list(named) if isinstance(kind, str)]
    if real := [kind for kind in kinds if kind != "null"]:
        return real[0]
    if kinds:
        return "null"
    if "properties" in schema or "required" in schema or "minProperties" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema or "minItems" in schema:
        return "array"
    if any(word in schema for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")):
        return "number"
    return "string"


def both(one: Json, other: Json) -> Json:
    """A schema that holds where both hold, as far as they can be put together."""
    made = dict(one)
    for key, value in other.items():
        if key not in made:
            made[key] = value
            continue
        mine = made[key]
        match key:
            case "properties" if isinstance(mine, dict) and isinstance(value, dict):
                made[key] = mine | {
                    name: {"allOf": [mine[name], field]} if name in mine and mine[name] != field else field
                    for name, field in value.items()
                }
            case "required" if isinstance(mine, list) and isinstance(value, list):
                made[key] = list(dict.fromkeys([*mine, *value]))
            case "enum" if isinstance(mine, list) and isinstance(value, list):
                made[key] = [member for member in mine if any(same(member, same) for same in value)]
            case "type":
                made[key] = _both_types(mine, value)
            case "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties":
                made[key] = max(mine, value)
            case "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties":
                made[key] = min(mine, value)
            case "multipleOf" if isinstance(mine, int) and isinstance(value, int):
                made[key] = math.lcm(mine, value)
            case "uniqueItems":
                made[key] = mine or value
            case "items" if isinstance(mine, dict) and isinstance(value, dict) and mine != value:
                made[key] = {"allOf": [mine, value]}
            case "additionalProperties":
                made[key] = False if mine is False or value is False else (value if mine is True else mine)
            case "anyOf" | "oneOf" if mine != value:
                made["allOf"] = [*as_list(made.get("allOf")), {key: value}]
            case _:
                pass
    return made


def _both_types(one: Any, other: Any) -> Any:
    mine, theirs = ([kind] if isinstance(kind, str) else as_list(kind) for kind in (one, other))
    shared = [kind for kind in mine if kind in theirs or (kind == "integer" and "number" in theirs)]
    shared += [kind for kind in theirs if kind == "integer" and "number" in mine and kind not in shared]
    return shared or one


def is_impossible(schema: Json) -> bool:
    """No value fits, as far as can be seen."""
    enum, types = schema.get("enum"), schema.get("type")
    if isinstance(enum, list) and not any(allowed(member, schema) for member in enum):
        return True
    return "const" in schema and isinstance(types, str) and not is_kind(schema["const"], types)


def allowed(value: Any, schema: Json) -> bool:
    """Whether a value that is no object and no array keeps the limits of a schema."""
    types = schema.get("type")
    kinds = [types] if isinstance(types, str) else as_list(types)
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return False
    if isinstance(schema.get("enum"), list) and not any(same(value, member) for member in schema["enum"]):
        return False
    if "const" in schema and not same(value, schema["const"]):
        return False
    if isinstance(value, str):
        pattern, form = schema.get("pattern"), FORMATS.get(str(schema.get("format")))
        return (
            number_of(schema, "minLength", 0) <= len(value) <= number_of(schema, "maxLength", math.inf)
            and (not isinstance(pattern, str) or _matches(pattern, value))
            and (form is None or re.fullmatch(form[0], value) is not None)
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        step = schema.get("multipleOf")
        return (
            number_of(schema, "minimum", -math.inf) <= value <= number_of(schema, "maximum", math.inf)
            and number_of(schema, "exclusiveMinimum", -math.inf) < value
            and value < number_of(schema, "exclusiveMaximum", math.inf)
            and (not step or _is_multiple(value, step))
        )
    return True


def is_kind(value: Any, kind: str) -> bool:
    """Whether a value is of a type of JSON Schema."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return not isinstance(value, bool) and (
                isinstance(value, int) or (isinstance(value, float) and value.is_integer())
            )
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
        case _:
            return True


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


def _is_multiple(value: float, step: float) -> bool:
    return abs(value / step - round(value / step)) < 1e-9


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: 1 and true are not."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def number_of(schema: Json, key: str, otherwise: float) -> float:
    """A number in a schema."""
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def as_list(value: Any) -> list[Any]:
    """The value, or no items where it is no list."""
    return value if isinstance(value, list) else []


def fitted(text: str, schema: Json) -> str:
    """The text, cut or lengthened to the lengths that a schema takes."""
    least, most = number_of(schema, "minLength", 0), number_of(schema, "maxLength", math.inf)
    made = text if len(text) <= most else text[: int(most)]
    while len(made) < least:
        made += f" {text}"[: int(least) - len(made)]
    return made[:-1] + "x" if made.endswith(" ") else made


_MOST = 200
"""Repetitions that are written out."""
_KINDS = {"d": "0123456789", "w": "abcdefghijklmnopqrstuvwxyz0123456789_", "s": " "}
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_ANY = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ _-.:/@#"


def text_matching(pattern: str, nth: int = 0) -> str | None:
    """The `nth` of some texts that `pattern` finds; None where none is found this way."""
    for number in (nth, 0):
        try:
            text = _PatternReader(pattern, number).alternatives()
            if re.search(pattern, text) is not None:
                return text
        except (re.error, ValueError, IndexError):
            return None
    return None


class _PatternReader:
    """Reads an expression from left to right, and writes a text as it goes."""

    def __init__(self, pattern: str, nth: int) -> None:
        self._pattern = pattern
        self._at = 0
        self._nth = nth

    def alternatives(self) -> str:
        """The text of the first alternative that is not empty, up to the end of the group."""
        texts = [self._sequence()]
        while self._next() == "|":
            self._at += 1
            texts.append(self._sequence())
        chosen = [text for text in texts if text] or texts
        return chosen[self._nth % len(chosen)]

    def _sequence(self) -> str:
        pieces: list[str] = []
        while (char := self._next()) not in ("", "|", ")"):
            piece = self._piece(char)
            least, most = self._count()
            pieces.append(piece * max(least, min(1, most)))
        return "".join(pieces)

    def _piece(self, char: str) -> str:
        self._at += 1
        match char:
            case "(":
                return self._group()
            case "[":
                return self._one_of(self._members())
            case ".":
                return self._one_of(_ANY)
            case "^" | "$":
                return ""
            case "\\":
                return self._one_of("".join(self._escape()))
            case _:
                return char

    def _group(self) -> str:
        for opening in ("?:", "?P<", "?<"):
            if self._pattern.startswith(opening, self._at):
                if self._pattern[self._at + len(opening) : self._at + len(opening) + 1] in ("=", "!"):
                    raise ValueError("a look-around")
                self._at = self._pattern.index(">", self._at) + 1 if opening != "?:" else self._at + 2
                break
        else:
            if self._next() == "?":
                raise ValueError("a look-around")
        text = self.alternatives()
        self._at += 1  # the closing parenthesis
        return text

    def _members(self) -> str:
        inverted = self._next() == "^"
        self._at += inverted
        members: list[str] = []
        first = True
        while (char := self._next()) != "]" or first:
            first = False
            if not char:
                raise ValueError("a class without an end")
            self._at += 1
            chosen = list(self._escape()) if char == "\\" else [char]
            if self._next() == "-" and self._pattern[self._at + 1 : self._at + 2] not in ("]", ""):
                self._at += 1
                end = self._next()
                self._at += 1
                last = next(self._escape()) if end == "\\" else end
                chosen = [chr(code) for code in range(ord(chosen[0]), min(ord(last), ord(chosen[0]) + 200) + 1)]
            members += chosen
        self._at += 1
        if inverted:
            return "".join(char for char in _ANY if char not in members)
        return "".join(members)

    def _escape(self) -> Iterator[str]:
        char = self._next()
        self._at += 1
        if char in _KINDS:
            yield from _KINDS[char]
        elif char in ("D", "W", "S"):
            yield from (other for other in _ANY if not re.match(f"\\{char.lower()}", other))
        elif char in ("b", "B", "A", "Z"):
            return
        elif char.isdigit():
            raise ValueError("a back-reference")
        else:
            yield _ESCAPED.get(char, char)

    def _one_of(self, members: str) -> str:
        return members[self._nth % len(members)] if members else ""

    def _count(self) -> tuple[int, int]:
        char = self._next()
        least, most = {"?": (0, 1), "*": (0, _MOST), "+": (1, _MOST)}.get(char, (1, 1))
        if char in ("?", "*", "+") and char:
            self._at += 1
        elif counted := re.compile(r"\{(\d+)(,?)(\d*)\}").match(self._pattern, self._at):
            self._at = counted.end()
            least = int(counted[1])
            most = int(counted[3]) if counted[3] else (_MOST if counted[2] else least)
        else:
            return 1, 1
        if self._next() in ("?", "+"):
            self._at += 1
        return min(least, _MOST), min(most, _MOST)

    def _next(self) -> str:
        return self._pattern[self._at : self._at + 1]
