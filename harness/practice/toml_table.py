"""A TOML table read key by key: every complaint is one sentence that names the place and the remedy."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from harness.base.errors import HarnessError
from harness.base.files import NotRegularError, read_regular
from harness.base.toml import toml_of

Value = TypeVar("Value")


class ScriptError(HarnessError):
    """A script cannot be used. The text names the file, the entry and the remedy."""

    exit_code = 2


class Table:
    """A table of a script, with its place in the file."""

    def __init__(self, data: Mapping[str, Any], place: str) -> None:
        self.place = place
        self._data = data
        self._known: list[str] = []

    def text(self, key: str) -> str | None:
        """A string."""
        return self._get(key, str, "a string")

    def flag(self, key: str) -> bool | None:
        """true or false."""
        return self._get(key, bool, "true or false")

    def whole(self, key: str, least: int = 0) -> int | None:
        """A whole number."""
        value = self._get(key, int, "a whole number")
        if value is not None and value < least:
            raise self.error(f"{key} must be at least {least}, not {value}")
        return value

    def number(self, key: str, most: float | None = None) -> float | None:
        """A number, 0 or more."""
        value = self._get(key, (int, float), "a number")
        if value is not None and not 0 <= value <= (math.inf if most is None else most):
            limit = "0 or more" if most is None else f"between 0 and {most:g}"
            raise self.error(f"{key} must be {limit}, not {value}")
        return value

    def choice(self, key: str, choices: Iterable[str]) -> str | None:
        """One of some words."""
        value = self.text(key)
        if value is not None and value not in (known := tuple(choices)):
            raise self.error(f"{key} = {value!r} is not known{_nearest(value, known)}")
        return value

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of strings."""
        values = self._get(key, list, "a list of strings")
        if values is not None and not all(isinstance(value, str) for value in values):
            raise self.error(f"{key} must be a list of strings")
        return None if values is None else tuple(values)

    def mapping(self, key: str) -> Mapping[str, Any] | None:
        """A table that is taken as it is."""
        return self._get(key, dict, "a table such as { name = value }")

    def table(self, key: str, place: str | None = None) -> "Table | None":
        """A table within this one."""
        data = self.mapping(key)
        return None if data is None else Table(data, place or f"{self.place}, {key}")

    def tables(self, key: str) -> "tuple[Table, ...] | None":
        """A list of tables."""
        values = self._get(key, list, "a list of tables")
        if values is None:
            return None
        if not all(isinstance(value, dict) for value in values):
            raise self.error(f"{key} must be a list of tables such as [ {{ name = value }} ]")
        return tuple(Table(value, f"{self.place}, {key} {number}") for number, value in enumerate(values, 1))

    def any(self, key: str) -> Any:
        """A value of any type; None: the key is not there."""
        self._known.append(key)
        return self._data.get(key)

    def given(self, *keys: str) -> tuple[str, ...]:
        """Those of the keys that are there."""
        return tuple(key for key in keys if key in self._data)

    def expect(self, *keys: str) -> None:
        """Complain about any key but these, before anything else is said about the table."""
        self._known += keys
        self.done()

    def done(self) -> None:
        """Raise ScriptError for unknown keys."""
        for key in self._data:
            if key not in self._known:
                raise self.error(f"{key!r} is not known{_nearest(key, self._known)}")

    def error(self, problem: str) -> ScriptError:
        """A complaint about this table."""
        return ScriptError(f"{self.place}: {problem}.")

    def _get(self, key: str, type_: type[Value] | tuple[type[Value], ...], what: str) -> Value | None:
        value = self.any(key)
        if value is None:
            return None
        wrong_bool = isinstance(value, bool) and type_ is not bool
        if wrong_bool or not isinstance(value, type_):
            raise self.error(f"{key} must be {what}, not {value!r}")
        return value


def _nearest(word: str, known: Iterable[str]) -> str:
    words = sorted(map(str, known))
    near = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; known are {', '.join(words)}"


MOST_BYTES = 20_000_000
"""Of a file; replies that make a window overflow have room."""


@dataclass(frozen=True, slots=True)
class ShippedFiles:
    """One kind of file."""

    folder: str
    """Where those are that come with the program, in `harness.practice`."""
    called: str
    """In a sentence: "script file"."""

    def shipped(self) -> tuple[str, ...]:
        """Names of the files that come with the program."""
        files = (resources.files("harness.practice") / self.folder).iterdir()
        return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))

    def read(self, source: Path | str) -> tuple[str, str]:
        """The text of a file, and what it is called in a complaint. A file comes before a shipped one of its name.

        Raises ScriptError, one sentence.
        """
        path, name = Path(source), str(source)
        try:
            if name in self.shipped() and not path.exists():
                file = resources.files("harness.practice").joinpath(self.folder, f"{name}.toml")
                return file.read_text("utf-8"), f"{name}.toml"
            return read_regular(path, MOST_BYTES).decode().replace("\r\n", "\n"), name
        except FileNotFoundError as error:
            names = ", ".join(self.shipped())
            raise ScriptError(f"{name}: there is no such {self.called}; give a path, or one of {names}.") from error
        except (NotRegularError, IsADirectoryError) as error:
            what = f"not a regular file of at most {MOST_BYTES:,} bytes"
            raise ScriptError(f"{name}: is {what}; a {self.called} is TOML.") from error
        except (OSError, ValueError) as error:  # a null byte in a path is a ValueError, and text that is not UTF-8 too
            raise ScriptError(f"{name}: cannot be read ({error}); a {self.called} is TOML in UTF-8.") from error


def table_of(text: str, name: str) -> Table:
    """The outermost table of TOML text. Raises ScriptError, one sentence."""
    try:
        return Table(toml_of(text), name)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ScriptError(f"{name} is not valid TOML: {str(error)[:1].lower()}{str(error)[1:]}.") from error
    except RecursionError as error:
        raise ScriptError(f"{name}: is nested too deeply; write it in fewer levels.") from error
