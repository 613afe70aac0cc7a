"""Address and credentials of a Messages API, checked before the first request, and the names of its headers."""

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from harness.base.secrets import Secret

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_OURS = frozenset(
    {"authorization", "x-api-key", "anthropic-version", "host", "content-type", "content-length", "transfer-encoding"}
)
"""Headers that the user cannot set: they have their own setting or belong to HTTP."""


class Platform(StrEnum):
    """Provider of the model, which determines the variant of the Messages API."""

    ANTHROPIC = "anthropic"
    """Anthropic or a compatible gateway."""
    BEDROCK = "bedrock"
    VERTEX = "vertex"
    FOUNDRY = "foundry"


class KeyHeader(StrEnum):
    """The header that carries the key."""

    AUTHORIZATION = "authorization"
    """As a Bearer token, as the SDK sends it."""
    X_API_KEY = "x-api-key"
    """As SDKs before 2.0 sent it and some gateways require it."""


@dataclass(frozen=True, slots=True)
class Header:
    """A header that the user adds to every request. Its value is a secret."""

    name: str
    value: Secret

    def __str__(self) -> str:
        return f"{self.name}: {self.value}"


class EndpointError(ValueError):
    """An invalid address, key or token. `str(error)` is one sentence without secrets."""

    def __init__(self, setting: str, problem: str, remedy: str) -> None:
        super().__init__(f"{setting} {problem}; {remedy}.")
        self.setting = setting
        """Name of the invalid setting, such as "base_url" or "api_key"."""
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address of a Messages API, created by `checked`."""

    base_url: str
    """http or https, a host, no trailing slash, no credentials."""
    api_key: Secret | None
    auth_token: Secret | None
    """Sent when there is no `api_key`, always as a Bearer token."""
    origin: str
    """Source of the address, for the user: "environment", "the practice model"."""
    platform: Platform = Platform.ANTHROPIC
    region: str = ""
    """Of Bedrock and Vertex."""
    project: str = ""
    """Of Vertex."""
    key_header: KeyHeader = KeyHeader.AUTHORIZATION
    """Header for `api_key`."""
    version: str | None = None
    """Value of the header anthropic-version; None: that of the SDK."""
    headers: tuple[Header, ...] = ()
    """Sent with every request besides those of the SDK."""

    @property
    def credential(self) -> Secret | None:
        """The credential that is sent; the key takes precedence over the token, as in the SDK."""
        return self.api_key or self.auth_token

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Values that must not appear in any text."""
        return (*filter(None, (self.api_key, self.auth_token)), *(header.value for header in self.headers))

    @property
    def lists_models(self) -> bool:
        """Has a models endpoint."""
        return self.platform is Platform.ANTHROPIC

    @property
    def address_setting(self) -> str:
        """What sets the address: a variable of the environment, and the setting where there is one."""
        if self.platform is Platform.ANTHROPIC:
            return "ANTHROPIC_BASE_URL (setting base_url)"
        return f"ANTHROPIC_{self.platform.upper()}_BASE_URL"

    @property
    def encrypted(self) -> bool:
        """True for https."""
        return self.base_url.startswith("https:")

    @property
    def is_loopback(self) -> bool:
        """The address is on this machine; no proxy is used."""
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
    """The endpoint of a Messages API, with surrounding spaces stripped.

    Raises EndpointError for an address that is not http or https, for a key or token that is empty or not printable
    ASCII, and for a remote server without any credential.
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
    """A valid header. Raises ValueError, with a message that does not contain the value."""
    name, value = name.strip(), value.strip()
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} is not the name of a header; use letters, digits and hyphens")
    if name.lower() in _OURS:
        raise ValueError(f"{name} cannot be set here; use api_key, auth_token, key_header or anthropic_version")
    if not value or not value.isascii() or not value.isprintable():
        raise ValueError(f"the value of {name} is empty or contains an invalid character; write it again")
    return Header(name, Secret(value))


def address(base_url: str) -> str:
    """A checked address without a trailing slash. Raises EndpointError."""
    url = base_url.strip()
    if not url.isprintable() or any(character.isspace() for character in url):
        raise EndpointError("base_url", "contains a space or control character", "remove it")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise EndpointError("base_url", f"is not an address ({error})", "write it like https://host:port") from None
    if parts.username is not None or parts.password is not None:
        raise EndpointError("base_url", "contains a user name or password", "put the credential into api_key instead")
    if parts.scheme not in ("http", "https") or not host:
        raise EndpointError("base_url", f"is {url!r}", "start it with http:// or https:// and a host")
    if parts.query or parts.fragment:
        shown = f"{parts.scheme}://{parts.netloc}{parts.path}"  # the rest may contain a key
        raise EndpointError("base_url", f"continues after {shown!r}", "remove ? and # and what follows")
    return url.rstrip("/")


def secret(setting: str, value: Secret | str | None) -> Secret | None:
    """A key or token that is valid in a header, or None. Raises EndpointError."""
    if value is None:
        return None
    text = (value.reveal() if isinstance(value, Secret) else value).strip()
    if not text:
        raise EndpointError(setting, "is empty", "give a value or leave it unset")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise EndpointError(
            setting,
            "contains a character that is not valid in a key (a space, line break or non-ASCII letter)",
            "copy it again",
        )
    return Secret(text)


def request_id_of(headers: Mapping[str, str]) -> str | None:
    """The request id for the server's operator."""
    return headers.get("request-id") or headers.get("x-amzn-requestid")
