"""The rules that the user saved for all sessions, in the file `permissions.toml` beside their settings.

    allow = ["bash(npm run *)"]
    ask = []
    deny = ["read(~/.ssh/**)"]

The file is read when a session begins. To keep a rule it is read again under a lock and put in its place at once, so
that sessions side by side lose nothing of each other. One that cannot be understood is never written over.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import SettingsError
from harness.base.files import locked_file, read_regular, replace_atomically
from harness.base.toml import toml_of
from harness.permissions import Verdict

MOST_BYTES = 200_000
HEAD = "# Rules that you keep for all sessions. /permissions lists them, adds to them and removes them.\n"

SavedRules = Mapping[Verdict, tuple[str, ...]]
"""The rules by what they say."""


class PermissionFile:
    """The saved rules of the user."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> SavedRules:
        """The rules; none where there is no file. Raises SettingsError, one sentence with the file."""
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
        if strange := [name for name in data if name not in tuple(Verdict)]:
            raise self._unusable(f"it may hold allow, ask and deny, and not {strange[0]!r}")
        return {verdict: self._rules(verdict, data.get(verdict.value, [])) for verdict in Verdict}

    def add(self, verdict: Verdict, rule: str) -> None:
        """Save a rule. Raises SettingsError when the file cannot be used or written."""
        with locked_file(self.path, SettingsError, if_held="; try again"):
            kept = self.read()
            if rule not in kept[verdict]:
                self._write({**kept, verdict: (*kept[verdict], rule)})

    def remove(self, verdict: Verdict, rule: str) -> None:
        """Remove a saved rule. Raises SettingsError when the file cannot be used or written."""
        with locked_file(self.path, SettingsError, if_held="; try again"):
            kept = self.read()
            self._write({**kept, verdict: tuple(one for one in kept[verdict] if one != rule)})

    def _write(self, kept: SavedRules) -> None:
        lines = [HEAD]
        for verdict, rules in kept.items():
            inside = "".join(f"    {json.dumps(rule, ensure_ascii=False)},\n" for rule in rules)
            lines.append(f"{verdict.value} = [\n{inside}]\n" if rules else f"{verdict.value} = []\n")
        replace_atomically(self.path, "".join(lines).encode("utf-8"), private=True)

    def _rules(self, verdict: Verdict, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(rule, str) for rule in value):
            raise self._unusable(f'{verdict.value} has to be a list of rules, such as ["bash(npm run *)"]')
        return tuple(value)

    def _unusable(self, why: str) -> SettingsError:
        return SettingsError(f"{self.path} cannot be used: {why}; put this right or move it away.")
