"""Where the model answers: a real address with its key, or the practice server in this very process."""

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError, SettingsError
from harness.engine.config import watch_limits
from harness.model.client import ModelClient
from harness.model.endpoint import Endpoint, EndpointError, Platform, checked
from harness.model.platforms import NAMES, platform_endpoint
from harness.model.tokens import TokenCounter
from harness.settings import DEFAULT_MODEL, Settings

if TYPE_CHECKING:
    from harness.practice.pending_faults import Orders
    from harness.practice.script import Script
    from harness.practice.server import PracticeServer

ANTHROPIC = "https://api.anthropic.com"
PRACTICE_KEY = "practice"
"""What is sent to the practice server; no key of the person's ever is (api R3)."""


class Connection:
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
            reread: reads the settings again, for a key that was changed while the program runs (recovery B9).
        """
        self._settings = settings
        self._log = log
        self._counter = counter
        self._reread = reread
        self._opened = AsyncExitStack()
        self._client: ModelClient | None = None
        self._endpoint: Endpoint | None = None
        self._script: Script | None = None
        self._orders: Orders | None = None
        """What was ordered to go wrong; None: nothing was yet."""
        self._server: PracticeServer | None = None
        self._opening = asyncio.Lock()

    @property
    def client(self) -> ModelClient:
        """The client to use now."""
        if self._client is None:
            raise RuntimeError("the connection is not open")
        return self._client

    @property
    def address(self) -> str:
        """Where the model answers, without credentials."""
        if self._endpoint is not None:
            return self._endpoint.base_url
        return "the built-in practice model" if self._settings.practice else address_of(self._settings)

    @property
    def orders(self) -> "Orders":
        """What is ordered to go wrong with the practice model, also before it has been started.

        Raises HarnessError, with what to do, when another model answers.
        """
        if not self._settings.practice:
            raise HarnessError(
                f"The model at {self.address} cannot be broken from here; "
                "start `harness --practice`, or put faults before a real model with `harness practice proxy`."
            )
        if self._orders is None:
            from harness.practice.pending_faults import Orders

            self._orders = Orders() if self._server is None else self._server.orders
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
        self._client = ModelClient(endpoint, watch=watch_limits(self._settings), log=self._log)
        self._client.preload()

    async def _practice(self) -> Endpoint:
        server = await asyncio.to_thread(self._practice_server)  # its import takes too long for a screen to wait
        if self._orders is not None:
            server.orders = self._orders
        self._server = server
        await self._opened.enter_async_context(server)
        return checked(server.base_url, api_key=PRACTICE_KEY, origin="the built-in practice model")

    def _practice_server(self) -> "PracticeServer":
        from harness.practice.improviser import Improviser
        from harness.practice.server import PracticeServer

        return PracticeServer(Improviser(), script=self._script, tokens=self._counter, remember=0)


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
