"""Signing in to HTTP servers: OAuth tokens in a file that only the user can read, and the sign-in itself.

The SDK knows the protocol (PKCE, discovery, registration, refresh, scopes). A session only uses tokens and refreshes
them; `harness mcp login` opens the browser.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import parse_qs, urlsplit

from harness.base.files import read_regular, replace_atomically
from harness.mcp.config import ServerConfig, Transport
from harness.mcp.connection import McpError, SignInError

if TYPE_CHECKING:
    from mcp.client.auth import AuthorizationCodeResult

FOLDER = "mcp-tokens"
"""In the state folder."""
MOST_BYTES = 200_000
PORTS = (33418, 33419, 33420, 0)
"""Of the loopback address that the browser returns to; the first free one. 0: any."""
LOGIN_S = 300.0
RENEWAL_S = 40.0
"""Seconds that one process waits for another one to renew tokens."""
IDENTITY_ASSERTION = "identity_assertion"
ASSERTION_KEYS = ("clientId", "clientSecret", "issuer", "idpTokenUrl", "idpClientId", "idToken")
_URN = "urn:ietf:params:oauth"


class TokenFile:
    """Tokens and registration of one server, as `mcp.client.auth.TokenStorage`."""

    def __init__(self, config: ServerConfig, state: Path) -> None:
        """`state`: the state folder."""
        self._oauth = config.oauth
        self._file = state / FOLDER / f"{sha256(config.url.encode()).hexdigest()[:16]}.json"

    @property
    def exists(self) -> bool:
        """The user has signed in."""
        return "tokens" in self._read()

    async def get_tokens(self) -> Any:
        """The tokens; None: there are none."""
        from mcp.shared.auth import OAuthToken

        return self._get("tokens", OAuthToken)

    @property
    def expires_at(self) -> float | None:
        """Unix time at which the access token ends; None: not known."""
        found = self._read().get("expires_at")
        return found if isinstance(found, int | float) else None

    def get_metadata(self) -> Any:
        """What the authorization server said of itself at the sign-in; None: nothing is kept."""
        from mcp.shared.auth import OAuthMetadata

        return self._get("metadata", OAuthMetadata)

    def set_metadata(self, metadata: Any) -> None:
        """Keep it, because it names the address at which tokens are renewed."""
        self._put(metadata=metadata.model_dump(mode="json", exclude_none=True))

    def lock(self) -> Any:
        """Take the lock of the one process that renews the tokens. Waits: call it in a thread. Raises McpError."""
        from filelock import FileLock, Timeout

        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self._file.with_suffix(".lock"), mode=0o600, thread_local=False)
        try:
            lock.acquire(timeout=RENEWAL_S)
        except Timeout as error:
            raise McpError(f"another session renews its tokens since {RENEWAL_S:g} s") from error
        return lock

    async def set_tokens(self, tokens: Any) -> None:
        """Keep them. A new answer without a refresh token leaves the old one valid (RFC 6749, section 6)."""
        from mcp.shared.auth_utils import calculate_token_expiry

        new = tokens.model_dump(mode="json", exclude_none=True)
        old = self._read().get("tokens", {})
        if "refresh_token" in old:
            new.setdefault("refresh_token", old["refresh_token"])
        self._put(tokens=new, expires_at=calculate_token_expiry(tokens.expires_in))

    async def get_client_info(self) -> Any:
        """What the authorization server knows this program by; None: it does not yet."""
        from mcp.shared.auth import OAuthClientInformationFull

        if client := self._oauth.get("clientId"):
            secret = self._oauth.get("clientSecret")
            method = "client_secret_basic" if secret else "none"
            known = {"client_id": client, "client_secret": secret, "token_endpoint_auth_method": method}
            return OAuthClientInformationFull.model_validate(known)
        return self._get("client", OAuthClientInformationFull)

    async def set_client_info(self, client_info: Any) -> None:
        """Keep it."""
        self._put(client=client_info.model_dump(mode="json", exclude_none=True))

    def forget(self) -> None:
        """Sign out here."""
        with suppress(FileNotFoundError):
            self._file.unlink()

    def _get(self, key: str, model: Any) -> Any:
        with suppress(ValueError):
            found = self._read().get(key)
            return None if found is None else model.model_validate(found)
        return None

    def _read(self) -> Mapping[str, Any]:
        try:
            data = json.loads(read_regular(self._file, MOST_BYTES))
        except (OSError, ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}

    def _put(self, **changes: object) -> None:
        data = json.dumps({**self._read(), **changes}).encode()
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_atomically(self._file, data, private=True)


def stored_auth(config: ServerConfig, state: Path) -> Any:
    """Authentication by the tokens of an earlier sign-in; None: by headers only. What needs the browser raises
    SignInError."""
    tokens = TokenFile(config, state)
    named = {name.lower() for name in config.headers}
    alone = config.oauth.get("grantType") in ("client_credentials", IDENTITY_ASSERTION)
    if config.transport is Transport.STDIO or "authorization" in named or not (alone or tokens.exists):
        return None

    async def refuse(*_: str) -> NoReturn:
        raise SignInError("its sign-in has ended")

    return provider(config, tokens, refuse, refuse, PORTS[0])


def provider(
    config: ServerConfig,
    tokens: Any,
    show: Callable[[str], Awaitable[None]],
    callback: "Callable[[], Awaitable[AuthorizationCodeResult]]",
    port: int,
) -> Any:
    """The OAuth client of the SDK for a server.

    Args:
        show: brings the user to the address of the sign-in.
        callback: waits for the code that comes back.
        port: of the loopback address that it comes back to.
    """
    from mcp.client.auth.extensions.client_credentials import (
        ClientCredentialsOAuthProvider,
        PrivateKeyJWTOAuthProvider,
        SignedJWTParameters,
    )
    from mcp.shared.auth import OAuthClientMetadata

    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "harness",
            "redirect_uris": [f"http://127.0.0.1:{port}/callback"],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": config.oauth.get("scope"),
        }
    )
    oauth, scope = config.oauth, config.oauth.get("scope")
    if oauth.get("grantType") == "client_credentials":
        if key := oauth.get("privateKey"):
            signed = SignedJWTParameters(
                issuer=oauth["clientId"],
                subject=oauth["clientId"],
                signing_key=key,
                signing_algorithm=oauth.get("algorithm", "RS256"),
            )
            assertion = signed.create_assertion_provider()
            return PrivateKeyJWTOAuthProvider(config.url, tokens, oauth["clientId"], assertion, scope)
        return ClientCredentialsOAuthProvider(config.url, tokens, oauth["clientId"], oauth["clientSecret"], scope=scope)
    if oauth.get("grantType") == IDENTITY_ASSERTION:
        return _asserting(config, tokens)
    from harness.mcp.renewal import RenewingProvider

    return RenewingProvider(config.url, metadata, tokens, show, callback, oauth.get("clientMetadataUrl"))


def _asserting(config: ServerConfig, tokens: TokenFile) -> Any:
    """Signs in with an identity token of a company: its identity provider changes that into an assertion for the
    authorization server of the MCP server (RFC 8693, then RFC 7523)."""
    from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider

    oauth = config.oauth
    if missing := [name for name in ASSERTION_KEYS if not oauth.get(name)]:
        raise McpError(f"its oauth table needs {', '.join(missing)} for {IDENTITY_ASSERTION}")

    async def assertion(audience: str, resource: str) -> str:
        import httpx2

        form = {
            "grant_type": f"{_URN}:grant-type:token-exchange",
            "requested_token_type": f"{_URN}:token-type:id-jag",
            "subject_token_type": f"{_URN}:token-type:id_token",
            "subject_token": oauth["idToken"],
            "client_id": oauth["idpClientId"],
            "audience": audience,
            "resource": resource,
        }
        form |= {"client_secret": secret} if (secret := oauth.get("idpClientSecret")) else {}
        async with httpx2.AsyncClient(timeout=30.0) as client:
            response = await client.post(oauth["idpTokenUrl"], data=form)
        answer = response.json() if response.status_code == 200 else {}
        if not isinstance(answer, dict) or not isinstance(found := answer.get("access_token"), str):
            raise SignInError(f"the identity provider gave no assertion (HTTP {response.status_code}); renew idToken")
        return found

    return IdentityAssertionOAuthProvider(
        *(config.url, tokens, oauth["clientId"], oauth["clientSecret"], oauth["issuer"], assertion),
        scope=oauth.get("scope"),
        token_endpoint_auth_method="client_secret_basic",
    )


class LoopbackCallback:
    """Waits on the loopback address for the browser to return with a code."""

    def __init__(self) -> None:
        self._answer: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None
        self.port = 0

    async def __aenter__(self) -> "LoopbackCallback":
        for port in PORTS:
            with suppress(OSError):
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
                self.port = self._server.sockets[0].getsockname()[1]
                return self
        raise McpError("No port of 127.0.0.1 is free for the sign-in; end what listens there.")

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None, "it was entered"
        self._server.close()

    def give(self, address: str) -> bool:
        """Take the address that the browser was sent to, pasted by the user where the browser runs elsewhere."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address.strip()).query).items()}
        if self._answer.done() or not {"code", "error"} & query.keys():
            return False
        self._answer.set_result(query)
        return True

    async def result(self) -> "AuthorizationCodeResult":
        """The code. Raises SignInError where the user refused, or nothing came."""
        from mcp.client.auth import AuthorizationCodeResult

        try:
            async with asyncio.timeout(LOGIN_S):
                query = await asyncio.shield(self._answer)
        except TimeoutError as error:
            raise SignInError(f"no sign-in within {LOGIN_S:g} s") from error
        if "code" not in query:
            raise SignInError(f"the sign-in was refused: {query.get('error_description', query['error'])[:200]}")
        return AuthorizationCodeResult(code=query["code"], state=query.get("state"), iss=query.get("iss"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError):
            async with asyncio.timeout(10.0):
                line = (await reader.readuntil(b"\r\n")).decode("latin-1").split(" ")
            done = len(line) > 1 and self.give(line[1])
            text = "You are signed in; close this page." if done else "Nothing to see here."
            writer.write(
                f"HTTP/1.1 {'200 OK' if done else '404 Not Found'}\r\nContent-Type: text/plain\r\n"
                f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}".encode()
            )
            await writer.drain()
        writer.close()
