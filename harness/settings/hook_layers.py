"""Hooks of all layers together. A layer adds hooks and never takes those of another away.

What one layer says of any other setting takes the place of what those below it say. With hooks that would let a
folder switch off the guard that a person has put up for all folders.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.base.errors import SettingsError
from harness.hooks import Hook, declared
from harness.settings.sources import Given, Layer, Source

FOLDERS = (Layer.DOTENV, Layer.PROJECT)
"""Layers that come with a folder; their hooks are asked behind those of the person."""


def every_hook(sources: Iterable[Source]) -> Given | None:
    """The hooks of all layers, the person's own first; None where there are none. Raises SettingsError."""
    given = [source.given["hooks"] for source in sources if "hooks" in source.given]
    if not given:
        return None
    given.sort(key=lambda one: one.layer in FOLDERS)
    hooks = tuple(hook for one in given for hook in _read(one))
    return Given(hooks, given[0].layer, ", ".join(one.origin for one in given), given[0].base)


def trusts(workspace: Path, given: Mapping[str, Given]) -> bool:
    """Whether the person wants the hooks that the settings file of this folder brings. Raises SettingsError."""
    trusted = given.get("trusted_folders")
    if trusted is None:
        return False
    folders = trusted.value.split(",") if isinstance(trusted.value, str) else trusted.value
    if not isinstance(folders, list | tuple) or not all(isinstance(folder, str | Path) for folder in folders):
        raise SettingsError(f"Cannot use {trusted.origin} = {folders!r}; give a list of folders.")
    return any(_folder(trusted, folder) == workspace for folder in folders if str(folder).strip())


def _folder(given: Given, name: str | Path) -> Path:
    return (given.base / Path(str(name).strip()).expanduser()).resolve()


def _read(given: Given) -> tuple[Hook, ...]:
    try:
        return declared(json.loads(given.value) if isinstance(given.value, str) else given.value)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"Cannot use {given.origin}: {error}.") from error
