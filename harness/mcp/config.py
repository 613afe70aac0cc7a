"""Which MCP servers a session has, as `.mcp.json`, `mcp.json` and the setting `mcp_servers` name them.

All three hold the form that other programs write: by name a `command` with `args` and `env`, or a `url` with `headers`.
`${VAR}` and `${VAR:-default}` are replaced when a server is started, so that no file has to hold a key. One bad entry
drops no other.
"""

import json
import os
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.base.files import read_regular, replace_atomically
from harness.base.secrets import Masking, Secret, secrets_in, without_passwords
from harness.events import Json
from harness.sandbox.profile import ProfileName

FOLDER_FILE = ".mcp.json"
"""In a workspace; its servers start only where the user trusts the folder."""
USER_FILE = "mcp.json"
"""Beside the settings of the user; `harness mcp add` writes it."""
MOST_BYTES = 1_000_000
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_. -]{0,63}")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_LONGEST_SHOWN = 160
_PAIR = re.compile(r"(?m)^([^=:\s]+)(?:=|: ?)((?:Bearer|Basic) )?(.+)$")
"""An argument such as --token=VALUE, NAME=VALUE or NAME: Bearer VALUE."""


class McpConfigError(HarnessError):
    """An entry of a server cannot be used; one sentence that names its place."""

    exit_code = 2


class Transport(StrEnum):
    """How a server is reached."""

    STDIO = "stdio"
    HTTP = "http"
    SSE = "sse"
    """HTTP as it was before 2025-03-26."""
    SDK = "sdk"
    """Inside the program that drives this session."""


_TRANSPORTS = {
    "stdio": Transport.STDIO,
    **dict.fromkeys(("http", "streamable-http", "streamableHttp", "streamable_http"), Transport.HTTP),
    "sse": Transport.SSE,
    "sdk": Transport.SDK,
}
_EMPTY: Mapping[str, str] = MappingProxyType({})


Host = Callable[[str, Json], Awaitable[Json]]
"""Takes the name of a server and a JSON-RPC message."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One server as it is written; variables are not replaced yet."""

    name: str
    transport: Transport
    command: tuple[str, ...] = ()
    """Program and arguments of a stdio server; of one inside the program its name there."""
    env: Mapping[str, str] = field(default_factory=lambda: _EMPTY, repr=False)
    cwd: str = ""
    """Folder of a stdio server; empty: the workspace."""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=lambda: _EMPTY, repr=False)
    timeout_s: float | None = None
    """Seconds of a call without a sign of life; None: the setting `tool_timeout_s`."""
    trusted: bool = False
    """Its annotation `readOnlyHint` is believed: such tools need no confirmation. Only the user's own files say so."""
    enabled: bool = True
    sandbox: ProfileName | None = None
    """What a stdio server may read, write and reach; None: *work* where the system can hold it to that."""
    oauth: Mapping[str, str] = field(default_factory=lambda: _EMPTY, repr=False)
    """Details of the sign-in: clientId, clientSecret, clientMetadataUrl, scope, grantType, privateKey."""
    origin: str = ""
    """The file or setting that names it."""
    host: Host | None = field(default=None, repr=False, compare=False)
    """Takes a message to a server inside the program and returns the answer; None: no program has one."""

    @property
    def shown(self) -> str:
        """Command line or origin of the address, variables and secrets as they are written or left out."""
        if self.command:
            text = without_passwords(Masking(_in_arguments(self.command)).text(" ".join(self.command)))
        else:
            parts = urlsplit(self.url)
            text = f"{parts.scheme}://{parts.hostname or ''}{f':{_port(self.url)}' if _port(self.url) else ''}"
        text = " ".join(visible(text).split())
        return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"

    @property
    def digest(self) -> str:
        """The same for two entries that start the same server: command, environment and address."""
        what = (self.command, sorted(self.env.items()), self.cwd, self.url, sorted(self.headers.items()))
        return sha256(json.dumps(what).encode()).hexdigest()[:16]

    def expanded(self, environ: Mapping[str, str]) -> "ServerConfig":
        """The same with its variables replaced. Raises McpConfigError for one that is not set."""

        def value(match: re.Match[str]) -> str:
            found = environ.get(match[1]) or match[2]
            if found is None:
                raise McpConfigError(
                    f"{self.origin} uses ${{{match[1]}}} for the MCP server {self.name}, which is not set; set it, or "
                    f"write ${{{match[1]}:-default}}."
                )
            return found

        def of(text: str) -> str:
            return _VARIABLE.sub(value, text)

        def each(table: Mapping[str, str]) -> dict[str, str]:
            return {name: of(text) for name, text in table.items()}

        return replace(
            self,
            command=tuple(map(of, self.command)),
            env=each(self.env),
            cwd=str(Path(of(self.cwd)).expanduser()) if self.cwd else "",
            url=of(self.url),
            headers=each(self.headers),
            oauth=each(self.oauth),
        )

    def secrets(self) -> Iterator[Secret]:
        """What must not be shown: values of headers, of the environment, of the address and of arguments that hold a
        key. Take it of an expanded entry."""
        yield from _in_arguments(self.command)
        for name, value in (*self.headers.items(), *self.env.items(), *self.oauth.items()):
            if name in self.headers or re.search(r"(?i)key|token|secret|password|auth|credential|cookie", name):
                yield Secret(value)
                yield Secret(value.rpartition(" ")[2])  # also without "Bearer"
        parts = urlsplit(self.url)
        if parts.password:
            yield Secret(parts.password)
        for item in parts.query.split("&"):
            yield Secret(item.partition("=")[2])


@dataclass(frozen=True, slots=True)
class McpConfig:
    """The servers of a session, and the entries that cannot be used."""

    servers: tuple[ServerConfig, ...] = ()
    problems: tuple[str, ...] = ()
    """One sentence each."""

    def __bool__(self) -> bool:
        return bool(self.servers or self.problems)

    def __str__(self) -> str:
        return ", ".join(one.name for one in self.servers) or "none"

    def get(self, name: str) -> ServerConfig | None:
        """The server of this name."""
        return next((one for one in self.servers if one.name == name), None)

    def hosted(self, host: Host) -> "McpConfig":
        """The same, where `host` reaches the servers inside the program."""
        reached = (replace(one, host=host) if one.transport is Transport.SDK else one for one in self.servers)
        return replace(self, servers=tuple(reached))

    def extended(self, entries: Mapping[str, Any]) -> "McpConfig":
        """The same with the servers that the client of this session brings."""
        return joined((self, _brought(entries)))


def read_entries(path: Path) -> Mapping[str, Any]:
    """The entries of a file, unchecked, by name; none where it is missing. Raises McpConfigError."""
    try:
        return _entries(read_regular(path, MOST_BYTES), str(path))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise McpConfigError(f"{path} cannot be read: {error.strerror}; make it readable or move it away.") from error


def _entries(text: bytes, origin: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise McpConfigError(f"{origin} is not valid JSON: {error}; correct it, or move it away.") from error
    servers = data.get("mcpServers", {}) if isinstance(data, dict) else None
    if not isinstance(servers, dict):
        raise McpConfigError(f'{origin} holds no servers; write {{"mcpServers": {{"NAME": {{"command": "…"}}}}}}.')
    return servers


def from_command_line(given: object) -> McpConfig:
    """The servers that a session is started with: files such as .mcp.json, the same as JSON, and tables of servers by
    name that a client brings. Raises McpConfigError."""
    return joined(map(_brought, given if isinstance(given, list | tuple) else [given]))


def _brought(given: object) -> McpConfig:
    if isinstance(given, Mapping):
        return parse_entries(given, "the client of this session", own=False)
    text = str(given).strip()
    if text.startswith("{"):
        return parse_entries(_entries(text.encode("utf-8", "replace"), "--mcp-config"), "--mcp-config", own=True)
    path = Path(text).expanduser()
    if not path.is_file():
        raise McpConfigError(f"--mcp-config: there is no file {path}; name one, or give the servers as JSON.")
    return parse_entries(read_entries(path), str(path), own=True)


def write_entries(path: Path, entries: Mapping[str, Any]) -> None:
    """Keep the entries in a file that only its owner can read; other keys of it stay. Raises McpConfigError."""
    try:
        read_entries(path)
        data = json.loads(path.read_text(encoding="utf-8-sig")) if path.exists() else {}
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps({**data, "mcpServers": dict(entries)}, indent=2, ensure_ascii=False)
        replace_atomically(path, f"{text}\n".encode(), private=True)
    except OSError as error:
        raise McpConfigError(f"{path} cannot be written: {error.strerror}; make its folder writable.") from error


def parse_entries(entries: Mapping[str, Any], origin: str, *, own: bool) -> McpConfig:
    """The servers of one place.

    Args:
        own: it is a file or setting of the user, who may also say that a server is trusted.
    """
    servers, problems = [], []
    for name, entry in entries.items():
        try:
            servers.append(_server(str(name), entry, origin, own=own))
        except ValueError as error:
            problems.append(f"{origin}: the MCP server {visible(str(name))[:60]} is left out: {error}.")
    return McpConfig(tuple(servers), tuple(problems))


def joined(places: Iterable[McpConfig]) -> McpConfig:
    """All places together, the first ones first. The same name, or the same server under two names, counts once."""
    servers: dict[str, ServerConfig] = {}
    problems: list[str] = []
    for place in places:
        problems += place.problems
        for one in place.servers:
            same = next((other for other in servers.values() if other.digest == one.digest), None)
            if one.name not in servers and (same is None or not (same.enabled and one.enabled)):
                servers[one.name] = one
            elif one.name not in servers and same is not None:
                problems.append(f"{one.origin}: the MCP server {one.name} is left out: it is {same.name} once more.")
    return McpConfig(tuple(servers.values()), tuple(problems))


def of_folder(found: McpConfig, trusted: bool | None) -> McpConfig:
    """The servers of a folder's file as far as they may start; what waits for the user's trust is a problem."""
    if trusted or not found:
        return found
    names = ", ".join(one.name for one in found.servers)
    waits = f"{FOLDER_FILE} of this folder is not used until you trust it (start `harness` here): {names}."
    return McpConfig(problems=(*found.problems, *([waits] if names and trusted is None else ())))


def from_file(path: Path, *, own: bool) -> McpConfig:
    """The servers of a file; one that cannot be read is a problem."""
    try:
        return parse_entries(read_entries(path), str(path), own=own)
    except McpConfigError as error:
        return McpConfig(problems=(str(error),))


def _server(name: str, entry: object, origin: str, *, own: bool) -> ServerConfig:
    """Raises ValueError, the end of a sentence."""
    if not NAME.fullmatch(name):
        raise ValueError("its name may have at most 64 letters, digits, spaces, dots, _ and -")
    if not isinstance(entry, dict):
        raise ValueError('it is not a table such as {"command": "…"}')
    command, url = entry.get("command"), entry.get("url", entry.get("httpUrl", entry.get("serverUrl")))
    kind = entry.get("type", entry.get("transport", "http" if url is not None else "stdio"))
    transport = _TRANSPORTS.get(kind) if isinstance(kind, str) else None
    if transport is None:
        raise ValueError(f"its type is {kind!r}; it can be stdio, http or sse")
    if transport is Transport.SDK:
        name_there = str(entry.get("name") or name)
        return ServerConfig(name, transport, (name_there,), timeout_s=_seconds(entry.get("timeout")), origin=origin)
    wanted = command if transport is Transport.STDIO else url
    key = "command" if transport is Transport.STDIO else "url"
    if not isinstance(wanted, str) or not wanted.strip():
        raise ValueError(f"a server of the type {transport} needs a text {key!r}")
    if wanted != wanted.strip():
        raise ValueError(f"its {key} begins or ends with a space; take it out")
    args = entry.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str | int | float) for one in args):
        raise ValueError("its args are not a list of texts")
    if transport is not Transport.STDIO and urlsplit(wanted).scheme not in ("http", "https") and "${" not in wanted:
        raise ValueError("its url begins with neither http:// nor https://")
    return ServerConfig(
        name,
        transport,
        command=(wanted, *map(str, args)) if transport is Transport.STDIO else (),
        env=_texts(entry, "env"),
        cwd=str(entry.get("cwd", "")),
        url="" if transport is Transport.STDIO else wanted,
        headers=_texts(entry, "headers"),
        timeout_s=_seconds(entry.get("timeout")),
        trusted=own and entry.get("trusted") is True,
        enabled=entry.get("disabled") is not True and entry.get("enabled") is not False,
        sandbox=_profile(entry["sandbox"]) if "sandbox" in entry else None,
        oauth=_texts(entry, "oauth"),
        origin=origin,
    )


def _texts(entry: Mapping[str, Any], key: str) -> Mapping[str, str]:
    given = entry.get(key) or {}
    if not isinstance(given, dict) or not all(isinstance(value, str | int | float) for value in given.values()):
        raise ValueError(f"its {key} is not a table of texts")
    return MappingProxyType({str(name): str(value) for name, value in given.items()})


def _profile(given: object) -> ProfileName:
    try:
        return ProfileName(str(given))
    except ValueError as error:
        raise ValueError(f"its sandbox is {given!r}; it can be {', '.join(ProfileName)}") from error


def _seconds(given: object) -> float | None:
    """A timeout, which is written in milliseconds everywhere."""
    if given is None:
        return None
    if not isinstance(given, int | float) or isinstance(given, bool) or not given > 0:
        raise ValueError("its timeout is not a number of milliseconds above zero")
    return given / 1_000


def _in_arguments(command: tuple[str, ...]) -> tuple[Secret, ...]:
    """Keys in arguments, by the name of their flag or by their form."""
    flags = {name: value for name, value in pairwise(command) if name[:1] == "-" != value[:1]}
    pairs = {f"{name} {scheme and 'token'}": value for name, scheme, value in _PAIR.findall("\n".join(command))}
    found = secrets_in({**flags, **pairs, **{str(at): one for at, one in enumerate(command)}})
    return tuple(one for one in found if "${" not in one.reveal())


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None


def environment_of(config: ServerConfig, environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """What a stdio server inherits: a short list, so that no key of the model is in it, and its own entries."""
    environ = os.environ if environ is None else environ
    inherited = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LC_ALL", "TMPDIR", "TZ")
    proxies = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy")
    certificates = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
    kept = {name: environ[name] for name in (*inherited, *proxies, *certificates) if name in environ}
    return {**kept, **config.env}
