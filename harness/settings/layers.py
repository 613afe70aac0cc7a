"""Settings that add up over all layers: permission rules and hooks."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.base.errors import SettingsError
from harness.hooks import Hook, declared
from harness.settings.sources import SettingsLayer, SettingsSource, SettingValue
from harness.settings.value_types import rules_in

ADDED_UP = ("permissions_allow", "permissions_ask", "permissions_deny")


def every_rule(sources: Iterable[SettingsSource]) -> dict[str, SettingValue]:
    """The settings that hold rules, each with those of all layers. Raises SettingsError."""
    sources = tuple(sources)
    added = {}
    for name in ADDED_UP:
        layers = [source.given[name] for source in sources if name in source.given]
        if layers:
            rules = tuple(dict.fromkeys(rule for layer in layers for rule in _read(layer)))
            added[name] = SettingValue(
                rules, layers[0].layer, ", ".join(layer.origin for layer in layers), layers[0].base
            )
    return added


def _read(given: SettingValue) -> tuple[str, ...]:
    try:
        return rules_in(given.value)
    except ValueError as error:
        words = 'a list of rules, such as ["bash(npm run *)"]'
        raise SettingsError(f"Cannot use {given.origin} = {given.value!r}; give {words}.") from error


FOLDERS = (SettingsLayer.DOTENV, SettingsLayer.PROJECT)
"""Layers that come with a folder; their hooks run after those of the user."""


def every_hook(sources: Iterable[SettingsSource]) -> SettingValue | None:
    """The hooks of all layers, the user's own first; None if there are none. Raises SettingsError."""
    given = [source.given["hooks"] for source in sources if "hooks" in source.given]
    if not given:
        return None
    given.sort(key=lambda one: one.layer in FOLDERS)
    hooks = tuple(hook for one in given for hook in _hooks_in(one))
    return SettingValue(hooks, given[0].layer, ", ".join(one.origin for one in given), given[0].base)


def trusts(workspace: Path, given: Mapping[str, SettingValue]) -> bool:
    """Whether the user trusts this folder by `trusted_folders`. Raises SettingsError."""
    trusted = given.get("trusted_folders")
    if trusted is None:
        return False
    folders = trusted.value.split(",") if isinstance(trusted.value, str) else trusted.value
    if not isinstance(folders, list | tuple) or not all(isinstance(folder, str | Path) for folder in folders):
        raise SettingsError(f"Cannot use {trusted.origin} = {folders!r}; give a list of folders.")
    return any(_folder(trusted, folder) == workspace for folder in folders if str(folder).strip())


def _folder(given: SettingValue, name: str | Path) -> Path:
    return (given.base / Path(str(name).strip()).expanduser()).resolve()


def _hooks_in(given: SettingValue) -> tuple[Hook, ...]:
    try:
        return declared(json.loads(given.value) if isinstance(given.value, str) else given.value)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"Cannot use {given.origin}: {error}.") from error
