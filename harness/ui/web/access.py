"""Access control of the app in a browser: one decision per request, without I/O.

A client of the app can run programs as the user, and every page in a browser can send requests to this machine. The
checks, in this order:

1. `Host` is one of our own names. This rejects DNS rebinding.
2. `Origin` is our own. It is required for websockets and for everything but reading, for which browsers send none.
3. A request with the cookie is allowed.
4. The token of the printed link is exchanged for the cookie, once.

Secrets are compared in constant time.
"""

import hmac
import secrets
from dataclasses import dataclass, field, replace
from enum import Enum

LINK = "Open the link that `harness serve` printed."
_READING = frozenset({"GET", "HEAD"})
_HTTP_PORT = 80


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """The relevant parts of a request. None: absent, or sent more than once."""

    method: str
    path: str
    host: str | None
    origin: str | None = None
    token: str | None = field(default=None, repr=False)
    """Query parameter `token`."""
    cookie: str | None = field(default=None, repr=False)
    """Value of the cookie."""
    websocket: bool = False


class AccessGrant(Enum):
    """How a request is allowed."""

    ENTER = "enter"
    """By the cookie."""
    EXCHANGE = "exchange"
    """By the unused token: set the cookie and redirect to the address without it."""


@dataclass(frozen=True, slots=True)
class AccessDenied:
    """Respond with 403 and this sentence."""

    sentence: str


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Names, secrets, and whether the link was used."""

    port: int
    token: str = field(repr=False)
    cookie: str = field(repr=False)
    link_used: bool = False

    @classmethod
    def fresh(cls, port: int) -> "AccessPolicy":
        """A policy for a port with two new secrets of 256 bits."""
        return cls(port, secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    @property
    def link(self) -> str:
        """The link to open, once."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """Name of the cookie, with the port, because browsers share cookies between ports."""
        return f"harness-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """Allowed values of `Host`."""
        names = ("127.0.0.1", "localhost", "[::1]")
        with_port = {f"{name}:{self.port}" for name in names}
        return frozenset(with_port.union(names) if self.port == _HTTP_PORT else with_port)

    def used(self) -> "AccessPolicy":
        """The policy after the exchange of the token."""
        return replace(self, link_used=True)

    def decide(self, request: AccessRequest) -> AccessGrant | AccessDenied:
        """Allow or deny a request."""
        if request.host is None or request.host.lower() not in self.hosts:
            return AccessDenied("This server accepts requests to 127.0.0.1 and localhost only.")
        needed = request.websocket or request.method not in _READING
        if (request.origin is not None or needed) and request.origin != f"http://{request.host.lower()}":
            return AccessDenied("Only pages of this server may do that.")
        if request.token is not None and request.path == "/" and not request.websocket:
            return self._link(request.method, request.token)
        if request.cookie is not None and _same(request.cookie, self.cookie):
            return AccessGrant.ENTER
        return AccessDenied(f"This browser has no access. {LINK}")

    def _link(self, method: str, token: str) -> AccessGrant | AccessDenied:
        if not _same(token, self.token):
            return AccessDenied(f"This is not the link of this server. {LINK}")
        if self.link_used:
            return AccessDenied("This link was used already. Start `harness serve` again for a new one.")
        if method != "GET":
            return AccessDenied("Open the link in a browser.")
        return AccessGrant.EXCHANGE


def security_headers(host: str | None) -> dict[str, str]:
    """Headers of every response. `host` is the checked `Host` of an allowed request, else None.

    Nothing is loaded from other origins. Inline styles are allowed, because the terminal of the page needs them.
    """
    if host is None:
        policy = "default-src 'none'"
    else:
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
            f"img-src data:; connect-src ws://{host}"
        )
    return {
        "Cache-Control": "no-store",
        "Content-Security-Policy": f"{policy}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }


def _same(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())
