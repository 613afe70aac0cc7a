"""Keys and tokens: a string that prints masked, and their removal from texts and events."""

import hmac
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from pydantic_core import CoreSchema


MASK = "•••"


class Secret:
    """A string that prints as "•••".

    Only `reveal` gives the value. It is masked in `repr`, `str`, format strings and everything
    pydantic writes out, cannot be pickled, and is compared in constant time.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself, for the one place that sends it."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(_bytes(self._value), _bytes(other._value))

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret cannot be pickled")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: object) -> "CoreSchema":
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(
            cls._validated,
            serialization=core_schema.to_string_ser_schema(when_used="always"),
        )

    @classmethod
    def _validated(cls, value: Any) -> "Secret":
        if isinstance(value, Secret):
            return value
        if isinstance(value, str):
            return cls(value)
        raise ValueError("a secret is text")


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


T = TypeVar("T")

SHORTEST_SECRET = 8
"""Characters; shorter values are ordinary words, and masking them would make texts unreadable."""
LONGEST_REST = 24
"""Characters of a long key that a cut may leave readable; of a short one it is half of the key."""
_WORD = re.compile(r"[a-z]+(?:[-_ ][a-z]+)*")
_LONGEST_WORD = 16
_BLOCK = 1 << 20


_NAME = re.compile(
    r"TOKEN|(?<!MON)KEY(?!BOARD|MAP|TIMEOUT)|SECRET|PASS(?!ENGER)|PWD|CRED|AUTH(?!OR)|PROXY|PAT$|DSN|COOKIE|SESSION"
    r"|_SK$|WEBHOOK",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[/~.]|[a-z]+[:/].*/|\d+$")
"""Values that are places or numbers."""
_USER_INFO = re.compile(r"(?<=://)[^/\s@:]*:([^/\s@]+)@")
_IN_VALUE = re.compile(
    r"(?<=://)(?=[^/\s@:]*\d)([^/\s@:]{16,})@"  # a token in the place of the user
    r"|(?:password|pwd|accountkey|accesskey|secret|token|sig)=\s*([^;&\s]+)"
    r"|\b((?:[sr]k_live_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|npm_|hf_|sk-|AIza|SG\.|dop_v1_)(?=[\w.-]*\d)[\w.-]{16,})"
    r"|hooks\.slack\.com/services/(\S+)",
    re.IGNORECASE,
)
"""Secrets that show by their form in a value of any name: in addresses and connection strings, and as services issue
them."""


def secret_name(name: str) -> bool:
    """Whether a variable of this name may hold a secret."""
    return _NAME.search(name) is not None


def secrets_in(environ: Mapping[str, str]) -> tuple[Secret, ...]:
    """The values of variables whose names promise a secret, and what shows by its form in the values of all."""
    found = [password for value in environ.values() for password in _USER_INFO.findall(value)]
    found += [one for value in environ.values() for forms in _IN_VALUE.findall(value) for one in forms if one]
    for name, value in environ.items():
        place = _PLAIN.match(value) or re.search(r"(?:PATH|SOCK|FILE|DIR)S?$", name, re.IGNORECASE)
        if secret_name(name) and not place and "://" not in value and "\n" not in value.strip():
            found.append(value.strip())
    return tuple(Secret(form) for value in dict.fromkeys(found) for form in dict.fromkeys((value, unquote(value))))


def without_passwords(text: str) -> str:
    """The text with the mask in the place of user and password, or of the token, in every address."""
    return re.sub(r"(?<=://)[^/\s@]+@", f"{MASK}@", text)


def is_secret(value: str) -> bool:
    """Whether a key is worth masking. A placeholder such as "practice" or "lm-studio" is a word of many texts."""
    return len(value) >= SHORTEST_SECRET and not (len(value) <= _LONGEST_WORD and _WORD.fullmatch(value))


class Masking:
    """Takes known keys out of texts, events and files. Knows none at first, and then costs nothing."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._forms: tuple[_Form, ...] = ()
        self.used = False
        """Something was masked."""
        self.learn(secrets)

    def learn(self, secrets: Iterable[Secret]) -> None:
        """Mask these as well from now on."""
        values = {secret.reveal() for secret in secrets if is_secret(secret.reveal())}
        written = {form for value in values for form in (value, json.dumps(value)[1:-1], quote(value, safe=""))}
        known = {form.text for form in self._forms} | written
        self._forms = tuple(map(_Form, sorted(known, key=lambda text: (-len(text), text))))

    def text(self, text: str) -> str:
        """The text with the mask in the place of every key."""
        shown = text
        for form in self._forms:
            shown = form.masked(shown)
        self.used |= shown is not text
        return shown

    def value(self, value: T) -> T:
        """The same with the mask in every text of it: an event, a message, JSON. Itself where nothing is masked."""
        return self._value(value) if self._forms else value

    def file(self, path: Path, start: int = 0) -> int:
        """Put asterisks in the place of every whole key in a file, from byte `start` on, without moving any other byte.

        Returns where to begin when the file has grown: before what may be the beginning of a key. A file that cannot be
        read and written stays as it is.
        """
        if not self._forms:
            return start
        keys = [form.text.encode() for form in self._forms]
        overlap = max(map(len, keys)) - 1
        try:
            with path.open("r+b") as file:
                at = start
                while True:
                    file.seek(at)
                    block = file.read(_BLOCK + overlap)
                    for place, length in _places(block, keys):
                        file.seek(at + place)
                        file.write(b"*" * length)
                        self.used = True
                    if len(block) <= overlap or len(block) < _BLOCK + overlap:
                        return max(start, at + len(block) - overlap)
                    at += _BLOCK
        except OSError:
            return start

    def _value(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case tuple() | list():
                return self._items(value)
            case Mapping():
                masked = {self._value(key): self._value(inner) for key, inner in value.items()}
                same = all(map(lambda new, old: new is old, masked.values(), value.values()))
                return value if same and all(key in value for key in masked) else masked
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._fields(value)
            case _:
                return value

    def _items(self, items: Sequence[Any]) -> Any:
        masked = [self._value(item) for item in items]
        if all(new is old for new, old in zip(masked, items, strict=True)):
            return items
        return tuple(masked) if isinstance(items, tuple) else masked

    def _fields(self, value: Any) -> Any:
        changed = {}
        for field in fields(value):
            old = getattr(value, field.name)
            if (new := self._value(old)) is not old:
                changed[field.name] = new
        return replace(value, **changed) if changed else value


class _Form:
    """A key as it may be written."""

    __slots__ = ("_beginning", "_end", "text")

    def __init__(self, text: str) -> None:
        rest = min(LONGEST_REST, max(SHORTEST_SECRET, len(text) // 2))
        self.text = text
        self._beginning, self._end = text[:rest], text[-rest:]

    def masked(self, text: str) -> str:
        """The text without the key, its longer beginnings and its longer ends; itself where none is found."""
        at = text.find(self._beginning)
        while at >= 0:
            end = at + _alike(text[at : at + len(self.text)], self.text)
            text = text[:at] + MASK + text[end:]
            at = text.find(self._beginning, at + len(MASK))
        at = text.find(self._end)
        while at >= 0:
            end = at + len(self._end)
            begin = end - _alike(text[max(0, end - len(self.text)) : end][::-1], self.text[::-1])
            text = text[:begin] + MASK + text[end:]
            at = text.find(self._end, begin + len(MASK))
        return text


def _alike(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _places(block: bytes, keys: Iterable[bytes]) -> list[tuple[int, int]]:
    return [(found.start(), len(key)) for key in keys for found in re.finditer(re.escape(key), block)]
