"""Settings that are tables: prices and headers."""

import json
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.toml import key_lines
from harness.model.endpoint import Header, header
from harness.model.prices import Price, PriceError, prices_in


def prices_in_file(path: Path, text: str, tables: object) -> tuple[Price, ...]:
    """The prices that a settings file declares; `text` is all of it. Raises SettingsError, with file and line."""
    try:
        return prices_in(tables)
    except PriceError as error:
        found, keys = key_lines(text), ("prices", *error.path)
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


def headers_in_file(path: Path, text: str, table: object) -> tuple[Header, ...]:
    """The headers that a settings file declares; `text` is all of it. Raises SettingsError, with file and line."""
    lines = key_lines(text)
    first = lines.get(("headers",), 1)
    if not isinstance(table, dict):
        raise SettingsError(f"{path}, line {first}: headers is not a table; write [headers].")
    found = []
    for name, value in table.items():
        where = f"{path}, line {lines.get(('headers', name), first)}"
        if not isinstance(value, str):
            raise SettingsError(f'{where}: the header {name} is not a text; write {name} = "…".')
        found.append(_header(where, name, value))
    return tuple(found)


def headers_in_variable(origin: str, value: object) -> tuple[Header, ...]:
    """The headers that a variable or a program gives: one a line, as "X-Team: blue". Raises SettingsError."""
    if isinstance(value, tuple) and all(isinstance(one, Header) for one in value):
        return value
    if not isinstance(value, str):
        raise SettingsError(f'Cannot use {origin}: give lines such as "X-Team: blue".')
    found = []
    for number, line in enumerate(value.splitlines(), 1):
        name, colon, content = line.partition(":")
        if line.strip() and not colon:
            raise SettingsError(f'Cannot use {origin}: line {number} has no colon; give lines such as "X-Team: blue".')
        if colon:
            found.append(_header(f"Cannot use {origin}", name, content))
    return tuple(found)


def _header(where: str, name: str, value: str) -> Header:
    try:
        return header(name, value)
    except ValueError as error:
        raise SettingsError(f"{where}: {error}.") from None  # its cause may show the value
