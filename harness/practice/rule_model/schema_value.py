"""A value that fits a JSON Schema: the plainest one, with what the prompt says where that is plain.

A model that is forced to call a tool, or to answer in a given form, gives what the schema asks for, whatever it was
asked. The rule-based model has no idea of most schemas. For each field it tries, in this order, what the prompt says,
the default and the examples of the schema, and plain values; the first that `jsonschema` accepts is taken. Of several
ways to fit (anyOf, oneOf) the first that works is taken, null last.
"""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from harness.events import Json
from harness.practice.rule_model.schema_facts import FORMATS, LONGEST, PromptFacts, fitted

_parser, _compiler = import_module("re._parser"), import_module("re._compiler")
_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ _-.:/@#,;!?()[]{}<>+*=%&$\"'\\|~^`\n\t"
"""Tried for a class of characters, in this order."""
_DEEPEST = 12
_ROOMY = 4
"""Down to this depth an array that may be empty has an item."""
_MOST_TRIES = 1_000
_MOST_ITEMS = 1_000
_MOST_REPEATS = 200
"""Of a part of a regular expression."""
_OBJECT_WORDS = {"properties", "required", "minProperties"}
_ARRAY_WORDS = {"items", "prefixItems", "minItems"}
_NUMBER_WORDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}


def value_of(schema: Any, prompt: str = "", answer: str = "") -> Any:
    """A value that fits `schema`.

    Args:
        schema: JSON Schema; `$ref` is looked up in it.
        prompt: the request, for values it names.
        answer: what the model would say, for fields that ask for a text of its own.
    """
    root = schema if isinstance(schema, dict) else {}
    return _Filler(root, PromptFacts(prompt, answer)).value(root, "", 0)


class _Filler:
    """One value in the making."""

    def __init__(self, root: Json, facts: PromptFacts) -> None:
        self._root = root
        self._facts = facts
        self._definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}

    def value(self, schema: Any, name: str, depth: int) -> Any:
        """A value for the field `name`."""
        return next(self._values(schema, name, depth), {})

    def _values(self, schema: Any, name: str, depth: int) -> Iterator[Any]:
        """Values that fit, all different; the first may come out of the prompt."""
        if not isinstance(schema, dict) or depth > _DEEPEST:
            return
        flat = self._without_references(schema, depth)
        for word in ("anyOf", "oneOf"):
            if options := [option for option in _list(flat.get(word)) if isinstance(option, dict)]:
                yield from self._alternatives(flat, word, options, name, depth)
                return
        match _kind_of(flat):
            case "object":
                yield from self._objects(flat, depth)
            case "array":
                yield self._array(flat, name, depth)
            case kind:
                yield from self._plain(flat, kind, name)

    def _alternatives(self, flat: Json, word: str, options: Sequence[Json], name: str, depth: int) -> Iterator[Any]:
        rest = {key: value for key, value in flat.items() if key != word}
        ways = [_merged(rest, self._without_references(option, depth)) for option in options]
        last = ("null",) if depth < _ROOMY else ("object", "array")  # which deep down may be infinite
        fallback: Any = None
        for way in sorted(ways, key=lambda way: _kind_of(way) in last):
            kept = self._facts.used
            for value in self._values(way, name, depth + 1):
                if self._fits(value, flat):
                    yield value
                else:
                    fallback = fallback or value
                    self._facts.used = kept
                    break
        if fallback is not None:
            yield fallback

    def _plain(self, flat: Json, kind: str, name: str) -> Iterator[Any]:
        seen, unfit = set[str](), list[Any]()
        for value in itertools.islice(self._candidates(flat, kind, name), _MOST_TRIES):
            if (key := json.dumps(value, sort_keys=True)) not in seen and self._fits(value, flat):
                seen.add(key)
                self._facts.use(value)
                yield value
            else:
                unfit.append(value)
        if not seen:
            yield from unfit[:1]

    def _candidates(self, flat: Json, kind: str, name: str) -> Iterator[Any]:
        if "const" in flat:
            yield flat["const"]
        elif members := _list(flat.get("enum")):
            yield from self._facts.members(members)
            yield from members
        else:
            yield from self._facts.values(kind, flat, name)
            yield from ([flat["default"]] if "default" in flat else [])
            yield from _list(flat.get("examples"))
            match kind:
                case "integer" | "number":
                    yield from _numbers(flat)
                case "boolean":
                    yield from (said := self._facts.mentions(name), not said)
                case "null":
                    yield None
                case _:
                    yield from _texts(flat, name)

    def _fits(self, value: Any, schema: Json) -> bool:
        """Whether `jsonschema` accepts a value; what it cannot judge fits."""
        from jsonschema import Draft202012Validator, FormatChecker
        from jsonschema.exceptions import UnknownType
        from referencing.exceptions import Unresolvable

        try:
            return Draft202012Validator(self._definitions | schema, format_checker=FormatChecker()).is_valid(value)
        except (UnknownType, Unresolvable, re.error, TypeError, ValueError):
            return True

    def _without_references(self, schema: Json, depth: int) -> Json:
        """The schema together with those of $ref and allOf."""
        flat = {key: value for key, value in schema.items() if key not in ("$ref", "allOf")}
        parts = [*_list(schema.get("allOf")), self._target(schema.get("$ref"))]
        for part in parts if depth <= 2 * _DEEPEST else ():
            if isinstance(part, dict):
                flat = _merged(flat, self._without_references(part, depth + 1))
        return flat

    def _target(self, reference: Any) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: Any = self._root
        for key in reference.removeprefix("#").strip("/").split("/") if reference != "#" else ():
            found = found.get(key.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found

    def _objects(self, schema: Json, depth: int) -> Iterator[Json]:
        fields: Json = properties if isinstance(properties := schema.get("properties"), dict) else {}
        required = [key for key in _list(schema.get("required")) if isinstance(key, str)]
        others, least = schema.get("additionalProperties", True), _count(schema, "minProperties", 0)
        keys = [key for key in dict.fromkeys((*fields, *required)) if key in required or self._facts.assigned(key)]
        keys += [key for key in fields if key not in keys][: max(0, least - len(keys))]
        if others is not False:
            keys += [f"key{number}" for number in range(1, least - len(keys) + 1)]
        more = others if isinstance(others, dict) else {}
        columns = {key: self._values(fields.get(key, more), key if key in fields else "", depth + 1) for key in keys}
        made: Json | None = None
        while made != (row := {key: next(column, (made or {}).get(key, {})) for key, column in columns.items()}):
            made = row
            yield made

    def _array(self, schema: Json, name: str, depth: int) -> list[Any]:
        first, rest = _list(schema.get("prefixItems")), schema.get("items", {})
        least, most = _count(schema, "minItems", 0), _count(schema, "maxItems", _MOST_ITEMS)
        roomy = depth < _ROOMY and not first and isinstance(schema.get("items"), dict)
        made = [self.value(item, name, depth + 1) for item in first[:most]]
        wanted = (max(least, min(1, most)) if roomy else least) - len(made)
        if wanted > 0 and rest is not False:
            singular = name[:-1] if name.endswith("s") and len(name) > 3 else name
            made += itertools.islice(self._values(rest, singular, depth + 1), wanted)
            if schema.get("uniqueItems") is not True:
                made += [self.value(rest, singular, depth + 1) for _ in range(len(made), least)]
        return made


def _kind_of(schema: Json) -> str:
    """The type of the values that a schema is for; the first where it takes several, and null last."""
    named = schema.get("type")
    kinds = [named] if isinstance(named, str) else [kind for kind in _list(named) if isinstance(kind, str)]
    for words, kind in ((_OBJECT_WORDS, "object"), (_ARRAY_WORDS, "array"), (_NUMBER_WORDS, "number")):
        if not kinds and words & schema.keys():
            return kind
    return min(kinds, key=lambda kind: kind == "null", default="string")


_BOUNDS: Mapping[str, Callable[..., Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
    "multipleOf": math.lcm,
}


def _merged(one: Json, other: Json) -> Json:
    """A schema for values that fit both, as far as two can be put together."""
    made = other | one
    for key in one.keys() & other.keys():
        match key, one[key], other[key]:
            case "properties", dict(mine), dict(theirs):
                shared = {name: {"allOf": [mine[name], theirs[name]]} for name in mine.keys() & theirs.keys()}
                made[key] = theirs | mine | shared
            case "required", list(mine), list(theirs):
                made[key] = [*mine, *theirs]
            case "enum" | "type", list(mine), list(theirs):
                made[key] = [member for member in mine if member in theirs] or mine
            case "type", list(mine), str(theirs) if theirs in mine:
                made[key] = theirs
            case "type", "number", "integer":
                made[key] = "integer"
            case _, int() | float() as mine, int() | float() as theirs if key in _BOUNDS:
                made[key] = _BOUNDS[key](mine, theirs)
            case "additionalProperties", _, False:
                made[key] = False
    return made


def _numbers(schema: Json) -> Iterator[int | float]:
    """Numbers from the one nearest to 0 on, in steps that the schema takes."""
    low = max(_number(schema, "minimum", -math.inf), _number(schema, "exclusiveMinimum", -math.inf))
    high = min(_number(schema, "maximum", math.inf), _number(schema, "exclusiveMaximum", math.inf))
    step = _number(schema, "multipleOf", 1) or 1
    start = math.ceil(min(max(0, low), high) / step) * step
    for distance in range(_MOST_TRIES // 3):
        for number in (start + distance * step, start - distance * step):
            yield int(number) if float(number).is_integer() else number
        if math.isfinite(high - low):
            yield low + (high - low) * (distance + 1) / (distance + 3)


def _texts(schema: Json, name: str) -> Iterator[str]:
    """Texts of the pattern, the format or the lengths that the schema asks for."""
    least, most = int(_number(schema, "minLength", 0)), int(_number(schema, "maxLength", LONGEST))
    if isinstance(pattern := schema.get("pattern"), str):
        yield from (fitted(text, least, most) for text in texts_matching(pattern))
        yield from texts_matching(pattern)
    if (form := FORMATS.get(str(schema.get("format")))) is not None:
        yield form[1]
        yield from (re.sub(r"\d(?=\D*$)", str(number), form[1]) for number in range(1, 10))
        yield from (f"a{number}.{form[1]}" for number in range(_MOST_ITEMS))
    words = re.sub(r"[_-]+", " ", name).strip() or "text"
    yield fitted(words, least, most)
    for number in range(2, _MOST_ITEMS):
        yield from (fitted(f"{number} {words}", least, most), str(number).rjust(least, "x"))


def texts_matching(pattern: str) -> Iterator[str]:
    """Some texts that a regular expression finds."""
    try:
        parsed = _parser.parse(pattern)
    except re.error:
        return
    yield from (text for nth in range(20) if re.search(pattern, text := _written(parsed, nth)))


def _written(parsed: Any, nth: int) -> str:
    """The `nth` of some texts of a parsed expression; look-arounds and references are left out."""
    text = ""
    for at, (operator, argument) in enumerate(parsed):
        match str(operator):
            case "LITERAL":
                text += chr(argument)
            case "NOT_LITERAL" | "IN" | "ANY":
                one = _compiler.compile(parsed[at : at + 1])
                members = [char for char in _CHARACTERS if one.match(char)]
                text += members[nth % len(members)] if members else ""
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, inner = argument
                text += _written(inner, nth) * min(max(least, min(1, most)), _MOST_REPEATS)
            case "SUBPATTERN":
                text += _written(argument[-1], nth)
            case "BRANCH":
                text += _written(argument[1][nth % len(argument[1])], nth)
    return text


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _number(schema: Json, key: str, otherwise: float) -> float:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _count(schema: Json, key: str, otherwise: int) -> int:
    return min(max(0, int(_number(schema, key, otherwise))), _MOST_ITEMS)
