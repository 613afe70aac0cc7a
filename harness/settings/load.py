"""All layers put together, what follows from them derived, the whole checked."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

from pydantic import ValidationError

from harness.base.errors import SettingsError
from harness.base.secrets import Secret
from harness.definitions import cost_claims, definition_folders
from harness.hooks import Hook, declared
from harness.sandbox.git_places import main_tree
from harness.settings.fields import PRACTICE_MODEL, Settings
from harness.settings.folder_trust import (
    FolderClaim,
    choices_of,
    claims_of,
    is_trusted,
    refuse_misplaced,
    refuse_never,
    remember_trust,
    servers_of,
    without_claims,
)
from harness.settings.sources import (
    SECRETS,
    SettingsLayer,
    SettingsSource,
    SettingValue,
    from_dotenv,
    from_environment,
    from_file,
    from_flags,
)
from harness.settings.value_types import rules_in, value_hint

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


PATHS = ("workspace", "practice_script", "tool_faults", "state_dir", "permissions_file", "user_dir", "home_dir")
SHIPPED = ("practice_script", "tool_faults")
"""Settings that may be the name of a file that comes with the program."""
KEYS_REASON = "a folder that you cloned must not decide about keys"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """For every setting, in words: "flag --model", "environment MODEL_ID", "/path/settings.toml: model", "default"."""
    notes: tuple[str, ...]
    """Oddities that stop nothing: a skipped line of .env, a variable that looks misspelt."""
    claims: tuple[FolderClaim, ...] = ()
    """What the files of the workspace set, and only with the user's trust may."""
    trust: bool | None = None
    """Whether the user trusts the workspace with its claims; None: they were not asked yet, or there is no claim."""
    remember: Callable[[], None] = lambda: None
    """Keeps a yes of the user, for this folder and these claims."""
    secrets: tuple[Secret, ...] = ()
    """Every key and token that was read, also those that another layer replaces or that were left out."""

    def require_answer(self) -> Self:
        """The same, for a program that cannot ask. Raises SettingsError where claims wait for the user's answer, and
        are not optional."""
        if self.trust is None and (waiting := [claim for claim in self.claims if not claim.optional]):
            claims = ", ".join(claim.origin for claim in waiting)
            raise SettingsError(
                f"{claims}: set by a folder that you have not said you trust; start `harness` in it and answer the "
                "question, or use --trust-folder to use it, --no-trust-folder to leave it out."
            )
        return self


def current_folder() -> Path:
    """The folder this process is in. Raises SettingsError if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError("The current folder no longer exists; change to another one.") from error


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    *,
    user_file: Path | None = None,
    keywords: bool = False,
) -> LoadedSettings:
    """Read the settings: flags > environment > .env of the workspace > project file > user file > defaults.

    Args:
        flags: values by the name of their setting; None as a value means not given.
        environ: the environment; None: that of this process.
        cwd: what relative paths start from and the default workspace; None: the current folder.
        user_file: the settings file of the user; None: where the platform keeps it.
        keywords: `flags` are arguments of a program, so messages name them as such.

    Raises SettingsError: one sentence with the flag, variable or file, what it holds and what would fit.
    """
    cwd = current_folder() if cwd is None else cwd
    user_file = user_settings_file() if user_file is None else user_file
    of_flags = from_flags(flags or {}, cwd, keywords=keywords)
    first = (of_flags, from_environment(os.environ if environ is None else environ, cwd))
    workspace = _workspace(_merged(first).get("workspace"), cwd)
    of_user = from_file(user_file, SettingsLayer.USER, user_file.parent)
    refuse_misplaced(of_user)
    folder = (from_dotenv(workspace), from_file(project_settings_file(workspace), SettingsLayer.PROJECT, workspace))
    for source in folder:
        refuse_never(source, user_file)
    claiming = (*folder, _choices_in(workspace))
    claims = claims_of(claiming)
    trust = _trust(workspace, claiming, (*first, of_user), user_file) if claims else None
    used = folder if trust else tuple(map(without_claims, folder))
    sources = (*first, *used, of_user)
    given = _merged(sources) | every_rule(sources)
    if (hooks := every_hook(sources)) is not None:
        given["hooks"] = hooks
    _refuse_redirection(given)
    values, origins = _derived(given)
    values.setdefault("permissions_file", user_file.parent / "permissions.toml")
    values.setdefault("user_dir", user_file.parent)
    with suppress(RuntimeError):  # a user without a home folder
        values.setdefault("home_dir", Path.home())
    if claims:
        values["trust_folder"] = trust  # what reads the folder's files goes by the answer, not by the flag
    settings = _checked(values | {"workspace": workspace}, given)
    notes = tuple(note for source in sources for note in source.notes)
    left_out = tuple(f"{claim.origin} is left out, because this folder is not trusted." for claim in claims)
    return LoadedSettings(
        settings,
        origins,
        (*notes, *(left_out if trust is False else ())),
        claims,
        trust,
        partial(remember_trust, user_file.parent, _repository(workspace), claiming),
        (*_secrets((*first, *folder, of_user)), *(header.value for header in settings.headers)),
    )


def _choices_in(workspace: Path) -> SettingsSource:
    """What the commands and agents of the workspace choose at the user's cost, and the MCP servers it would start."""
    commands = cost_claims(definition_folders("commands", workspace), ("model",))
    chosen = choices_of((*commands, *cost_claims(definition_folders("agents", workspace))), workspace)
    return SettingsSource({**chosen.given, **servers_of(workspace).given})


def _secrets(sources: Iterable[SettingsSource]) -> Iterable[Secret]:
    given = (one.value for source in sources for one in source.given.values())
    return (value for value in given if isinstance(value, Secret))


def project_settings_file(workspace: Path) -> Path:
    """The settings file of a workspace."""
    return workspace / ".harness" / "settings.toml"


def user_settings_file() -> Path:
    """The settings file of the user, where the platform keeps such files."""
    from platformdirs import user_config_path

    return user_config_path("harness", appauthor=False) / "settings.toml"


def _merged(sources: tuple[SettingsSource, ...]) -> dict[str, SettingValue]:
    merged: dict[str, SettingValue] = {}
    for source in reversed(sources):
        merged |= source.given
    return merged


def _workspace(given: SettingValue | None, cwd: Path) -> Path:
    if given is None:
        return cwd.resolve()
    folder = (cwd / Path(str(given.value)).expanduser()).resolve()
    if not folder.is_dir():
        raise SettingsError(f"Cannot use {given.origin} = {str(given.value)!r}: {folder} is no folder; name one.")
    return folder


def _trust(
    workspace: Path, folder: tuple[SettingsSource, ...], others: tuple[SettingsSource, ...], user_file: Path
) -> bool | None:
    """Whether the user trusts the folder with what its files set; None: not asked yet."""
    given = _merged(others)
    if (answer := given.get("trust_folder")) is not None:
        return _checked({"trust_folder": answer.value}, given).trust_folder
    places = {workspace, _repository(workspace)}  # trust is in the repository, not in one of its working trees
    if any(trusts(one, given) or is_trusted(user_file.parent, one, folder) for one in places):
        return True
    return None


def _repository(workspace: Path) -> Path:
    """The folder of the main working tree for one in a linked worktree, or the folder itself."""
    return main_tree(workspace) or workspace


def _refuse_redirection(given: Mapping[str, SettingValue]) -> None:
    address = given.get("base_url")
    credential = given.get("api_key") or given.get("auth_token")
    if (
        address
        and address.layer is SettingsLayer.DOTENV
        and credential
        and credential.layer is not SettingsLayer.DOTENV
    ):
        raise SettingsError(
            f"{address.origin} is refused together with {credential.origin}: {KEYS_REASON}; "
            "set the address where the key is set."
        )


def _derived(given: Mapping[str, SettingValue]) -> tuple[dict[str, object], dict[str, str]]:
    values = {name: _anchored(name, one) for name, one in given.items()}
    origins = dict.fromkeys(Settings.model_fields, "default") | {name: one.origin for name, one in given.items()}
    if "practice" not in given:
        if "practice_script" in given:
            values["practice"], origins["practice"] = True, f"follows from {origins['practice_script']}"
        elif not {"api_key", "auth_token", "base_url", "endpoint"} & given.keys():
            values["practice"], origins["practice"] = True, "default: no key, token or address is set"
    return values, origins


def _anchored(name: str, given: SettingValue) -> object:
    if name == "add_dirs" and isinstance(given.value, list | tuple):
        return tuple(given.base / Path(folder).expanduser() for folder in given.value if isinstance(folder, str | Path))
    if name in PATHS and isinstance(given.value, str | Path):
        path = given.base / Path(given.value).expanduser()
        shipped = name in SHIPPED and given.value == path.stem and not _is_there(path)
        return Path(given.value) if shipped else path
    return given.value


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that is too long is no file's
        return False


def _checked(values: Mapping[str, object], given: Mapping[str, SettingValue]) -> Settings:
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        name = str(error.errors(include_input=False, include_url=False)[0]["loc"][0])
        raise SettingsError(_misfit(name, given[name])) from error
    if settings.web_allowed_domains and settings.web_blocked_domains:
        both = f"{given['web_allowed_domains'].origin} and {given['web_blocked_domains'].origin}"
        raise SettingsError(f"{both} cannot both be set: the server takes one of the two lists; leave one of them out.")
    changes: dict[str, object] = {}
    if settings.practice and "model" not in given:
        changes["model"] = PRACTICE_MODEL
    return settings.model_copy(update=changes)


def _misfit(name: str, given: SettingValue) -> str:
    value = repr(given.value) if name not in SECRETS or isinstance(given.value, Secret) else "no text"
    shown = value if len(value) <= 80 else value[:79] + "…"
    wanted = value_hint(Settings.model_fields[name].rebuild_annotation())
    return f"Cannot use {given.place} = {shown}; give {wanted}."
