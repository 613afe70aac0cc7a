"""Where the model answers and what opens its door, checked before the first byte goes out (api R2)."""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from harness.base.secret import Secret

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset(
    {"authorization", "x-api-key", "anthropic-version", "host", "content-type", "content-length", "transfer-encoding"}
)
"""Headers that `headers` cannot set: they have a setting of their own or belong to HTTP."""


class Platform(StrEnum):
    """Who serves the model, and so which dialect of the Messages API is spoken."""

    ANTHROPIC = "anthropic"
    """Anthropic itself, or any gateway that speaks the same."""
    BEDROCK = "bedrock"
    VERTEX = "vertex"
    FOUNDRY = "foundry"


class KeyHeader(StrEnum):
    """The header that carries the key."""

    AUTHORIZATION = "authorization"
    """As a Bearer token, which is how the SDK sends it."""
    X_API_KEY = "x-api-key"
    """As SDKs before 2.0 sent it, and some gateways want it."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header of the user's for every request. Its value counts as a secret."""

    name: str
    value: Secret

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class EndpointError(ValueError):
    """An address, key or token that cannot work. `str(error)` is one sentence and never holds the secret."""

    def __init__(self, setting: str, problem: str, remedy: str) -> None:
        super().__init__(f"{setting} {problem}; {remedy}.")
        self.setting = setting
        """Name of the setting at fault, such as "base_url" or "api_key"."""
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address of a Messages API. Make one with `checked`."""

    base_url: str
    """http or https, a host, no trailing slash, no credentials."""
    api_key: Secret | None
    auth_token: Secret | None
    """Sent when there is no `api_key`, always as a Bearer token."""
    origin: str
    """Where the address comes from, in words for a person: "environment", "the practice model"."""
    platform: Platform = Platform.ANTHROPIC
    region: str = ""
    """Of Bedrock and Vertex."""
    project: str = ""
    """Of Vertex."""
    key_header: KeyHeader = KeyHeader.AUTHORIZATION
    """What carries `api_key`."""
    version: str | None = None
    """Value of the header anthropic-version; None: that of the SDK."""
    headers: tuple[Header, ...] = ()
    """Sent with every request besides those of the SDK."""

    @property
    def credential(self) -> Secret | None:
        """What is sent; the key goes before the token, as in the SDK."""
        return self.api_key or self.auth_token

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Whatever must not show up in a text."""
        return (*filter(None, (self.api_key, self.auth_token)), *(header.value for header in self.headers))

    @property
    def lists_models(self) -> bool:
        """Whether it has a models endpoint. The platforms have none."""
        return self.platform is Platform.ANTHROPIC

    @property
    def encrypted(self) -> bool:
        """True for https."""
        return self.base_url.startswith("https:")

    @property
    def is_loopback(self) -> bool:
        """True when the address cannot leave this machine: no proxy may stand in between (api R3)."""
        host = urlsplit(self.base_url).hostname or ""
        if host == "localhost" or host.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False


def checked(
    base_url: str,
    *,
    api_key: Secret | str | None = None,
    auth_token: Secret | str | None = None,
    origin: str,
    key_header: KeyHeader = KeyHeader.AUTHORIZATION,
    version: str | None = None,
    headers: Iterable[Header] = (),
) -> Endpoint:
    """The endpoint of a Messages API, with spaces around the values taken off.

    Raises EndpointError for an address that is not http or https, for a key or token that is empty or
    not printable ASCII, and for a server elsewhere without any credential.
    """
    endpoint = Endpoint(
        address(base_url),
        secret("api_key", api_key),
        secret("auth_token", auth_token),
        origin,
        key_header=key_header,
        version=version,
        headers=tuple(headers),
    )
    if endpoint.credential is None and not endpoint.is_loopback:
        raise EndpointError("api_key", f"is not set, and {endpoint.base_url} asks for one", "set ANTHROPIC_API_KEY")
    return endpoint


def header(name: str, value: str) -> Header:
    """A header that can be sent. Raises ValueError, with a reason that does not hold the value."""
    name, value = name.strip(), value.strip()
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a header; use letters, digits and hyphens")
    if name.lower() in _OURS:
        raise ValueError(f"{name} cannot be set here; use api_key, auth_token, key_header or anthropic_version")
    if not value or not value.isascii() or not value.isprintable():
        raise ValueError(f"the value of {name} is empty or holds a character that no header has; write it again")
    return Header(name, Secret(value))


def address(base_url: str) -> str:
    """A checked address without a slash at its end. Raises EndpointError."""
    url = base_url.strip()
    if not url.isprintable() or any(character.isspace() for character in url):
        raise EndpointError("base_url", "has a space or control character in it", "write it without")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise EndpointError("base_url", f"is not an address ({error})", "write it like https://host:port") from None
    if parts.username is not None or parts.password is not None:
        raise EndpointError("base_url", "holds a user name or password", "put the credential into api_key instead")
    if parts.scheme not in ("http", "https") or not host:
        raise EndpointError("base_url", f"is {url!r}", "begin it with http:// or https:// and a host")
    if parts.query or parts.fragment:
        shown = f"{parts.scheme}://{parts.netloc}{parts.path}"  # what follows may hold a key
        raise EndpointError("base_url", f"has something behind {shown!r}", "write it without ? and #")
    return url.rstrip("/")


def secret(setting: str, value: Secret | str | None) -> Secret | None:
    """A key or token that a header can carry; None stays None. Raises EndpointError."""
    if value is None:
        return None
    text = (value.reveal() if isinstance(value, Secret) else value).strip()
    if not text:
        raise EndpointError(setting, "is empty", "give a value or leave it unset")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise EndpointError(
            setting, "holds a character that no key has (a space, line break or non-ASCII letter)", "copy it again"
        )
    return Secret(text)
