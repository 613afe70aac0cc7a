"""The connection to the model: a real address with its key, or the practice server in this process."""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from harness.base.errors import HarnessError, SettingsError
from harness.engine.build.from_settings import watch_limits
from harness.events import Event, FaultOrdered
from harness.model.client import ModelClient
from harness.model.endpoint import Endpoint, EndpointError, Platform, checked
from harness.model.platforms import NAMES, platform_endpoint
from harness.model.tokens import TokenCounter
from harness.settings import DEFAULT_MODEL, Settings
from harness.tools.tool import Tool, ToolContext, ToolResult
from harness.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from harness.practice.faults.model_orders import FaultQueue
    from harness.practice.faults.orders import FaultCommandResult
    from harness.practice.faults.tool_orders import ToolFaultQueue
    from harness.practice.script import Script
    from harness.practice.server import PracticeServer

ANTHROPIC = "https://api.anthropic.com"
PRACTICE_KEY = "practice"
"""Sent to the practice server instead of a key of the user."""


class ModelConnection:
    """The client to the model that the settings name. Opens once, and closes what it opened."""

    def __init__(
        self,
        settings: Settings,
        log: logging.Logger,
        counter: TokenCounter,
        reread: Callable[[], Settings] | None = None,
    ) -> None:
        """
        Args:
            counter: counts tokens for the practice server.
            reread: reads the settings again, for a key that was changed while the program runs.
        """
        self._settings = settings
        self._log = log
        self._counter = counter
        self._reread = reread
        self._opened = AsyncExitStack()
        self._client: ModelClient | None = None
        self._endpoint: Endpoint | None = None
        self._script: Script | None = None
        self._orders: FaultQueue | None = None
        """Ordered faults; None: none so far."""
        self._server: PracticeServer | None = None
        self._opening = asyncio.Lock()

    @property
    def client(self) -> ModelClient:
        """The client to use now."""
        if self._client is None:
            raise RuntimeError("the connection is not open")
        return self._client

    @property
    def reached(self) -> bool:
        """The model has answered, with whatever, since the address was last read."""
        return self._client is not None and self._client.reached

    @property
    def address(self) -> str:
        """Where the model answers, without credentials."""
        if self._endpoint is not None:
            return self._endpoint.base_url
        return "the built-in practice model" if self._settings.practice else address_of(self._settings)

    @property
    def orders(self) -> "FaultQueue":
        """The faults that were ordered of the practice model, also before it has been started.

        Raises HarnessError, with what to do, when another model answers.
        """
        if not self._settings.practice:
            raise HarnessError(
                f"The model at {self.address} cannot be broken from here; "
                "start `harness --practice`, or put faults before a real model with `harness practice proxy`."
            )
        if self._orders is None:
            from harness.practice.faults.model_orders import FaultQueue

            self._orders = FaultQueue() if self._server is None else self._server.orders
        return self._orders

    def check(self) -> None:
        """Make sure that the settings can be used, and nothing more: no server is started, no SDK imported.

        Raises SettingsError when the address or the key cannot be used, or the script cannot be played.
        """
        if not self._settings.practice:
            self._endpoint = endpoint_of(self._settings)
        elif self._settings.practice_script is not None and self._script is None:
            from harness.practice.script import Script

            self._script = Script.load(self._settings.practice_script)

    async def open(self) -> None:
        """Start the practice server if it is to answer, and begin to import the SDK; a second call does nothing, and
        one that comes meanwhile waits for the first. Raises what `check` does."""
        async with self._opening:
            if self._client is None:
                self.check()
                self._use(await self._practice() if self._settings.practice else endpoint_of(self._settings))

    async def reload(self) -> bool:
        """Read key and address again; True when they changed and the next request uses the new ones."""
        if self._reread is None or self._settings.practice:
            return False
        try:
            endpoint = endpoint_of(self._reread())
        except SettingsError as error:
            self._log.warning("the settings could not be read again: %s", error)
            return False
        if endpoint == self._endpoint:
            return False
        await self.client.aclose()
        self._use(endpoint)
        return True

    async def aclose(self) -> None:
        """Close all connections and end the practice server; one that is just being started is waited for."""
        async with self._opening:
            client, self._client = self._client, None
            if client is not None:
                await client.aclose()
            await self._opened.aclose()

    def _use(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        watch, lazy = watch_limits(self._settings), self._settings.lazy_sdk
        self._client = ModelClient(endpoint, watch=watch, log=self._log, lazy_sdk=lazy)
        self._client.preload()

    async def _practice(self) -> Endpoint:
        server = await asyncio.to_thread(self._practice_server)  # its import takes too long for a screen to wait
        if self._orders is not None:
            server.orders = self._orders
        self._server = server
        await self._opened.enter_async_context(server)
        return checked(server.base_url, api_key=PRACTICE_KEY, origin="the built-in practice model")

    def _practice_server(self) -> "PracticeServer":
        from harness.practice.rule_model import RuleModel
        from harness.practice.server import PracticeServer

        return PracticeServer(RuleModel(), script=self._script, tokens=self._counter, remember=0)


class OrderedToolFaults:
    """Tool faults that the user orders. A session without an order imports nothing of the practice package."""

    def __init__(self) -> None:
        self._orders: ToolFaultQueue | None = None

    @property
    def orders(self) -> "ToolFaultQueue":
        """The ordered faults that wait for their calls."""
        if self._orders is None:
            from harness.practice.faults.tool_orders import ToolFaultQueue

            self._orders = ToolFaultQueue()
        return self._orders

    def applied(self, tools: Iterable[Tool]) -> tuple[Tool, ...]:
        """The same tools, with the faults ordered from now on."""
        return tuple(replace(tool, run=partial(self._run, tool)) for tool in tools)

    async def _run(self, tool: Tool, context: ToolContext, arguments: Any) -> ToolResult:
        if self._orders is None:
            return await tool.run(context, arguments)
        return await self._orders.run(tool, context, arguments)


class PracticeFaults:
    """Faults that the user orders, to watch how they are recovered."""

    def __init__(
        self,
        connection: ModelConnection,
        tool_faults: OrderedToolFaults,
        toolbox: Toolbox,
        emit: Callable[[Event], None],
    ) -> None:
        """`toolbox`: what can be broken, also tools of servers that come later."""
        self._connection = connection
        self._tool_faults = tool_faults
        self._toolbox = toolbox
        self._emit = emit

    @property
    def model_kinds(self) -> tuple[str, ...]:
        """The kinds of faults of the model."""
        from harness.practice.faults.words import MODEL_KINDS

        return tuple(MODEL_KINDS)

    @property
    def tool_kinds(self) -> tuple[str, ...]:
        """The kinds of faults of a tool."""
        from harness.practice.faults.words import TOOL_KINDS

        return tuple(TOOL_KINDS)

    @property
    def tools(self) -> tuple[str, ...]:
        """What can be broken: tools, and MCP servers."""
        from harness.practice.faults.words import server_of

        return (*self._toolbox.names, *filter(None, map(server_of, self._toolbox.breakers)))

    def kinds_of(self, tool: str) -> tuple[str, ...]:
        """The kinds of faults that a tool or a server can have."""
        from harness.practice.faults.words import DIE, SERVER

        return (*self.tool_kinds, *((DIE,) if tool.startswith((SERVER, "mcp__")) else ()))

    def break_model(self, text: str) -> str:
        """Order faults of the practice model in the syntax of `/fault`; returns a description of the order.

        "529 3" fails three requests, "off" cancels, and an empty text lists what there is. Raises HarnessError for a
        text that is not understood, and when a real model answers.
        """
        from harness.practice.faults.model_orders import break_model

        return self._ordered("model", break_model(text, self._connection.orders))

    def break_tool(self, text: str) -> str:
        """Order faults of a tool in the syntax of `/toolfault`, such as "grep timeout 3"; describes the order.

        Subagents are affected, too. Raises HarnessError for a text that is not understood.
        """
        from harness.practice.faults.tool_orders import break_tool

        return self._ordered("tool", break_tool(text, self._tool_faults.orders, self.tools))

    def _ordered(self, target: Literal["model", "tool"], broken: "FaultCommandResult") -> str:
        if broken.ordered:
            self._emit(FaultOrdered(target, broken.ordered))
        return broken.said


def address_of(settings: Settings) -> str:
    """Where the model answers, by the settings alone: nothing is checked."""
    if settings.endpoint is Platform.ANTHROPIC:
        return settings.base_url or ANTHROPIC
    parts = (NAMES[settings.endpoint], settings.region, settings.vertex_project, settings.foundry_resource)
    return ", ".join(filter(None, parts))


def endpoint_of(settings: Settings) -> Endpoint:
    """The checked address and key in the settings, or in the environment for a platform.

    Raises SettingsError that names the setting and the remedy.
    """
    try:
        if settings.endpoint is not Platform.ANTHROPIC:
            return _of_platform(settings)
        return checked(
            settings.base_url or ANTHROPIC,
            api_key=settings.api_key,
            auth_token=None if settings.api_key else settings.auth_token,
            origin="settings",
            key_header=settings.key_header,
            version=settings.anthropic_version,
            headers=settings.headers,
        )
    except EndpointError as error:
        shared = error.setting in ("api_key", "auth_token", "base_url")
        variable = f" (ANTHROPIC_{error.setting.upper()})" if shared else ""
        raise SettingsError(f"{error.setting}{variable} {error.problem}; {error.remedy}.") from error


def _of_platform(settings: Settings) -> Endpoint:
    platform = settings.endpoint
    if platform is Platform.BEDROCK and settings.model == DEFAULT_MODEL:
        raise EndpointError(
            "model", f"is {DEFAULT_MODEL}, which is no name on Bedrock", "set the id of a model or inference profile"
        )
    if settings.anthropic_version is not None and platform is not Platform.FOUNDRY:
        raise EndpointError("anthropic_version", f"has no meaning on {NAMES[platform]}", "remove it")
    made = platform_endpoint(
        platform,
        os.environ,
        region=settings.region,
        project=settings.vertex_project,
        resource=settings.foundry_resource,
    )
    return replace(made, version=settings.anthropic_version, headers=settings.headers)
