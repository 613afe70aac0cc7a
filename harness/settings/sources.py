"""Where values come from: flags, variables, .env and settings files, each as raw values with their origin."""

import io
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import Enum
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.files import read_regular
from harness.base.secrets import Secret
from harness.base.toml import key_lines, toml_of
from harness.model.endpoint import Header, header
from harness.model.prices import Price, PriceError, prices_in
from harness.settings.fields import Settings

FLAGS = {
    "fallback_models": "--fallback-model",
    "workspace": "--cwd",
    "practice_script": "--practice",
    "max_wait_s": "--max-wait",
}
"""Flags that are not called like their setting."""
VARIABLES = {
    "ANTHROPIC_API_KEY": "api_key",
    "ANTHROPIC_AUTH_TOKEN": "auth_token",
    "ANTHROPIC_BASE_URL": "base_url",
    "MODEL_ID": "model",
    "FALLBACK_MODEL_ID": "fallback_models",
}
"""Variables that other programs know too. For every setting there is also HARNESS_ and its name, which goes first."""
SECRETS = frozenset({"api_key", "auth_token"})


MOST_BYTES = 200_000
"""A larger settings file or .env was not written for us; reading its lines would take many seconds."""


PROCESS = "HARNESS_PROCESS"
"""Marks the processes that a session has started; set by `harness.processes` and no setting."""


_NO_SETTINGS = (
    *(
        PROCESS,
        "HARNESS_LIFELINE",
        "HARNESS_FLEET_URL",
        "HARNESS_TEST_",
        "HARNESS_INTEROP",
        "HARNESS_ACCOUNT",
        "HARNESS_PLATFORM",
    ),
    *("HARNESS_ORG", "HARNESS_PROJECT", "HARNESS_PIPELINE", "HARNESS_STAGE", "HARNESS_BUILD", "HARNESS_DELEGATE"),
)
"""Beginnings of variables that are meant for the tests, or for another program of this name (harness.io)."""


class SettingsLayer(Enum):
    """Who said it."""

    FLAG = "flag"
    ENVIRONMENT = "environment"
    DOTENV = ".env"
    PROJECT = "project file"
    USER = "user file"
    FILES = "files with commands and agents"


@dataclass(frozen=True, slots=True)
class SettingValue:
    """A value as it was given, not checked yet."""

    value: object
    layer: SettingsLayer
    origin: str
    """In words: "flag --model", "environment MODEL_ID", "/path/settings.toml: model"."""
    base: Path
    """What a relative path in the value starts from."""
    text: str = field(default="", repr=False)
    """All of the file; empty: there is none. It may hold keys."""

    @property
    def place(self) -> str:
        """`origin`, with the line of a file where it is known."""
        file, colon, name = self.origin.rpartition(": ")
        return f"{file}{_in_line(self.text, name)}{colon}{name}"


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """What one layer gives."""

    given: Mapping[str, SettingValue]
    notes: tuple[str, ...] = ()


def from_flags(flags: Mapping[str, object], cwd: Path, *, keywords: bool = False) -> SettingsSource:
    """Flags by the name of their setting, or `keywords` of a program; None means not given.

    Raises SettingsError for an unknown name.
    """
    given = {}
    for name, value in flags.items():
        flag = FLAGS.get(name, "--" + name.replace("_", "-"))
        if name not in Settings.model_fields:
            raise SettingsError(f"There is no setting {name!r}{_nearest(name, Settings.model_fields)}.")
        if value is not None:
            given[name] = _given(name, value, SettingsLayer.FLAG, name if keywords else f"flag {flag}", cwd)
    return SettingsSource(given)


def from_environment(
    environ: Mapping[str, str], base: Path, layer: SettingsLayer = SettingsLayer.ENVIRONMENT
) -> SettingsSource:
    """The variables that are settings. Empty ones count as not set, unknown ones that look like ours are noted."""
    variables = VARIABLES | {f"HARNESS_{name.upper()}": name for name in Settings.model_fields}
    given = {
        name: _given(name, environ[variable].strip(), layer, f"{layer.value} {variable}", base)
        for variable, name in variables.items()
        if environ.get(variable, "").strip()
    }
    strangers = (name for name in environ if name.startswith("HARNESS_") and name not in variables)
    notes = tuple(
        f"{layer.value} {name} is no setting{_nearest_variable(name, variables)}."
        for name in strangers
        if not name.startswith(_NO_SETTINGS)
    )
    return SettingsSource(given, notes)


def from_dotenv(workspace: Path) -> SettingsSource:
    """The .env file of the workspace.

    Nothing in it is expanded, so that a file cannot weave a secret of the environment into an address, and
    nothing is exported. Raises SettingsError when it cannot be read.
    """
    path = workspace / ".env"
    if path.is_dir() or not path.exists():  # a folder of this name is a virtual environment
        return SettingsSource({})
    from dotenv.parser import parse_stream

    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig", "replace")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}; make it readable or move it away.") from error
    bindings = list(parse_stream(io.StringIO(text)))
    notes = [f"{path}, line {one.original.line}, was skipped: it is not NAME=value." for one in bindings if one.error]
    source = from_environment(
        {one.key: one.value or "" for one in bindings if one.key}, workspace, SettingsLayer.DOTENV
    )
    return SettingsSource(source.given, (*notes, *source.notes))


def from_file(path: Path, layer: SettingsLayer, base: Path) -> SettingsSource:
    """A settings file; a missing one gives nothing. Raises SettingsError, with the line where there is one."""
    try:
        text = read_regular(path, MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n") + "\n"
        data = toml_of(text)  # with a line break, so that an error at the end has a line
    except (FileNotFoundError, NotADirectoryError):
        return SettingsSource({})
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}; make it readable or move it away.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{path} is not UTF-8 text; save it as such.") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{path} is not valid TOML: {error}; put this right.") from error
    except RecursionError as error:
        raise SettingsError(f"{path} is nested too deeply; put this right.") from error
    for name in data:
        if name not in Settings.model_fields:
            near = _nearest(name, Settings.model_fields)
            raise SettingsError(f"{path}{_in_line(text, name)}: there is no setting {name!r}{near}.")
    if "prices" in data:
        data["prices"] = _prices_in_file(path, text, data["prices"])
    if "headers" in data:
        data["headers"] = _headers_in_file(path, text, data["headers"])
    given = {
        name: replace(_given(name, value, layer, f"{path}: {name}", base), text=text) for name, value in data.items()
    }
    return SettingsSource(given, _open_to_others(path) if (SECRETS | {"headers"}) & given.keys() else ())


def _given(name: str, value: object, layer: SettingsLayer, origin: str, base: Path) -> SettingValue:
    if name in SECRETS and isinstance(value, str):
        value = Secret(value.strip())
    if name == "prices":
        value = _prices_in_variable(origin, value)
    if name == "headers":
        value = _headers_in_variable(origin, value)
    return SettingValue(value, layer, origin, base)


def _in_line(text: str, name: str) -> str:
    """The line of a key in the text of a file. Only a complaint asks for it: a good file is not looked through."""
    line = key_lines(text).get((name,))
    return "" if line is None else f", line {line}"


def _open_to_others(path: Path) -> tuple[str, ...]:
    if path.stat().st_mode & 0o077:
        return (f"{path} holds a secret and others may read it; run chmod 600 on it.",)
    return ()


def _nearest(name: str, known: Iterable[str], cutoff: float = 0.5) -> str:
    near = get_close_matches(name, known, n=1, cutoff=cutoff)
    return f", perhaps {near[0]!r} was meant" if near else ""


def _nearest_variable(name: str, known: Iterable[str]) -> str:
    """By the part behind the prefix, which all have in common."""
    parts = {one.removeprefix("HARNESS_"): one for one in known if one.startswith("HARNESS_")}
    near = get_close_matches(name.removeprefix("HARNESS_").upper(), parts, n=1, cutoff=0.75)
    return f", perhaps {parts[near[0]]!r} was meant" if near else "; `harness settings` lists them"


# ── settings that are tables: prices and headers ────────────────────────────────────────────────


def _prices_in_file(path: Path, text: str, tables: object) -> tuple[Price, ...]:
    """The prices that a settings file declares; `text` is all of it. Raises SettingsError, with file and line."""
    try:
        return prices_in(tables)
    except PriceError as error:
        found, keys = key_lines(text), ("prices", *error.path)
        line = next((found[keys[:length]] for length in range(len(keys), 0, -1) if keys[:length] in found), None)
        raise SettingsError(f"{path}{'' if line is None else f', line {line}'}: {_sentence(error)}") from error


def _prices_in_variable(origin: str, value: object) -> tuple[Price, ...]:
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


def _headers_in_file(path: Path, text: str, table: object) -> tuple[Header, ...]:
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


def _headers_in_variable(origin: str, value: object) -> tuple[Header, ...]:
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
