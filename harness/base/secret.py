"""A key or token that cannot be shown by accident."""

import hmac
from typing import TYPE_CHECKING, Any, NoReturn, Self

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
