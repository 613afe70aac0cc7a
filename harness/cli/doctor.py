"""`harness doctor`: what is set, from where, what will happen, and what would go wrong."""

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

from harness import __version__
from harness.base.clock import SystemClock
from harness.base.errors import HarnessError, SettingsError
from harness.base.secret import MASK, Secret
from harness.base.terminal_text import counted
from harness.cli.doctor_session import brought_along
from harness.engine.config import retirements
from harness.engine.connection import address_of, endpoint_of
from harness.hooks import Hook
from harness.journal import session_folder, state_folder
from harness.model.endpoint import Endpoint, Platform
from harness.model.platforms import NAMES
from harness.settings import Loaded, Settings, load, project_settings_file, user_settings_file
from harness.ui.plain.plain import has_colours
from harness.ui.screen_choice import screen_wanted

CONNECT_S = 5.0
"""Seconds that opening a connection may take."""
PACKAGES = ("anthropic", "httpx2", "pydantic", "tiktoken", "textual")
LACKING = {
    Platform.BEDROCK: "a list of models with their limits, and server tools such as web search",
    Platform.VERTEX: "a list of models with their limits",
    Platform.FOUNDRY: "a list of models with their limits",
}
"""What a platform does not offer of the Messages API."""
PERMISSIONS = {
    "ask": "asks before it writes or runs something",
    "edits": "writes files without asking, asks before it runs something",
    "yolo": "writes and runs without asking",
    "deny": "reads only",
}


def doctor(out: TextIO, *, workspace: str | None = None, online: bool = False) -> int:
    """Print the report. Returns 0 when a prompt would go out, 1 when something would fail before that.

    A connection to the address of the model is opened and closed; only `online` sends something, and asks the server
    for its models.
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
    report.facts("Set by you", _given(loaded))
    report.facts("Files", _files(settings))
    brought = brought_along(loaded)
    report.facts("With every session here", brought.facts)
    report.facts("Terminal", {"shown": _front_end(settings)} | _terminal(os.environ))
    report.title("Checks")
    for note in (*loaded.notes, *brought.oddities):
        report.line("!", note)
    for name, failure in brought.failures.items():
        report.failed(name, failure)
    for text in retirements(settings, SystemClock()):
        report.line("!", text)
    report.check("model", lambda: _model(settings))
    report.check("tools", lambda: _tools(settings))
    report.check("loops", lambda: _loops(settings))
    report.check("state folder", lambda: _writable(state_folder(settings.state_dir)))
    report.check("token counts", _vocabulary)
    report.check("prices", lambda: _prices(settings, datetime.now(UTC).date()))
    if online:
        report.check("server", lambda: asyncio.run(_server(settings)))
    return report.exit_code


class _Report:
    """Writes sections of facts and checks; remembers whether a check failed."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self.exit_code = 0

    def title(self, text: str) -> None:
        print(text, file=self._out)

    def facts(self, title: str, facts: Mapping[str, object]) -> None:
        self.title(title)
        width = max(map(len, facts), default=0)
        for name, value in facts.items():
            print(f"  {name:<{width}}  {value}", file=self._out)
        print(file=self._out)

    def check(self, name: str, examine: Callable[[], str]) -> None:
        """`examine` gives what it found, or raises HarnessError."""
        try:
            self.line("✓", f"{name}: {examine()}")
        except HarnessError as error:
            self.failed(name, error)

    def failed(self, name: str, error: HarnessError) -> None:
        self.line("✗", f"{name}: {error}")
        self.exit_code = 1

    def line(self, mark: str, text: str) -> None:
        print(f"  {mark} {text}", file=self._out)


def _program() -> dict[str, object]:
    facts: dict[str, object] = {
        "harness": __version__,
        "Python": f"{platform.python_version()} at {sys.executable}",
        "system": platform.platform(),
        "read-only sandbox": _sandbox(),
    }
    return facts | {name: _version(name) for name in PACKAGES}


def _sandbox() -> str:
    from harness.processes.read_only import landlock_version

    version = landlock_version()
    return f"on for commands that only look (Landlock {version})" if version else "not offered by this system"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _outlook(loaded: Loaded) -> dict[str, object]:
    settings, origins = loaded.settings, loaded.origins
    if settings.practice:
        return {
            "answers": f"{settings.model}, the built-in rule-based practice model ({origins['practice']})",
            "for a real one": "set ANTHROPIC_API_KEY",
            "network": "none; the practice model runs inside the program",
            "tools": PERMISSIONS[settings.permission_mode],
        }
    name = "api_key" if settings.api_key else "auth_token"
    credential = settings.api_key or settings.auth_token
    answers = {
        "answers": f"{settings.model} ({origins['model']})",
        "when overloaded": ", ".join(settings.fallback_models) or "no other model; it is retried",
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
            "key": "that of the environment; api_key, auth_token and base_url do not count",
            "not there": LACKING[settings.endpoint],
        }
    if settings.anthropic_version is not None:
        reached["version"] = f"anthropic-version: {settings.anthropic_version} ({origins['anthropic_version']})"
    if settings.headers:
        reached["headers"] = f"{', '.join(map(str, settings.headers))} ({origins['headers']})"
    return answers | reached | {"tools": PERMISSIONS[settings.permission_mode]}


def _masked(secret: Secret) -> str:
    return f"{MASK}, {len(secret.reveal())} characters"


def _given(loaded: Loaded) -> dict[str, object]:
    given = {name: origin for name, origin in loaded.origins.items() if not origin.startswith("default")}
    if not given:
        return {"nothing": "all settings have their defaults; `harness settings` lists them"}
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
        "logs": f"{state / 'logs'} (written with --debug)",
    }


def _present(path: Path) -> str:
    return f"{path}{'' if path.exists() else ' (not there)'}"


def _front_end(settings: Settings) -> str:
    if settings.plain:
        return "lines, as plain is set"
    if screen_wanted(settings.plain, os.environ, (sys.stdin, sys.stdout, sys.stderr)):
        return "the screen; --plain gives lines"
    return "lines; the screen needs a terminal that can be drawn on"


def _terminal(environ: Mapping[str, str]) -> dict[str, object]:
    streams = {"input": sys.stdin, "output": sys.stdout, "errors": sys.stderr}
    attached = [name for name, stream in streams.items() if stream is not None and stream.isatty()]
    size = shutil.get_terminal_size()
    return {
        "terminal": ", ".join(attached) or "none; prompts are read a line at a time and nothing is asked",
        "TERM": environ.get("TERM") or "not set",
        "colours": "on" if has_colours(sys.stdout, environ) else "off",
        "size": f"{size.columns} × {size.lines}",
        "encoding": sys.stdout.encoding,
    }


def _model(settings: Settings) -> str:
    if not settings.practice:
        endpoint = endpoint_of(settings)
        plain = "" if endpoint.encrypted or endpoint.is_loopback else "; not encrypted, the key can be read on the way"
        tried = "the key was not tried" + (" (--online does)" if endpoint.lists_models else "")
        return f"{_connected(endpoint)}{plain}; {tried}"
    if settings.practice_script is None:
        return "the practice model improvises"
    from harness.practice.script import Script

    script = Script.load(settings.practice_script)
    return f"the practice model plays {settings.practice_script} ({counted(len(script.steps), 'entry', 'entries')})"


def _connected(endpoint: Endpoint) -> str:
    """Open a connection to the address, or to the proxy before it, and close it. Raises HarnessError, with why."""
    address = urlsplit(endpoint.base_url)
    host, port = address.hostname or "", address.port or (443 if endpoint.encrypted else 80)
    shown, remedy = endpoint.base_url, "check that the server runs, and base_url (ANTHROPIC_BASE_URL)"
    if (proxy := _proxy(endpoint, host)) is not None:
        host, port = proxy
        shown, remedy = f"the proxy {host}:{port}", "check the proxy variables of the environment"
    try:
        socket.create_connection((host, port), timeout=CONNECT_S).close()
    except TimeoutError:
        raise HarnessError(f"{shown} did not answer within {CONNECT_S:g} s; {remedy} and the network.") from None
    except ConnectionRefusedError:
        raise HarnessError(f"nothing listens at {shown} (connection refused); {remedy}.") from None
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise HarnessError(f"{shown} cannot be reached ({why}); {remedy} and the network.") from error
    return f"{shown} accepts connections"


def _proxy(endpoint: Endpoint, host: str) -> tuple[str, int] | None:
    """Host and port of the proxy that requests go through; None: they go straight to the server."""
    if endpoint.is_loopback or proxy_bypass(host):
        return None
    proxies = getproxies()
    url = proxies.get("https" if endpoint.encrypted else "http") or proxies.get("all")
    parts = urlsplit(url if url and "://" in url else f"http://{url}") if url else None
    return (parts.hostname, parts.port or 80) if parts is not None and parts.hostname else None


def _tools(settings: Settings) -> str:
    from harness.engine.config import capabilities_for, tools_for
    from harness.tools.toolbox import Toolbox

    toolbox = Toolbox(tools_for(settings))
    critical = ", ".join(sorted(capabilities_for(settings, toolbox).critical))
    faults = "" if settings.tool_faults is None else f"; they fail as {settings.tool_faults} says"
    return f"{', '.join(toolbox.names)}; no other can take the place of {critical}{faults}"


def _loops(settings: Settings) -> str:
    from harness.engine.config import escape_policy

    policy = escape_policy(settings)
    numbers = ", ".join(policy.differences())
    return ("led out of" if policy.enabled else "only told of") + (f", with {numbers}" if numbers else "")


def _writable(folder: Path) -> str:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise HarnessError(
            f"{folder} cannot be written ({error.strerror}); free it, or set HARNESS_STATE_DIR to another folder."
        ) from error
    return f"{folder} can be written"


def _vocabulary() -> str:
    from harness.model import vocabulary

    return "exact" if vocabulary.intact() else "estimated; the vocabulary file is missing or damaged"


def _prices(settings: Settings, today: date) -> str:
    """How old the prices are, and which model has none. Raises HarnessError where a cost budget needs one."""
    from harness.engine.model.cost_budget import require_prices
    from harness.model.catalogue import Catalogue
    from harness.model.prices import price_list

    prices, catalogue = price_list(), Catalogue(settings.prices)
    models = (settings.model, *settings.fallback_models)
    for name in ("max_budget_usd", "agent_budget_usd"):
        if getattr(settings, name) is not None:
            require_prices(models, catalogue.price, name)
    days = max(0, (today - prices.checked).days)
    own = f"; {counted(len(settings.prices), 'price')} of yours" if settings.prices else ""
    unknown = [model for model in models if catalogue.price(model) is None]
    missing = f"; that of {', '.join(unknown)} is not known" if unknown else ""
    return f"checked {counted(days, 'day')} ago ({prices.checked}, {prices.source}){own}{missing}"


async def _server(settings: Settings) -> str:
    from harness.engine.connection import Connection
    from harness.model.catalogue import Catalogue
    from harness.model.tokens import TokenCounter

    if settings.endpoint is not Platform.ANTHROPIC and not settings.practice:
        return f"{NAMES[settings.endpoint]} has no list of models to ask for; the first prompt tries the key"
    heard = _Heard()
    connection = Connection(settings, heard.logger, TokenCounter())
    await connection.open()
    try:
        cards = await connection.client.models()
    finally:
        await connection.aclose()
    if not cards:
        why = heard.last or "no list of models came back"
        raise HarnessError(f"{connection.address}: {why}; check address, key and network.")
    listed = {card.id for card in cards}
    missing = "" if settings.model in listed else f", but {settings.model} is not among them"
    catalogue, now = Catalogue(), SystemClock().now()
    catalogue.update(cards)
    ending = [catalogue.warning(model, now) for model in (settings.model, *settings.fallback_models) if model in listed]
    return "; ".join((f"{counted(len(cards), 'model')}{missing}", *filter(None, ending)))


class _Heard(logging.Handler):
    """Keeps what the client logs, which is why a question failed."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.last = ""
        self.logger = logging.Logger("doctor", logging.INFO)
        self.logger.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self.last = record.getMessage()
