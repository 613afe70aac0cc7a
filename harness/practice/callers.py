"""Who may use a server of this package: programs of this machine, and not the web pages that its browsers show.

Every page can send requests to this machine. Two headers give it away, which a page cannot change:

1. `Host`: a name that was bound anew to a loopback address (DNS rebinding) is not one of the server's own.
2. `Origin`, and `Sec-Fetch-Site` in its place where a browser sends none: programs send neither.
"""

import ipaddress
from collections.abc import Iterable

from harness.practice.error_bodies import ApiError
from harness.practice.wire import HttpRequest

_OF_PAGES = frozenset({"cross-site", "same-site"})
"""`Sec-Fetch-Site` of requests by a page of another origin (https://www.w3.org/TR/fetch-metadata/)."""


class Callers:
    """Decides about the headers of requests to one listening socket."""

    def __init__(self, host: str, port: int, also: Iterable[str] = ()) -> None:
        """
        Args:
            host: the address that the server listens at.
            port: the port that it listens at.
            also: further values of `Host`, each with its port where that is another one: "box.local", "gate:9000".
        """
        self._port = port
        self._also = frozenset(name.lower() for name in also)
        self._everywhere = not _is_loopback(host)

    def refusal(self, request: HttpRequest) -> ApiError | None:
        """Why this request is not answered; None: it may be."""
        host = (request.header("host") or "").lower()
        if not self._is_ours(host):
            return _forbidden(f"the header Host is {host!r}, which is not a name of this server; see --allow-host")
        origin = request.header("origin")
        if origin is not None and origin.lower() != f"http://{host}":
            return _forbidden(f"it comes from a web page ({origin})")
        if request.header("sec-fetch-site") in _OF_PAGES:
            return _forbidden("it comes from a web page of another origin")
        return None

    def _is_ours(self, host: str) -> bool:
        name, port = _split(host)
        if host in self._also or (name in self._also and port == self._port):
            return True
        # Nobody can bind an address to another one, only a name: an address is safe wherever the server listens.
        known = _is_loopback(name) or (self._everywhere and _is_address(name))
        return known and port == self._port


def _split(host: str) -> tuple[str, int]:
    """Name and port of a `Host`; the port of http where it names none, -1 where it is no number."""
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):
        return host, 80
    return name, int(port) if port.isascii() and port.isdecimal() and len(port) <= 5 else -1


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    bare = name.removeprefix("[").removesuffix("]")
    return bare == "localhost" or (_is_address(bare) and ipaddress.ip_address(bare).is_loopback)


def _forbidden(why: str) -> ApiError:
    return ApiError(403, f"This request is refused: {why}.", "permission_error")
