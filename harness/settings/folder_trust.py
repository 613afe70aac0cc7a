"""What the files of a folder may set: a few settings always, most with the user's trust, some never.

A folder may have been cloned from anywhere. Its `.env` and `.harness/settings.toml` are read before anybody has looked
at them, so what they may do is an allow-list: whatever is not in `FREE` waits for the user's answer. The answer is kept
for the folder and for exactly these settings with these values; when one changes, the user is asked again.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from harness.base.errors import SettingsError
from harness.base.external_text import visible
from harness.base.files import read_regular
from harness.base.secrets import MASK, Secret
from harness.definitions import CostClaim
from harness.mcp.config import FOLDER_FILE, ServerConfig
from harness.mcp.config import from_file as from_mcp_file
from harness.sandbox.profile import ProfileName
from harness.settings.sources import SECRETS, SettingsLayer, SettingsSource, SettingValue

FREE = frozenset({"plain", "theme", "notification", "terminal_title", "permissions_ask", "permissions_deny"})
"""Looks, and rules that only make the agent ask or refuse more."""
STRICTER: Mapping[str, tuple[str, ...]] = {"permission_mode": ("deny", "plan"), "sandbox": ("required",)}
"""Settings that are free with these values, which only make the agent ask or refuse more."""
FILE = "trusted-folders.json"
"""Beside the settings file of the user: which folders they trust, and to set what."""
MOST_BYTES = 1_000_000
SHOWN_CHARACTERS = 200
"""Of one value in the question."""

_KEYS = "a folder that you cloned must not decide about keys; put it into the environment or {user_file}"
_QUESTIONS = "a folder that you cloned must not switch questions off; {remedy}"
_SANDBOX = "a folder that you cloned must not loosen the sandbox; put it into {user_file}"
_MODEL = "a folder that you cloned must not put another model in the place of yours; use the flag --practice"
_NEVER = {
    "practice": _MODEL,
    "practice_script": _MODEL,
    "tool_faults": "a folder that you cloned must not break your tools; use the flag --tool-faults",
    "state_dir": "a folder that you cloned must not bring sessions and memories; put it into {user_file}",
    "user_dir": "a folder that you cloned must not bring what counts as yours; put it into {user_file}",
    "home_dir": "a folder that you cloned must not bring what counts as yours; put it into {user_file}",
    "trusted_folders": "a folder that you cloned must not trust itself; put it into {user_file}",
    "mcp_servers": "a folder that you cloned brings its MCP servers in .mcp.json, where you are asked; move them there",
    "foundry_resource": _KEYS,
    "headers": _KEYS,
    "permissions_allow": _QUESTIONS,
    "permissions_file": _QUESTIONS,
    "sandbox_hosts": _SANDBOX,
    "sandbox_env": _SANDBOX,
}
"""Settings that the files of a folder never set, trusted or not, and why."""


_MISPLACED = (
    ("workspace", "--cwd or HARNESS_WORKSPACE"),
    ("trust_folder", "--trust-folder"),
    ("mcp_config", "--mcp-config, or a file that `harness mcp` writes"),
    ("strict_mcp_config", "--strict-mcp-config"),
)


@dataclass(frozen=True, slots=True)
class FolderClaim:
    """A setting of a folder's file that waits for trust."""

    name: str
    origin: str
    """In words: ".env ANTHROPIC_BASE_URL", "/path/settings.toml: hooks"."""
    shown: str
    """Its value, safe to show; secrets are masked."""
    optional: bool = False
    """A session can begin without an answer: until there is one, this is left out."""


def refuse_misplaced(source: SettingsSource) -> None:
    """Raise SettingsError for what no file sets, not even that of the user."""
    for name, remedy in _MISPLACED:
        if (given := source.given.get(name)) is not None:
            raise SettingsError(f"{given.origin} cannot be set in a file; use {remedy}.")


def refuse_never(source: SettingsSource, user_file: Path) -> None:
    """Raise SettingsError for what the files of a folder never set."""
    refuse_misplaced(source)
    for name, given in source.given.items():
        if name == "permission_mode" and given.value in ("edits", "yolo"):
            remedy = "use the flag --yolo" if given.value == "yolo" else f"put it into {user_file}"
            raise SettingsError(f"{given.origin} = {given.value!r} is refused: {_QUESTIONS.format(remedy=remedy)}.")
        if name == "sandbox" and not _free(name, given):
            remedy = _SANDBOX.format(user_file=user_file)
            raise SettingsError(f"{given.origin} = {given.value!r} is refused: {remedy}.")
        # Keys and addresses in a file that is usually committed are nobody's habit; in .env they wait for trust.
        keys = given.layer is SettingsLayer.PROJECT and name in ("base_url", *SECRETS)
        if reason := _KEYS if keys else _NEVER.get(name, ""):
            text = reason.format(user_file=user_file, remedy=f"put it into {user_file}")
            raise SettingsError(f"{given.origin} is refused: {text}.")


def claims_of(sources: tuple[SettingsSource, ...]) -> tuple[FolderClaim, ...]:
    """The settings in the files of a folder that need trust."""
    found = (item for source in sources for item in source.given.items() if not _free(*item))
    return tuple(
        FolderClaim(name, given.origin, _shown(name, given.value), given.layer is SettingsLayer.FILES)
        for name, given in found
    )


def choices_of(files: Iterable[CostClaim], base: Path) -> SettingsSource:
    """The models and efforts that files with commands and agents name, as a source that only claims: none of it is a
    setting."""
    return SettingsSource(
        {(name := f"{one.file}: {one.key}"): SettingValue(one.value, SettingsLayer.FILES, name, base) for one in files}
    )


def servers_of(workspace: Path) -> SettingsSource:
    """The MCP servers that `.mcp.json` of a folder names, as a source that only claims."""
    found = from_mcp_file(workspace / FOLDER_FILE, own=False)
    return SettingsSource(
        {
            (name := f"{FOLDER_FILE}: {one.name}"): SettingValue(one, SettingsLayer.FILES, name, workspace)
            for one in found.servers
        }
    )


def without_claims(source: SettingsSource) -> SettingsSource:
    """The source without the settings that need trust."""
    return SettingsSource({name: given for name, given in source.given.items() if _free(name, given)}, source.notes)


def is_trusted(user_folder: Path, workspace: Path, sources: tuple[SettingsSource, ...]) -> bool:
    """Whether the user has said that this folder may set what its files claim now. Raises SettingsError."""
    return _read(user_folder / FILE).get(str(workspace)) == _digest(sources)


def remember_trust(user_folder: Path, workspace: Path, sources: tuple[SettingsSource, ...]) -> None:
    """Keep the user's yes to these claims. Raises SettingsError when it cannot be written."""
    path = user_folder / FILE
    folders = {**_read(path), str(workspace): _digest(sources)}
    temporary = path.with_name(f".{FILE}.{uuid4().hex[:8]}.tmp")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump({"folders": folders}, file, indent=1)
        temporary.replace(path)
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}; make its folder writable.") from error


def _digest(sources: tuple[SettingsSource, ...]) -> str:
    """A hash of the claims and their values."""
    claims = sorted(
        (given.layer.value, name, _identity(given.value))
        for source in sources
        for name, given in source.given.items()
        if not _free(name, given)
    )
    return hashlib.sha256(json.dumps(claims).encode()).hexdigest()


def _identity(value: object) -> str:
    """The same text for the same value; only a hash of it is kept."""
    match value:
        case ServerConfig():
            return value.digest
        case Secret():
            return repr(value.reveal())
        case _:
            return repr(value)


def _free(name: str, given: SettingValue) -> bool:
    return name in FREE or given.value in STRICTER.get(name, ())


def _shown(name: str, value: object) -> str:
    if isinstance(value, ServerConfig):
        free = " (without the sandbox)" if value.sandbox is ProfileName.FREE else ""
        value = f"starts {value.shown}{free}" if value.command else f"connects to {value.shown}"
    plain = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    text = MASK if name in SECRETS else " ".join(visible(plain).split())
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _read(path: Path) -> Mapping[str, str]:
    try:
        data = json.loads(read_regular(path, MOST_BYTES))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}; make it readable or move it away.") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not valid JSON: {error}; move it away, and you are asked again.") from error
    folders = data.get("folders") if isinstance(data, dict) else None
    if not isinstance(folders, dict):
        raise SettingsError(f"{path} holds no list of folders; move it away, and you are asked again.")
    return folders
