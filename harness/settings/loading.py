"""All layers put together, what follows from them derived, the whole checked."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from harness.errors import SettingsError
from harness.secret import Secret
from harness.settings.fields import PRACTICE_MODEL, Settings
from harness.settings.hook_layers import every_hook, trusts
from harness.settings.kinds import words_for
from harness.settings.rule_layers import OF_THE_PERSON, every_rule
from harness.settings.sources import (
    SECRETS,
    Given,
    Layer,
    Source,
    from_dotenv,
    from_environment,
    from_file,
    from_flags,
)

PATHS = ("workspace", "practice_script", "tool_faults", "state_dir", "permissions_file", "user_dir")
SHIPPED = ("practice_script", "tool_faults")
"""Settings that may be the name of a file that comes with the program."""
KEYS_REASON = "a folder that you cloned must not decide about keys"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, and where each came from."""

    settings: Settings
    origins: Mapping[str, str]
    """For every setting, in words: "flag --model", "environment MODEL_ID", "/path/settings.toml: model", "default"."""
    notes: tuple[str, ...]
    """Oddities that stop nothing: a skipped line of .env, a variable that looks misspelt."""
    trusts_workspace: bool = False
    """Whether the person wants the hooks that settings files of the workspace bring, if they bring any."""


def current_folder() -> Path:
    """The folder this process is in. Raises SettingsError when somebody has deleted it."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError("The folder you are in does not exist any more; change to one that does.") from error


def load(
    flags: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    *,
    user_file: Path | None = None,
) -> Loaded:
    """Read the settings: flags > environment > .env of the workspace > project file > user file > defaults.

    Args:
        flags: values by the name of their setting; None as a value means not given.
        environ: the environment; None: that of this process.
        cwd: what relative paths start from and the default workspace; None: the current folder.
        user_file: the settings file of the user; None: where the platform keeps it.

    Raises SettingsError: one sentence with the flag, variable or file, what it holds and what would fit.
    """
    cwd = current_folder() if cwd is None else cwd
    user_file = user_settings_file() if user_file is None else user_file
    first = (from_flags(flags or {}, cwd), from_environment(os.environ if environ is None else environ, cwd))
    workspace = _workspace(_merged(first).get("workspace"), cwd)
    of_user = _restricted(from_file(user_file, Layer.USER, user_file.parent), {"workspace"}, user_file)
    trusted = trusts(workspace, _merged((*first, of_user)))
    sources = (
        *first,
        _restricted(from_dotenv(workspace), {"workspace"}, user_file, trusted=trusted),
        _restricted(
            from_file(project_settings_file(workspace), Layer.PROJECT, workspace),
            {"workspace", "base_url", *SECRETS},
            user_file,
            trusted=trusted,
        ),
        of_user,
    )
    given = _merged(sources) | every_rule(sources)
    if (hooks := every_hook(sources)) is not None:
        given["hooks"] = hooks
    _refuse_redirection(given)
    values, origins = _derived(given)
    values.setdefault("permissions_file", user_file.parent / "permissions.toml")
    values.setdefault("user_dir", user_file.parent)
    settings = _checked(values | {"workspace": workspace}, given)
    return Loaded(settings, origins, tuple(note for source in sources for note in source.notes), trusted)


def project_settings_file(workspace: Path) -> Path:
    """The settings file of a workspace."""
    return workspace / ".harness" / "settings.toml"


def user_settings_file() -> Path:
    """The settings file of the user, where the platform keeps such files."""
    from platformdirs import user_config_path

    return user_config_path("harness", appauthor=False) / "settings.toml"


def _merged(sources: tuple[Source, ...]) -> dict[str, Given]:
    merged: dict[str, Given] = {}
    for source in reversed(sources):
        merged |= source.given
    return merged


def _workspace(given: Given | None, cwd: Path) -> Path:
    if given is None:
        return cwd.resolve()
    folder = (cwd / Path(str(given.value)).expanduser()).resolve()
    if not folder.is_dir():
        raise SettingsError(f"Cannot use {given.origin} = {str(given.value)!r}: {folder} is no folder; name one.")
    return folder


def _restricted(source: Source, forbidden: set[str], user_file: Path, *, trusted: bool = True) -> Source:
    """The source, unless it sets what only the person may set; a folder's files are not the person.

    `trusted`: the person agreed that the files of this folder may bring hooks.
    """
    for name, given in source.given.items():
        if name == "workspace":
            raise SettingsError(f"{given.origin} cannot be set in a file; use --cwd or HARNESS_WORKSPACE.")
        if name == "tool_faults" and given.layer is not Layer.USER:
            raise SettingsError(
                f"{given.origin} is refused: a folder that you cloned must not break your tools; "
                "use the flag --tool-faults."
            )
        if name == "user_dir" and given.layer is not Layer.USER:
            raise SettingsError(
                f"{given.origin} is refused: a folder that you cloned must not bring what counts as yours; "
                f"put it into {user_file}."
            )
        if name == "trusted_folders" and given.layer is not Layer.USER:
            raise SettingsError(
                f"{given.origin} is refused: a folder that you cloned must not trust itself; put it into {user_file}."
            )
        if name == "hooks" and not trusted:
            raise SettingsError(
                f"{given.origin} is refused: a folder that you cloned must not run programs; read them, then put the "
                f"hooks you want into {user_file}, or the folder into its trusted_folders."
            )
        if name in forbidden:
            raise SettingsError(
                f"{given.origin} is refused: {KEYS_REASON}; put it into the environment or {user_file}."
            )
        if name in OF_THE_PERSON and given.layer is not Layer.USER:
            raise SettingsError(
                f"{given.origin} is refused: a folder that you cloned must not switch questions off; "
                f"put it into {user_file}."
            )
        if name == "permission_mode" and given.value in ("edits", "yolo") and given.layer is not Layer.USER:
            remedy = "use the flag --yolo" if given.value == "yolo" else f"put it into {user_file}"
            raise SettingsError(
                f"{given.origin} = {given.value!r} is refused: a folder that you cloned must not switch questions off; "
                f"{remedy}."
            )
    return source


def _refuse_redirection(given: Mapping[str, Given]) -> None:
    address = given.get("base_url")
    credential = given.get("api_key") or given.get("auth_token")
    if address and address.layer is Layer.DOTENV and credential and credential.layer is not Layer.DOTENV:
        raise SettingsError(
            f"{address.origin} is refused together with {credential.origin}: {KEYS_REASON}; "
            "set the address where the key is set."
        )


def _derived(given: Mapping[str, Given]) -> tuple[dict[str, object], dict[str, str]]:
    values = {name: _anchored(name, one) for name, one in given.items()}
    origins = dict.fromkeys(Settings.model_fields, "default") | {name: one.origin for name, one in given.items()}
    if "practice" not in given:
        if "practice_script" in given:
            values["practice"], origins["practice"] = True, f"follows from {origins['practice_script']}"
        elif not {"api_key", "auth_token", "base_url"} & given.keys():
            values["practice"], origins["practice"] = True, "default: no key, token or address is set"
    return values, origins


def _anchored(name: str, given: Given) -> object:
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


def _checked(values: Mapping[str, object], given: Mapping[str, Given]) -> Settings:
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        name = str(error.errors(include_input=False, include_url=False)[0]["loc"][0])
        raise SettingsError(_misfit(name, given[name])) from error
    changes: dict[str, object] = {}
    if settings.practice and "model" not in given:
        changes["model"] = PRACTICE_MODEL
    return settings.model_copy(update=changes)


def _misfit(name: str, given: Given) -> str:
    value = repr(given.value) if name not in SECRETS or isinstance(given.value, Secret) else "no text"
    shown = value if len(value) <= 80 else value[:79] + "…"
    wanted = words_for(Settings.model_fields[name].rebuild_annotation())
    return f"Cannot use {given.origin} = {shown}; give {wanted}."
