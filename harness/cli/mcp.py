"""`harness mcp`: the MCP servers of the user and of a folder, from outside of a session."""

import asyncio
import os
import sys
import webbrowser
from argparse import Namespace
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.external_text import counted, visible
from harness.cli.parser import mcp_add_rest
from harness.engine.build.from_settings import mcp_config
from harness.events import Json, McpState
from harness.journal import state_folder
from harness.mcp.config import (
    FOLDER_FILE,
    USER_FILE,
    McpConfig,
    McpConfigError,
    ServerConfig,
    Transport,
    from_file,
    parse_entries,
    read_entries,
    write_entries,
)
from harness.mcp.other_files import servers_of
from harness.mcp.server import McpServer
from harness.settings import Settings, user_settings_file

SECRET = "•••"


def mcp(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    match options.kind:
        case "list":
            return _list(settings)
        case "get":
            return _get(settings, options.name)
        case "add":
            _add(settings, options)
        case "import":
            _import(settings, Path(options.file).expanduser(), options)
        case "remove":
            _remove(settings, options.name, folder=options.project)
        case "login":
            return asyncio.run(_login(settings, _known(settings, options.name)))
        case "logout":
            from harness.mcp.oauth import TokenFile

            TokenFile(_http(_known(settings, options.name)), state_folder(settings.state_dir)).forget()
            print(f"The tokens of {options.name} are deleted.")
    return 0


def _list(settings: Settings) -> int:
    """Connect to every server and show how it is; 1 where one cannot be used."""
    config = mcp_config(settings)
    servers = asyncio.run(_statuses(settings, config))
    for one in servers:
        print(f"{one.line}  [{visible(one.config.shown)}]")
    for problem in config.problems:
        print(visible(problem), file=sys.stderr)
    if not config:
        print(f"No MCP servers; add one: harness mcp add NAME -- COMMAND, or write {FOLDER_FILE}.", file=sys.stderr)
    bad = any(one.state in (McpState.FAILED, McpState.SIGN_IN) for one in servers)
    return 1 if bad else 0


async def _statuses(settings: Settings, config: McpConfig) -> tuple[McpServer, ...]:
    """Connect to the servers, until each is there or has failed."""
    if not config.servers:
        return ()
    from harness.engine.conversation import Conversation, ignore
    from harness.engine.mcp import servers_for
    from harness.engine.mcp_questions import ServerQuestions
    from harness.engine.permissions.asker import NoAsker
    from harness.processes import Processes

    processes = Processes()
    conversation = Conversation(ignore)
    servers = servers_for(config, settings, processes, conversation, ServerQuestions(conversation, NoAsker()))
    try:
        servers.start()
        await asyncio.gather(*(one.settled.wait() for one in servers.servers if one.config.enabled))
    finally:
        await servers.aclose()
        await processes.aclose()
    return servers.servers


def _get(settings: Settings, name: str) -> int:
    config = _known(settings, name)
    (server,) = asyncio.run(_statuses(settings, McpConfig((config,))))
    print(server.line)
    print(visible(f"  {config.shown}"))
    print(visible(f"  from {config.origin}"))
    for kind, values in (("env", config.env), ("header", config.headers)):
        for key, value in values.items():
            print(visible(f"  {kind} {key}={value if '${' in value else SECRET}"))
    for about in filter(None, (server.version, *server.problems)):
        print(visible(f"  {about}"))
    for tool_name, tool in server.names.items():
        hints = " (reads)" if tool.read_only else " (may destroy)" if tool.destructive else ""
        print(visible(f"  {tool_name}{hints}: {' '.join(tool.description.split())[:120]}"))
    return 0 if server.state is not McpState.FAILED else 1


def _add(settings: Settings, options: Namespace) -> None:
    words = mcp_add_rest(options.command, options)
    if not words:
        raise McpConfigError("Say what to start or where it is: harness mcp add NAME -- COMMAND, or NAME https://….")
    is_url = words[0].startswith(("http://", "https://"))
    entry: Json = {"type": options.transport or ("http" if is_url else "stdio")}
    entry |= {"url": words[0]} if is_url else {"command": words[0], "args": list(words[1:])}
    if options.env:
        entry["env"] = dict(_pairs(options.env, "=", "--env NAME=VALUE"))
    if options.sandbox:
        entry["sandbox"] = options.sandbox
    if options.header:
        entry["headers"] = dict(_pairs(options.header, ":", '--header "Name: value"'))
    checked = parse_entries({options.name: entry}, "this command", own=True)
    if checked.problems:
        raise McpConfigError(checked.problems[0])
    path = _file(settings, folder=options.project)
    entries = read_entries(path)
    if options.name in entries:
        raise McpConfigError(f"{path} has a server {options.name} already; remove it first.")
    write_entries(path, {**entries, options.name: entry})
    where = f"{path}; other sessions ask whether you trust the folder" if options.project else str(path)
    print(f"{options.name} is added to {where}.")


def _import(settings: Settings, source: Path, options: Namespace) -> None:
    """Take over the servers of another program's file, and say what is left out."""
    path, taken = _file(settings, folder=False), 0
    entries = dict(read_entries(path))
    try:
        found = list(servers_of(source, settings.workspace))
    except OSError as error:
        raise McpConfigError(f"{source} cannot be read: {error.strerror or error}; name another file.") from error
    names = ", ".join(name for name, _, _ in found)
    if not found or not {*(options.only or ())} <= {name for name, _, _ in found}:
        raise McpConfigError(f"{source} has no such server; it has: {names or 'none'}.")
    for name, entry, notes in found:
        if options.only and name not in options.only:
            continue
        new = parse_entries({name: entry} if entry is not None else {}, str(source), own=False)
        others = parse_entries({key: one for key, one in entries.items() if key != name}, str(path), own=True)
        known = next(
            (one.name for one in others.servers for new_one in new.servers if one.digest == new_one.digest), ""
        )
        why = [problem.rpartition(" is left out: ")[2].rstrip(".") for problem in new.problems]
        why += [f"it is {known} once more"] if known else []
        why += (
            ["there is one of this name; --replace takes this one"] if name in entries and not options.replace else []
        )
        if takes := bool(new.servers and not why):
            entries[name], taken = entry, taken + 1
            why = [new.servers[0].shown.split()[0]]
        print(visible(f"{name}  {'taken' if takes else 'left out'}: {'; '.join((*why, *notes))}"))
    write_entries(path, entries)
    print(f"{counted(taken, 'server')} added to {path}; nothing was started. `harness mcp list` connects to them.")


def _pairs(given: Iterable[str], sign: str, example: str) -> Iterable[tuple[str, str]]:
    for text in given:
        name, found, value = text.partition(sign)
        if not found or not name.strip():
            raise McpConfigError(f"{text!r} is not {example}.")
        yield name.strip(), value.strip()


def _remove(settings: Settings, name: str, *, folder: bool) -> None:
    path = _file(settings, folder=folder)
    entries = dict(read_entries(path))
    if name not in entries:
        raise McpConfigError(f"{path} has no server {name!r}; it has: {', '.join(entries) or 'none'}.")
    del entries[name]
    write_entries(path, entries)
    print(f"{name} is removed from {path}.")


async def _login(settings: Settings, config: ServerConfig) -> int:
    """Sign in with the browser, and keep the tokens."""
    from harness.mcp.connection import Callbacks, connected
    from harness.mcp.oauth import LoopbackCallback, TokenFile, provider
    from harness.processes import Processes

    config = _http(config).expanded(os.environ)
    tokens, loop = TokenFile(config, state_folder(settings.state_dir)), asyncio.get_running_loop()

    async def show(address: str) -> None:
        print(f"Open this address to sign in:\n\n  {visible(address)}\n", flush=True)
        print("Where the browser runs on another machine, paste the address that it ends at here.", flush=True)
        with suppress(webbrowser.Error):
            await asyncio.to_thread(webbrowser.open, address)

    async def decline(server: str, params: object) -> object:
        from mcp.types import ElicitResult

        return ElicitResult(action="decline")

    async with LoopbackCallback() as callback:
        if sys.stdin.isatty():
            loop.add_reader(sys.stdin, lambda: callback.give(sys.stdin.readline()))
        auth = provider(config, tokens, show, callback.result, callback.port)
        callbacks = Callbacks(elicit=decline, roots=tuple, auth=lambda one: auth)
        try:
            async with connected(config, Processes(), settings.workspace, callbacks, connect_s=600.0) as connection:
                found, _ = await connection.tools()
        finally:
            if sys.stdin.isatty():
                loop.remove_reader(sys.stdin)
    print(f"{config.name} is there with {counted(len(found), 'tool')}.")
    return 0


def _known(settings: Settings, name: str) -> ServerConfig:
    """A server of the user or of the folder, also of one that is not trusted."""
    config = mcp_config(settings)
    of_folder = from_file(settings.workspace / FOLDER_FILE, own=False)
    found = config.get(name) or of_folder.get(name)
    if found is None:
        names = ", ".join(one.name for one in (*config.servers, *of_folder.servers)) or "none"
        raise McpConfigError(f"There is no MCP server {name!r}; there are: {names}.")
    return found


def _http(config: ServerConfig) -> ServerConfig:
    if config.transport is Transport.STDIO:
        raise HarnessError(f"{config.name} is a program on this machine; only servers with a url have a sign-in.")
    return config


def _file(settings: Settings, *, folder: bool) -> Path:
    if folder:
        return settings.workspace / FOLDER_FILE
    return (settings.user_dir or user_settings_file().parent) / USER_FILE


def server_states(settings: Settings) -> str:
    """Connect to the servers, for `harness doctor --online`. Raises HarnessError where one cannot be used."""
    servers = asyncio.run(_statuses(settings, mcp_config(settings)))
    if bad := [one.line for one in servers if one.state in (McpState.FAILED, McpState.SIGN_IN)]:
        raise HarnessError("; ".join(bad))
    return "; ".join(one.line for one in servers) or "none"


def servers_text(settings: Settings) -> str:
    """The servers for `harness doctor`."""
    config = mcp_config(settings)
    names = [f"{one.name} ({one.shown})" for one in config.servers]
    return ", ".join(visible(name) for name in names) or "none"
