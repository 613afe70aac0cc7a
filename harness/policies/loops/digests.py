"""Digests of calls and results that are equal in every process (docs/design/loops.md#observations).

Ids of requests and times are left out. Other numbers are not: pages and percentages are progress.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from enum import Enum

LONGEST_TEXT = 100_000
"""Characters of a result that are looked at: its beginning and its end."""
MOST_VALUES = 100_000
"""Values that are looked at inside one value. Of a longer list the beginning and the end count; a set in which each
element would get less than one counts by its size."""
DEEPEST = 100
"""Levels that are looked at."""
VOLATILE = frozenset(
    (
        *("timestamp", "nonce", "thought", "thoughts", "reasoning", "rationale"),
        *("requestid", "traceid", "spanid", "correlationid", "idempotencykey", "tooluseid", "callid"),
    )
)
"""Fields that are not part of a request, in lower case and without "_" and "-"."""

_DIGEST_BYTES = 8


def digest(*parts: str) -> str:
    """16 hexadecimal digits. ("ab", "c") is another than ("a", "bc")."""
    text = f"{[*map(len, parts)]}{''.join(parts)}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()


def action_of(tool: str, arguments: object) -> str:
    """The digest of a call: which tool, with which arguments; volatile fields do not count."""
    return digest(tool, canonical(arguments))


def result_of(text: str) -> str:
    """The digest of what a call gave back, as `normalised_result` reads it."""
    return digest(normalised_result(text))


# ── values ──────────────────────────────────────────────────────────────────────────────────────


def canonical(value: object) -> str:
    """Any value as JSON of one form: the same value gives the same text in every process.

    Names are sorted, volatile ones left out; sets are sorted; tuples are lists. What JSON does not know says its type
    and its fields; no address and no order of hashing gets in. Takes time that grows with the size of the value, and
    looks at `MOST_VALUES` values at most.
    """
    return _Writer(MOST_VALUES).text(value)


class _Writer:
    """Writes one value, as far as it may."""

    def __init__(self, left: int) -> None:
        self.left = left
        """Values that may still be written."""
        self._above: list[int] = []
        """The containers that are being written, by identity, outermost first."""

    def text(self, value: object) -> str:
        if self.left <= 0:
            return '{"$more":true}'
        self.left -= 1
        match value:
            case Enum():
                return _tagged(_type_of(value), _string(value.name))
            case None:
                return "null"
            case bool():
                return "true" if value else "false"
            case int():
                return str(value) if -(10**18) < value < 10**18 else _tagged("int", _string(hex(value)))
            case float():
                return _tagged("float", _string(repr(value))) if value != value or value in _INFINITE else repr(value)
            case str():
                return _string(value)
            case bytes() | bytearray() | memoryview():
                return _tagged("bytes", _string(bytes(value).hex()))
        return self._nested(value)

    def _nested(self, value: object) -> str:
        if id(value) in self._above:
            return _tagged("cycle", str(len(self._above) - self._above.index(id(value))))
        if len(self._above) >= DEEPEST:
            return _tagged("deep", _string(_type_of(value)))
        self._above.append(id(value))
        try:
            return self._container(value)
        finally:
            self._above.pop()

    def _container(self, value: object) -> str:
        match value:
            case Mapping():
                return self._mapping(value)
            case Set():
                return _tagged("set", self._set(value))
            case Sequence():
                return self._sequence(value)
        return _tagged(_type_of(value), self._fields(value))

    def _fields(self, value: object) -> str:
        if isinstance(name := getattr(value, "__qualname__", None), str):  # a class or a function
            return _string(name)
        if hasattr(value, "__fspath__"):
            return _string(str(value))
        if isinstance(value, BaseException):
            return self._sequence(value.args)
        if is_dataclass(value):
            return self._mapping({one.name: getattr(value, one.name, None) for one in fields(value)})
        if attributes := _attributes(value):
            return self._mapping(attributes)
        written = repr(value) if type(value).__repr__ is not object.__repr__ else ""
        return _string(_ADDRESS.sub("", written))

    def _mapping(self, value: Mapping[object, object] | dict[str, object]) -> str:
        share = self.left // max(1, len(value))
        named: list[tuple[str, object]] = []
        for key, item in value.items():
            if isinstance(key, str):
                if key.lower().replace("_", "").replace("-", "") not in VOLATILE:
                    named.append((_string(key), item))
            else:
                named.append((_string("$" + self._alone(key, share)), item))
        named.sort(key=lambda pair: pair[0])
        return "{" + ",".join([f"{name}:{self.text(item)}" for name, item in named[: self.left + 1]]) + "}"

    def _set(self, value: Set[object]) -> str:
        if len(value) > self.left:
            return str(len(value))
        share = self.left // max(1, len(value))
        return "[" + ",".join(sorted([self._alone(item, share) for item in value])) + "]"

    def _alone(self, value: object, share: int) -> str:
        """Written with an allowance of its own, so that the order of a set does not show."""
        writer = _Writer(share)
        writer._above = self._above.copy()
        text = writer.text(value)
        self.left -= share - writer.left
        return text

    def _sequence(self, value: Sequence[object]) -> str:
        if len(value) <= self.left:
            return "[" + ",".join([self.text(item) for item in value]) + "]"
        half = self.left // 2
        ends = [self.text(value[at]) for at in (*range(half), *range(len(value) - half, len(value)))]
        return _tagged("long", f"[{len(value)},{','.join(ends)}]")


_INFINITE = (float("inf"), float("-inf"))


_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{1,16}")


def _attributes(value: object) -> dict[str, object]:
    slots = [name for one in type(value).__mro__ for name in _as_names(vars(one).get("__slots__", ()))]
    slotted = {name: getattr(value, name) for name in slots if not name.startswith("__") and hasattr(value, name)}
    return slotted | getattr(value, "__dict__", {})


def _as_names(slots: object) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else list(slots) if isinstance(slots, Iterable) else ()


def _string(text: str) -> str:
    return json.dumps(text)


def _type_of(value: object) -> str:
    return type(value).__qualname__


def _tagged(kind: str, text: str) -> str:
    return f'{{"${kind}":{text}}}'


# ── results ─────────────────────────────────────────────────────────────────────────────────────

# Each part matches in time that does not depend on the length of the text, or takes what it has looked at (`++`).
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_VOLATILE_PARTS = re.compile(
    rf"""
      (?<![0-9a-z]) (?:
        [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} (?:[t\ ][0-9]{{2}}:?[0-9]{{2}}(?::?[0-9]{{2}}(?:[.,][0-9]{{1,9}})?)?)?
            (?:\ ?(?:z|utc|gmt|[+-][0-9]{{2}}:?[0-9]{{2}}))?
      | [0-9]{{8}}t[0-9]{{6}}z?
      | [0-9]{{1,2}}/[0-9]{{1,2}}/[0-9]{{4}}
      | (?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{{0,6}},?\ )? (?:{_MONTH}\ [0-9]{{1,2}}|[0-9]{{1,2}}\ {_MONTH})
            (?:,?\ [0-9]{{4}}(?![0-9:]))?
      | 1[5-9][0-9]{{8}}(?:[0-9]{{3}})?(?:\.[0-9]{{1,9}})?                               # seconds since 1970
      | [0-9a-f]{{8}}(?:-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}                              # UUIDs
      | [0-9]{{1,9}}(?:\.[0-9]{{1,9}})?\ ?
            (?:ns|us|µs|ms|s|secs?|seconds?|milliseconds?|m[0-9]{{1,2}}(?:\.[0-9]{{1,9}})?s)
      | (?:0x)?(?=[a-f]*+[0-9])(?=[0-9]*+[a-f])[0-9a-f]{{4,}}+                         # ids and addresses
      ) (?![0-9a-z])
    | (?<![0-9a-z:.]) (?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.,][0-9]{{1,9}})?)?
            (?:\ ?(?:am|pm|z|utc|gmt|[+-][0-9]{{2}}:?[0-9]{{2}}))? (?![0-9a-z]|:[0-9])
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def normalised_result(text: str) -> str:
    """A result without times of day, dates, durations and hexadecimal ids, so that only what it says is compared.

    Of a text of more than `LONGEST_TEXT` characters the beginning and the end are looked at. Idempotent.
    """
    if len(text) > LONGEST_TEXT:
        text = f"{text[: LONGEST_TEXT // 2]}\n{text[-LONGEST_TEXT // 2 :]}"
    return _VOLATILE_PARTS.sub("~", text)
