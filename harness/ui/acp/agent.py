"""`harness acp`: the agent of an editor, over standard input and output."""

import asyncio
import json
import logging
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from urllib.parse import unquote, urlsplit

from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError, SettingsError
from harness.base.version import __version__
from harness.events import Json
from harness.media.mentions import mention
from harness.session import Opening, Session, added_folders, sessions_of
from harness.settings import LoadedSettings, load
from harness.ui.acp.client import Client, Connection
from harness.ui.acp.driver import NO_KEY, AcpDriver
from harness.ui.plain.streams import until_stopped
from harness.ui.sent_images import mention_of_image

VERSION = 1
MOST_BYTES = 50_000_000
"""Of one message."""
CLOSE_S = 2.0
"""Seconds that the editor has to read the last messages."""
INVALID, FAILED = -32602, -32603
"""Codes of JSON-RPC."""
KEY: Json = {"id": "api-key", "name": "API key", "type": "env_var", "vars": [{"name": "ANTHROPIC_API_KEY"}]}


async def serve_editor(flags: Mapping[str, object], log: logging.Logger) -> int:
    """Serve the editor until its input ends; returns the exit code.

    Raises SettingsError without the package `acp`, BrokenPipeError when the editor reads no more.
    """
    try:
        from acp.connection import Connection as AcpConnection
        from acp.stdio import stdio_streams
    except ImportError as error:
        raise SettingsError(
            "`harness acp` needs the package agent-client-protocol; install it: pip install 'harness-agent[acp]'."
        ) from error

    class EditorConnection(AcpConnection):
        """Ignores JSON that is no message, which would end the connection, and knows what a request is about that the
        editor takes back."""

        _asked: dict[str, object] = {}  # noqa: RUF012 (there is one editor)
        """Prompts without an answer: the session, by the id in JSON."""

        def _process_message(self, message: object) -> None:
            match message:
                case {"method": "$/cancel_request", "params": {"requestId": number}}:
                    if (session := self._asked.get(json.dumps(number))) is not None:
                        cancel = {"method": "session/cancel", "params": {"sessionId": session}}
                        super()._process_message(cancel)
                case dict():
                    super()._process_message(message)

        async def _run_request(self, message: Json) -> None:
            match message:
                case {"method": "session/prompt", "params": {"sessionId": session}}:
                    self._asked[json.dumps(message["id"])] = session
            try:
                await super()._run_request(message)
            finally:
                self._asked.pop(json.dumps(message["id"]), None)

    reader, writer = await stdio_streams(limit=MOST_BYTES)
    out, sys.stdout = sys.stdout, sys.stderr  # whatever is printed must not end up between the messages
    agent = AcpAgent(flags, log)
    connection = EditorConnection(agent.handle, writer, reader, listening=False)
    agent.connection = connection

    async def serve() -> None:
        try:
            await connection.main_loop()
        finally:
            await agent.aclose()
            with suppress(TimeoutError):  # it does not read what is left
                async with asyncio.timeout(CLOSE_S):
                    await connection.close()

    return await until_stopped(serve(), out)


class AcpAgent:
    """Answers the requests of one editor."""

    def __init__(self, flags: Mapping[str, object], log: logging.Logger) -> None:
        """`flags`: settings from the command line, for every session."""
        self._flags = flags
        self._log = log
        self._capabilities: Mapping[str, object] = {}
        self._sessions: dict[str, AcpDriver] = {}
        self.connection: Connection | None = None

    async def handle(self, method: str, params: object, is_notification: bool) -> Json | None:
        """Answer a request, or take a notification. Raises RequestError."""
        from acp import RequestError

        fields = params if isinstance(params, dict) else {}
        if problem := _problem(fields):
            raise RequestError(INVALID, f"{method}: {problem}.")
        try:
            return await self._answer(method, fields)
        except KeyError as error:
            raise RequestError(INVALID, f"{method} needs {error.args[0]}.") from error
        except RequestError:
            if not is_notification:  # what is unknown has no answer there
                raise
            return None
        except HarnessError as error:
            invalid = isinstance(error, SettingsError) or method.startswith("session/set_")
            raise RequestError(INVALID if invalid else FAILED, str(error)) from error

    async def _answer(self, method: str, params: Json) -> Json | None:
        match method:
            case "initialize":
                capabilities = params.get("clientCapabilities")
                self._capabilities = capabilities if isinstance(capabilities, dict) else {}
                return _introduction()
            case "authenticate":
                if _loaded(self._flags).settings.practice:
                    raise SettingsError(NO_KEY)
                return {}
            case "session/new":
                driver = await self._open(params, Opening())
                return {"sessionId": driver.session.id, "configOptions": driver.config_options()}
            case "session/load" | "session/resume":
                replays = method == "session/load"
                driver = await self._open(params, Opening(params["sessionId"]), replays=replays)
                return {"configOptions": driver.config_options()}
            case "session/list":
                return {"sessions": await in_thread(partial(self._listed, params.get("cwd")))}
            case "session/prompt":
                return await self._prompt(self._driver(params), params["prompt"])
            case "session/set_config_option":
                self._driver(params).set_option(params["configId"], str(params["value"]))
                return {"configOptions": self._driver(params).config_options()}
            case "session/set_mode":
                self._driver(params).set_option("mode", params["modeId"])
                return {}
            case "session/close":
                self._driver(params)
                await self._sessions.pop(params["sessionId"]).aclose()
                return {}
            case "session/cancel":
                self._driver(params).cancel()
                return None
            case _:
                from acp import RequestError

                raise RequestError.method_not_found(method)

    def _driver(self, params: Json) -> AcpDriver:
        session_id = params["sessionId"]
        if (driver := self._sessions.get(session_id)) is None:
            raise SettingsError(f"The session {session_id} is not open; open it with session/load.")
        return driver

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    async def _open(self, params: Json, opening: Opening, *, replays: bool = False) -> AcpDriver:
        flags = {**self._flags, "workspace": params["cwd"]}
        if folders := params.get("additionalDirectories"):
            flags["add_dirs"] = folders
        if servers := params.get("mcpServers"):
            flags["mcp_config"] = [*(flags.get("mcp_config") or ()), _entries(servers)]
        loaded = _loaded(flags).require_answer()
        if (before := self._sessions.get(opening.resume or "")) is not None:
            if before.session.settings.workspace != loaded.settings.workspace:
                raise SettingsError(f"The session {opening.resume} belongs to {before.session.settings.workspace}.")
            added_folders(loaded.settings)
            del self._sessions[before.session.id]  # it is opened again: in another window, or by an editor that crashed
            await before.aclose()
        assert self.connection is not None
        driver = AcpDriver(Client(self.connection, self._capabilities), self._log)
        await driver.open(loaded, opening, lambda: _loaded(flags).settings, replays=replays)
        self._sessions[driver.session.id] = driver
        return driver

    def _listed(self, folder: object) -> list[Json]:
        flags = {**self._flags, "workspace": folder} if folder else self._flags
        return [
            {
                "sessionId": one.id,
                "cwd": one.workspace,
                "title": one.name or one.title,
                "updatedAt": datetime.fromtimestamp(one.updated_at, UTC).isoformat(),
            }
            for one in sessions_of(_loaded(flags).settings)
        ]

    async def aclose(self) -> None:
        """Close all sessions."""
        while self._sessions:
            await self._sessions.popitem()[1].aclose()

    # ── prompts ─────────────────────────────────────────────────────────────────────────────────

    async def _prompt(self, driver: AcpDriver, content: Sequence[Json]) -> Json:
        end = await driver.prompt(await _text(content, driver.session))
        if end.problem:
            raise HarnessError(end.problem)
        return {"stopReason": end.stop_reason}


def _loaded(flags: Mapping[str, object]) -> LoadedSettings:
    return load(dict(flags), os.environ)


def _entries(servers: Sequence[Json]) -> Json:
    """The MCP servers of an editor in the form of .mcp.json. Raises SettingsError."""
    found = {one["name"]: one | {key: _table(one[key]) for key in ("env", "headers") if key in one} for one in servers}
    if len(found) < len(servers):
        raise SettingsError("Two MCP servers of the editor have the same name; give one of them another name.")
    return found


def _table(pairs: object) -> Json:
    if not isinstance(pairs, list) or not _are_objects(pairs):
        raise SettingsError("env and headers of an MCP server are lists of objects with name and value.")
    return {one["name"]: one["value"] for one in pairs}


def _introduction() -> Json:
    sessions: Json = {"list": {}, "resume": {}, "close": {}, "additionalDirectories": {}}
    return {
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": True},
            "sessionCapabilities": sessions,
        },
        "agentInfo": {"name": "harness", "title": "harness", "version": __version__},
        "authMethods": [KEY],
    }


def _problem(params: Json) -> str:
    """What has the wrong type, in a clause; empty: nothing."""
    texts = [name for name in ("sessionId", "cwd", "modeId", "configId") if not isinstance(params.get(name, ""), str)]
    lists = [name for name in ("mcpServers", "prompt") if not _are_objects(params.get(name) or [])]
    return ", ".join([*(f"{name} has to be a text" for name in texts), *(f"{name} has to be a list" for name in lists)])


def _are_objects(given: object) -> bool:
    return isinstance(given, list) and all(isinstance(one, dict) for one in given)


async def _text(content: Sequence[Json], session: Session) -> str:
    """The prompt in content blocks; files are named in it, and images kept as files. Raises SettingsError."""
    parts: list[str] = []
    for block in content:
        match block:
            case {"type": "text", "text": str(text)}:
                parts.append(text)
            case {"type": "image", "data": str(data)}:
                parts.append(await mention_of_image(data, session))
            case {"type": "resource_link", "uri": str(uri)}:
                parts.append(_named(uri))
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
                parts.append(f'\n<file path="{_path(uri) or uri}">\n{text}\n</file>\n')
            case {"type": "resource", "resource": {"uri": str(uri), "blob": _}} if _path(uri):
                parts.append(_named(uri))
            case _:
                raise SettingsError(f"A prompt cannot hold content of the type {block.get('type')!r} here.")
    if not any(part.strip() for part in parts):
        raise SettingsError("The prompt is empty.")
    return "".join(part if part[:1] in ("", "\n", " ") or not at else f" {part}" for at, part in enumerate(parts))


def _named(uri: str) -> str:
    path = _path(uri)
    return mention(path) if path else uri


def _path(uri: str) -> str:
    """The path of a file URL; empty: it is none."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else ""
