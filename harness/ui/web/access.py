"""Who may use the app in a browser: one decision for each request, without any I/O.

Whoever reaches the app can run programs as the person who started it, and every page that a browser shows can send
requests to this machine. So four things are asked, in this order:

1. Is the `Host` one of our own names? A name that was bound anew to 127.0.0.1 (DNS rebinding) is not.
2. Is the `Origin` our own? Pages of other origins, also of other ports, may not connect. Reading needs none, because
   browsers send none with it; a websocket and everything that could change something does.
3. Does the request bring the cookie? Then it is let in.
4. Or the token of the link that was printed? It is exchanged for the cookie, once.

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
class Knock:
    """What the decision needs of a request. None: not sent, or sent more than once."""

    method: str
    path: str
    host: str | None
    origin: str | None = None
    token: str | None = field(default=None, repr=False)
    """`token` of the query."""
    cookie: str | None = field(default=None, repr=False)
    """Value of our cookie."""
    websocket: bool = False


class Admission(Enum):
    """How a request is let in."""

    ENTER = "enter"
    """It brought the cookie."""
    EXCHANGE = "exchange"
    """It brought the unused token: give it the cookie, and send it where no token stands in the address."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request is answered with 403 and this sentence."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Door:
    """The names, the secrets and whether the link was used. `used` makes the door after an exchange."""

    port: int
    token: str = field(repr=False)
    cookie: str = field(repr=False)
    link_used: bool = False

    @classmethod
    def fresh(cls, port: int) -> "Door":
        """A door at this port with two new secrets of 256 bits each."""
        return cls(port, secrets.token_urlsafe(32), secrets.token_urlsafe(32))

    @property
    def link(self) -> str:
        """What the person opens, once."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """Browsers keep one set of cookies for all ports of a machine, so the port is in the name."""
        return f"harness-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """What `Host` may be."""
        names = ("127.0.0.1", "localhost", "[::1]")
        with_port = {f"{name}:{self.port}" for name in names}
        return frozenset(with_port.union(names) if self.port == _HTTP_PORT else with_port)

    def used(self) -> "Door":
        """The door after the token was exchanged."""
        return replace(self, link_used=True)

    def decide(self, knock: Knock) -> Admission | Refusal:
        """Let this request in, or say why not."""
        if knock.host is None or knock.host.lower() not in self.hosts:
            return Refusal("This server answers to 127.0.0.1 and localhost only.")
        needed = knock.websocket or knock.method not in _READING
        if (knock.origin is not None or needed) and knock.origin != f"http://{knock.host.lower()}":
            return Refusal("Only pages of this server may do that.")
        if knock.token is not None and knock.path == "/" and not knock.websocket:
            return self._link(knock.method, knock.token)
        if knock.cookie is not None and _same(knock.cookie, self.cookie):
            return Admission.ENTER
        return Refusal(f"This browser was not let in. {LINK}")

    def _link(self, method: str, token: str) -> Admission | Refusal:
        if not _same(token, self.token):
            return Refusal(f"This is not the link of this server. {LINK}")
        if self.link_used:
            return Refusal("This link was used; it lets one browser in, once. Start `harness serve` again for another.")
        if method != "GET":
            return Refusal("The link is for opening in a browser.")
        return Admission.EXCHANGE


def security_headers(host: str | None) -> dict[str, str]:
    """What every answer carries. `host` is the checked `Host` of a request that was let in, else None.

    Nothing is loaded from elsewhere. Styles may stand in the page because the terminal of the page writes its own.
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
