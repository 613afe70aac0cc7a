"""`harness doctor`: show settings with their origins, and check that a prompt could be answered."""

import asyncio
import logging
import os
import platform
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from harness.base.clock import SystemClock
from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import counted
from harness.base.secrets import MASK, Secret, without_passwords
from harness.base.version import __version__
from harness.cli.doctor_session import session_extras
from harness.cli.mcp import server_states
from harness.engine.build.from_settings import retirements
from harness.engine.connection import ModelConnection, address_of, endpoint_of
from harness.engine.store_places import fleet, stores_line
from harness.hooks import Hook
from harness.journal import session_folder, state_folder
from harness.model.endpoint import Endpoint, Platform
from harness.model.platforms import NAMES
from harness.settings import LoadedSettings, Settings, load, project_settings_file, user_settings_file
from harness.ui.plain.printer import has_colours
from harness.ui.screen_choice import screen_wanted

CONNECT_S = 5.0
"""Timeout for opening a connection, in seconds."""
PACKAGES = ("anthropic", "httpx2", "pydantic", "tiktoken", "textual")
LACKING = {
    Platform.BEDROCK: "a list of models with their limits, and server tools such as web search",
    Platform.VERTEX: "a list of models with their limits",
    Platform.FOUNDRY: "a list of models with their limits",
}
"""Parts of the Messages API that a platform lacks."""
PERMISSIONS = {
    "ask": "asks before it writes or runs something",
    "edits": "writes files without asking, asks before it runs something",
    "yolo": "writes and runs without asking",
    "deny": "reads only",
    "plan": "reads only, and proposes a plan for you to approve",
}


def doctor(out: TextIO, *, workspace: str | None = None, online: bool = False) -> int:
    """Print the report. Returns 1 if a check fails, else 0.

    Opens and closes a connection to the model's address; only `online` sends a request, for the list of models.
    """
    report = _Report(out)
    report.facts("Program", _program())
    try:
        loaded = load({"workspace": workspace}, os.environ)
    except SettingsError as error:
        report.facts("Terminal", _terminal(os.environ))
        report.title("Checks")
        report.failed("settings", error)
        return report.exit_code
    settings = loaded.settings
    report.facts("What will happen", _outlook(loaded))
    report.facts("Changed settings", _given(loaded))
    report.facts("Files", _files(settings))
    extras = session_extras(loaded)
    report.facts("In every session here", extras.facts)
    report.facts("Terminal", {"shown": _front_end(settings)} | _terminal(os.environ))
    report.title("Checks")
    for note in (*loaded.notes, *extras.warnings):
        report.line("!", note)
    for name, failure in extras.failures.items():
        report.failed(name, failure)
    for text in retirements(settings, SystemClock()):
        report.line("!", text)
    report.check("model", lambda: _model(settings))
    report.check("tools", lambda: _tools(settings))
    report.check("loops", lambda: _loops(settings))
    _check_sandbox(report, settings)
    report.check("state folder", lambda: _writable(state_folder(settings.state_dir)))
    if (database := fleet()) is not None:
        report.check("fleet", lambda: asyncio.run(database.examine()))
    report.check("token counts", _vocabulary)
    report.check("prices", lambda: _prices(settings, datetime.now(UTC).date()))
    if online:
        report.check("server", lambda: asyncio.run(_server(settings)))
        report.check("MCP servers", lambda: server_states(settings))
    return report.exit_code


class _Report:
    """Writes facts and checks."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.exit_code = 0

    def title(self, text: str) -> None:
        print(text, file=self._out)

    def facts(self, title: str, facts: Mapping[str, object]) -> None:
        self.title(title)
        width = max(map(len, facts), default=0)
        for name, value in facts.items():
            print(f"  {name:<{width}}  {without_passwords(str(value))}", file=self._out)
        print(file=self._out)

    def check(self, name: str, examine: Callable[[], str]) -> None:
        """`examine` returns its finding or raises HarnessError."""
        try:
            self.line("✓", f"{name}: {examine()}")
        except HarnessError as error:
            self.failed(name, error)

    def failed(self, name: str, error: HarnessError) -> None:
        self.line("✗", f"{name}: {error}")
        self.exit_code = 1

    def line(self, mark: str, text: str) -> None:
        print(f"  {mark} {without_passwords(text)}", file=self._out)


def _program() -> dict[str, object]:
    facts: dict[str, object] = {
        "harness": __version__,
        "Python": f"{platform.python_version()} at {sys.executable}",
        "system": platform.platform(),
        "memory limit": _memory_limit(),
    }
    return facts | {name: _version(name) for name in PACKAGES}


def _check_sandbox(report: "_Report", settings: Settings) -> None:
    """What holds shell commands; a failure where the settings require more."""
    from harness.engine.build.sandbox import sandbox_for

    try:
        sandbox = sandbox_for(settings)
    except HarnessError as error:
        report.failed("sandbox", error)
        return
    report.line("✓" if sandbox.state.level == "full" else "!", f"sandbox: {sandbox.state.in_words}")


def _memory_limit() -> str:
    from harness.processes.memory_groups import memory_groups

    try:
        memory_groups(0)
    except HarnessError as error:
        return f"not possible: {error}"
    return "possible (bash_memory)"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _outlook(loaded: LoadedSettings) -> dict[str, object]:
    settings, origins = loaded.settings, loaded.origins
    if settings.practice:
        return {
            "answers": f"{settings.model}, the built-in rule-based practice model ({origins['practice']})",
            "for a real model": "set ANTHROPIC_API_KEY",
            "network": "none; the practice model runs locally",
            "tools": PERMISSIONS[settings.permission_mode],
        }
    name = "api_key" if settings.api_key else "auth_token"
    credential = settings.api_key or settings.auth_token
    answers = {
        "answers": f"{settings.model} ({origins['model']})",
        "when overloaded": ", ".join(settings.fallback_models) or "no fallback model; retries only",
    }
    if settings.endpoint is Platform.ANTHROPIC:
        sent_as = "x-api-key" if name == "api_key" and settings.key_header == "x-api-key" else "Authorization: Bearer"
        reached: dict[str, object] = {
            "address": f"{address_of(settings)} ({origins['base_url']})",
            "key": f"{_masked(credential)} ({origins[name]}), sent as {sent_as}" if credential else "none",
        }
    else:
        reached = {
            "address": f"{address_of(settings)} ({origins['endpoint']})",
            "key": "from the environment; api_key, auth_token and base_url are ignored",
            "missing": LACKING[settings.endpoint],
        }
    if settings.anthropic_version is not None:
        reached["version"] = f"anthropic-version: {settings.anthropic_version} ({origins['anthropic_version']})"
    if settings.headers:
        reached["headers"] = f"{', '.join(map(str, settings.headers))} ({origins['headers']})"
    return answers | reached | {"tools": PERMISSIONS[settings.permission_mode]}


def _masked(secret: Secret) -> str:
    return f"{MASK}, {len(secret.reveal())} characters"


def _given(loaded: LoadedSettings) -> dict[str, object]:
    given = {name: origin for name, origin in loaded.origins.items() if not origin.startswith("default")}
    if not given:
        return {"none": "all settings have their defaults; `harness settings` lists them"}
    return {name: f"{_value(getattr(loaded.settings, name))} ({origin})" for name, origin in given.items()}


def _value(value: object) -> object:
    match value:
        case Secret():
            return _masked(value)
        case tuple():
            return ", ".join(one.name if isinstance(one, Hook) else str(one) for one in value)
        case bool():
            return str(value).lower()
        case _:
            return value


def _files(settings: Settings) -> dict[str, object]:
    state = state_folder(settings.state_dir)
    return {
        "workspace": settings.workspace,
        "project settings": _present(project_settings_file(settings.workspace)),
        "your settings": _present(user_settings_file()),
        "sessions": session_folder(settings.workspace, settings.state_dir),
        "shared between sessions": stores_line(settings),
        "logs": f"{state / 'logs'} (written with --debug)",
    }


def _present(path: Path) -> str:
    return f"{path}{'' if path.exists() else ' (does not exist)'}"


def _front_end(settings: Settings) -> str:
    if settings.plain:
        return "plain lines (setting plain)"
    if screen_wanted(settings.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr)):
        return "screen; --plain for lines"
    return "plain lines; the screen needs a terminal"


def _terminal(environ: Mapping[str, str]) -> dict[str, object]:
    streams = {"input": sys.stdin, "output": sys.stdout, "errors": sys.stderr}
    attached = [name for name, stream in streams.items() if stream is not None and stream.isatty()]
    size = shutil.get_terminal_size()
    return {
        "terminal": ", ".join(attached) or "none; prompts are read line by line, without questions",
        "TERM": environ.get("TERM") or "not set",
        "colours": "on" if has_colours(sys.stdout, environ) else "off",
        "size": f"{size.columns} × {size.lines}",
        "encoding": sys.stdout.encoding,
    }


def _model(settings: Settings) -> str:
    if not settings.practice:
        endpoint = endpoint_of(settings)
        plain = "" if endpoint.encrypted or endpoint.is_loopback else "; not encrypted, the key can be intercepted"
        tried = "the key was not tested" + (" (--online does)" if endpoint.lists_models else "")
        return f"{_connected(endpoint)}{plain}; {tried}"
    if settings.practice_script is None:
        return "the practice model answers without a script"
    from harness.practice.script import Script

    script = Script.load(settings.practice_script)
    return f"the practice model plays {settings.practice_script} ({counted(len(script.steps), 'entry', 'entries')})"


def _connected(endpoint: Endpoint) -> str:
    """Open and close a connection to the address or its proxy. Raises HarnessError."""
    address = urlsplit(endpoint.base_url)
    host, port = address.hostname or "", address.port or (443 if endpoint.encrypted else 80)
    shown, remedy = endpoint.base_url, "check the server and base_url (ANTHROPIC_BASE_URL)"
    if (proxy := _proxy(endpoint, host)) is not None:
        host, port = proxy
        shown, remedy = f"the proxy {host}:{port}", "check the proxy variables of the environment"
    try:
        socket.create_connection((host, port), timeout=CONNECT_S).close()
    except TimeoutError:
        raise HarnessError(f"{shown} did not answer within {CONNECT_S:g} s; {remedy} and the network.") from None
    except ConnectionRefusedError:
        raise HarnessError(f"{shown} refused the connection; {remedy}.") from None
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise HarnessError(f"{shown} cannot be reached ({why}); {remedy} and the network.") from error
    return f"{shown} accepts connections"


def _proxy(endpoint: Endpoint, host: str) -> tuple[str, int] | None:
    """Host and port of the proxy; None: no proxy."""
    if endpoint.is_loopback or proxy_bypass(host):
        return None
    proxies = getproxies()
    url = proxies.get("https" if endpoint.encrypted else "http") or proxies.get("all")
    parts = urlsplit(url if url and "://" in url else f"http://{url}") if url else None
    return (parts.hostname, parts.port or 80) if parts is not None and parts.hostname else None


def _tools(settings: Settings) -> str:
    from harness.engine.build.from_settings import capabilities_for, tools_for
    from harness.tools.toolbox import Toolbox

    toolbox = Toolbox(tools_for(settings))
    critical = ", ".join(sorted(capabilities_for(settings, toolbox).critical))
    faults = "" if settings.tool_faults is None else f"; faults from {settings.tool_faults}"
    return f"{', '.join(toolbox.names)}; without alternative: {critical}{faults}"


def _loops(settings: Settings) -> str:
    from harness.engine.build.from_settings import loop_limits

    policy = loop_limits(settings)
    numbers = ", ".join(policy.differences())
    return f"intervention {'on' if policy.enabled else 'off'}" + (f", with {numbers}" if numbers else "")


def _writable(folder: Path) -> str:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HarnessError(
            f"{folder} is not writable ({error.strerror}); change that, or set HARNESS_STATE_DIR to another folder."
        ) from error
    return f"{folder} is writable"


def _vocabulary() -> str:
    from harness.model.tokens import vocabulary_intact

    return "exact" if vocabulary_intact() else "estimated; the vocabulary file is missing or damaged"


def _prices(settings: Settings, today: date) -> str:
    """Age of the prices and models without one. Raises HarnessError if a cost budget needs a price."""
    from harness.engine.model.cost_budget import require_prices
    from harness.model.catalogue import Catalogue
    from harness.model.prices import price_list

    prices, catalogue = price_list(), Catalogue(settings.prices)
    models = (settings.model, *settings.fallback_models)
    for name in ("max_budget_usd", "subagent_budget_usd"):
        if getattr(settings, name) is not None:
            require_prices(models, catalogue.price, name)
    days = max(0, (today - prices.checked).days)
    own = f"; {counted(len(settings.prices), 'price')} from your settings" if settings.prices else ""
    unknown = [model for model in models if catalogue.price(model) is None]
    missing = f"; unknown for {', '.join(unknown)}" if unknown else ""
    return f"checked {counted(days, 'day')} ago ({prices.checked}, {prices.source}){own}{missing}"


async def _server(settings: Settings) -> str:
    from harness.model.catalogue import Catalogue
    from harness.model.tokens import TokenCounter

    if settings.endpoint is not Platform.ANTHROPIC and not settings.practice:
        return f"{NAMES[settings.endpoint]} has no list of models; the first prompt tests the key"
    capture = _LogCapture()
    connection = ModelConnection(settings, capture.logger, TokenCounter())
    await connection.open()
    try:
        cards = await connection.client.models()
    finally:
        await connection.aclose()
    if not cards:
        why = capture.last or "no list of models was returned"
        raise HarnessError(f"{connection.address}: {why}; check address, key and network.")
    listed = {card.id for card in cards}
    missing = "" if settings.model in listed else f", but {settings.model} is not among them"
    catalogue, now = Catalogue(), SystemClock().now()
    catalogue.update(cards)
    ending = [catalogue.warning(model, now) for model in (settings.model, *settings.fallback_models) if model in listed]
    return "; ".join((f"{counted(len(cards), 'model')}{missing}", *filter(None, ending)))


class _LogCapture(logging.Handler):
    """Keeps the last log message of the client, which explains a failure."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.last = ""
        self.logger = logging.Logger("doctor", logging.INFO)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
