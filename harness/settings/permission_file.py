"""The rules that the user saved for all sessions, in the file `permissions.toml` beside their settings.

    allow = ["bash(npm run *)"]
    ask = []
    deny = ["read(~/.ssh/**)"]

    [folders."/home/ada/project"]
    allow = ["bash(npm test)"]

Rules below `folders` hold in sessions in that folder: those that the user saved in answer to a question.
`sandbox_hosts` lists hosts that commands in the sandbox reach, like the setting of that name. The file is read when a
session begins. To keep a rule it is read again under a lock and put in its place at once, so that sessions side by side
lose nothing of each other. One that cannot be understood is never written over.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.files import locked_file, read_regular, replace_atomically
from harness.base.toml import toml_of
from harness.permissions import Verdict
from harness.settings.value_types import hosts_in

MOST_BYTES = 200_000
HEAD = "# Rules that you keep. /permissions lists them, adds to them and removes them.\n"
FOLDERS = "folders"

HOSTS = "sandbox_hosts"
_LISTS = (*(verdict.value for verdict in Verdict), HOSTS)

SavedRules = Mapping[str, tuple[str, ...]]
"""The rules by what they say, and the hosts under `HOSTS`."""
_NONE: SavedRules = dict.fromkeys(_LISTS, ())


class PermissionFile:
    """The saved rules of the user that hold in one folder."""

    def __init__(self, path: Path, folder: str) -> None:
        """`folder`: the workspace, absolute, links resolved."""
        self.path = path
        self._folder = folder

    def read(self) -> SavedRules:
        """The rules for all folders and for this one. Raises SettingsError, one sentence with the file."""
        everywhere, folders = self._read()
        here = folders.get(self._folder, _NONE)
        return {name: tuple(dict.fromkeys((*everywhere[name], *here[name]))) for name in _LISTS}

    def _read(self) -> tuple[SavedRules, dict[str, SavedRules]]:
        """The rules for all folders, and those for each one; none where there is no file."""
        try:
            data = toml_of(read_regular(self.path, MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n"))
        except (FileNotFoundError, NotADirectoryError):
            data = {}
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except UnicodeDecodeError as error:
            raise self._unusable("it is not UTF-8 text") from error
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise self._unusable(f"it is not valid TOML: {error}") from error
        folders = data.pop(FOLDERS, {})
        if not isinstance(folders, dict) or not all(isinstance(one, dict) for one in folders.values()):
            raise self._unusable(
                f'{FOLDERS} has to hold a table for each folder, such as [{FOLDERS}."/home/ada/project"]'
            )
        return self._table(data), {folder: self._table(one) for folder, one in folders.items()}

    def _table(self, data: Mapping[str, object]) -> SavedRules:
        if strange := [name for name in data if name not in _LISTS]:
            raise self._unusable(f"it may hold {', '.join(_LISTS)} and {FOLDERS}, and not {strange[0]!r}")
        return {name: self._rules(name, data.get(name, [])) for name in _LISTS}

    def add(self, verdict: str, rule: str, *, here: bool = False) -> None:
        """Save a rule or a host, for all folders or for this one. Raises SettingsError if the file cannot be used."""
        with locked_file(self.path, SettingsError, if_held="; try again"):
            everywhere, folders = self._read()
            kept = folders.get(self._folder, _NONE) if here else everywhere
            if rule not in kept[verdict]:
                kept = {**kept, verdict: (*kept[verdict], rule)}
                self._write(*((everywhere, {**folders, self._folder: kept}) if here else (kept, folders)))

    def remove(self, verdict: str, rule: str) -> None:
        """Remove a saved rule, from all folders and from this one. Raises SettingsError as `add`."""
        with locked_file(self.path, SettingsError, if_held="; try again"):
            everywhere, folders = self._read()
            here = folders.get(self._folder, _NONE)
            self._write(_without(everywhere, verdict, rule), {**folders, self._folder: _without(here, verdict, rule)})

    def _write(self, everywhere: SavedRules, folders: Mapping[str, SavedRules]) -> None:
        lines = [HEAD, *_lines(everywhere)]
        for folder, kept in folders.items():
            if any(kept.values()):
                lines += [f"\n[{FOLDERS}.{json.dumps(folder, ensure_ascii=False)}]\n", *_lines(kept)]
        replace_atomically(self.path, "".join(lines).encode("utf-8"), private=True)

    def _rules(self, name: str, value: object) -> tuple[str, ...]:
        what = 'hosts without https://, such as ["pypi.org"]' if name == HOSTS else 'rules, such as ["bash(npm run *)"]'
        with suppress(ValueError):
            if isinstance(value, list) and all(isinstance(rule, str) for rule in value):
                return hosts_in(value) if name == HOSTS else tuple(value)
        raise self._unusable(f"{name} has to be a list of {what}")

    def _unusable(self, why: str) -> SettingsError:
        return SettingsError(f"{self.path} cannot be used: {why}; put this right or move it away.")


def _without(kept: SavedRules, verdict: str, rule: str) -> SavedRules:
    return {**kept, verdict: tuple(one for one in kept[verdict] if one != rule)}


def _lines(kept: SavedRules) -> Iterator[str]:
    for name, rules in kept.items():
        inside = "".join(f"    {json.dumps(rule, ensure_ascii=False)},\n" for rule in rules)
        if rules or name != HOSTS:
            yield f"{name} = [\n{inside}]\n" if rules else f"{name} = []\n"
