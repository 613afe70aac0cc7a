"""The OAuth client of the SDK, with what it lacks: tokens of an earlier session are renewed, by one process at a time.

The SDK forgets with its object when a token ends and where it is renewed, and begins a new sign-in then. Import this
only where the SDK is there.
"""

import time
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import OAuthMetadata

from harness.base.concurrency import in_thread
from harness.mcp.connection import McpError

if TYPE_CHECKING:
    import httpx2

AHEAD_S = 10.0
"""Seconds before its end at which a token is renewed."""
WELL_KNOWN = "/.well-known/oauth-authorization-server"
UNAVAILABLE = 500
"""Least HTTP status that says nothing about the tokens."""


class RenewingProvider(OAuthClientProvider):
    """Uses the tokens of a `TokenFile`, which other processes use as well."""

    _issuer = ""
    _expires_at: float | None = None
    _kept: OAuthMetadata | None = None

    async def _initialize(self) -> None:
        """Take over what the file holds, which may be newer than ours."""
        await super()._initialize()
        stored: Any = self.context.storage
        self._expires_at, self._kept = stored.expires_at, stored.get_metadata()
        self.context.oauth_metadata = self.context.oauth_metadata or self._kept

    def _expected_issuer(self) -> str:
        return self._issuer if self._issuer and not self.context.auth_server_url else super()._expected_issuer()

    async def _auth_flow(self, request: "httpx2.Request") -> "AsyncGenerator[httpx2.Request, httpx2.Response]":
        if not self._initialized:
            await self._initialize()
        renew = self._expires_at is not None and time.time() > self._expires_at - AHEAD_S
        renewed = False
        flow = super()._auth_flow(request)
        outgoing = await anext(flow)
        try:
            while True:
                if renew and not renewed and self.context.can_refresh_token():
                    renewed = True
                    lock = await in_thread(self.context.storage.lock)  # type: ignore[attr-defined]
                    try:
                        if (ask := await self._renewal(request)) is not None:
                            await self._take(request, (yield ask))
                    finally:
                        lock.release()
                response = yield outgoing
                renew = outgoing is request and response.status_code == 401
                if renew and not renewed and self.context.can_refresh_token():
                    continue  # with new tokens, the same request
                if await self._names_issuer(outgoing, response):
                    await flow.aclose()
                    flow = super()._auth_flow(request)
                    outgoing = await anext(flow)
                    continue
                outgoing = await flow.asend(response)
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()
            if self.context.oauth_metadata not in (None, self._kept):
                self._kept = self.context.oauth_metadata
                self.context.storage.set_metadata(self._kept)  # type: ignore[attr-defined]

    async def _renewal(self, request: "httpx2.Request") -> "httpx2.Request | None":
        """The request for new tokens; None: another process has renewed them meanwhile."""
        used = self.context.current_tokens
        await self._initialize()
        if self.context.current_tokens != used:
            self._add_auth_header(request)
            return None
        return await self._refresh_token() if self.context.can_refresh_token() else None

    async def _take(self, request: "httpx2.Request", response: "httpx2.Response") -> None:
        """New tokens. Those that are refused are forgotten here and not in the file: a sign-in replaces them."""
        if response.status_code >= UNAVAILABLE:
            raise McpError(f"its tokens cannot be renewed now (HTTP {response.status_code})")
        if await self._handle_refresh_response(response):
            self._expires_at, self.context.token_expiry_time = self.context.token_expiry_time, None
            self._add_auth_header(request)

    async def _names_issuer(self, asked: "httpx2.Request", response: "httpx2.Response") -> bool:
        """The metadata at the address of the MCP server names an issuer below that address, as before 2025-06-18.

        The SDK accepts the bare address only. Whoever answers there could have named it.
        """
        if self._issuer or self.context.auth_server_url or asked.url.path != WELL_KNOWN or response.status_code != 200:
            return False
        try:
            issuer = str(OAuthMetadata.model_validate_json(await response.aread()).issuer)
        except ValueError:
            return False
        server, named = urlsplit(self.context.server_url), urlsplit(issuer)
        same = (server.scheme, server.netloc.lower()) == (named.scheme, named.netloc.lower())
        self._issuer = issuer if same and named.path.strip("/") else ""
        return bool(self._issuer)
