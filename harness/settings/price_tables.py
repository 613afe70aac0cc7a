"""Prices as they are given: tables of a settings file, or JSON in a variable."""

import json
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.toml_lines import places
from harness.model.prices import Price, PriceError, prices_in


def prices_in_file(path: Path, text: str, tables: object) -> tuple[Price, ...]:
    """The prices that a settings file declares; `text` is all of it. Raises SettingsError, with file and line."""
    try:
        return prices_in(tables)
    except PriceError as error:
        found, keys = places(text), ("prices", *error.path)
        line = next((found[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in found), None)
        raise SettingsError(f"{path}{'' if line is None else f', line {line}'}: {_sentence(error)}") from error


def prices_in_variable(origin: str, value: object) -> tuple[Price, ...]:
    """The prices that a variable, a flag or a program gives: tables, or their JSON. Raises SettingsError."""
    if isinstance(value, tuple) and all(isinstance(price, Price) for price in value):
        return value
    try:
        return prices_in(json.loads(value) if isinstance(value, str) else value)
    except PriceError as error:
        raise SettingsError(f"Cannot use {origin}: {_sentence(error)}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"Cannot use {origin}: it is not valid JSON ({error}); put this right.") from error


def _sentence(error: PriceError) -> str:
    return f"price of {error.path[0]}: {error}." if error.path else f"{error}."
