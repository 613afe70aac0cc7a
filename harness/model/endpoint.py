"""Where the model answers and what opens its door, checked before the first byte goes out (api R2)."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from harness.secret import Secret


class EndpointError(ValueError):
    """An address, key or token that cannot work. `str(error)` is one sentence and never holds the secret."""

    def __init__(self, setting: str, problem: str, remedy: str) -> None:
        super().__init__(f"{setting} {problem}; {remedy}.")
        self.setting = setting
        """Name of the setting at fault: "base_url", "api_key" or "auth_token"."""
        self.problem = problem
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A checked address of a Messages API. Make one with `checked`."""

    base_url: str
    """http or https, a host, no trailing slash, no credentials."""
    api_key: Secret | None
    auth_token: Secret | None
    """Sent when there is no `api_key`. Both travel as a Bearer token (api §0)."""
    origin: str
    """Where the address comes from, in words for a person: "environment", "the practice model"."""

    @property
    def credential(self) -> Secret | None:
        """What is sent; the key goes before the token, as in the SDK."""
        return self.api_key or self.auth_token

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
    base_url: str, *, api_key: Secret | str | None = None, auth_token: Secret | str | None = None, origin: str
) -> Endpoint:
    """The endpoint, with spaces around the values taken off.

    Raises EndpointError for an address that is not http or https, for a key or token that is empty or
    not printable ASCII, and for a server elsewhere without any credential.
    """
    endpoint = Endpoint(_address(base_url), _secret("api_key", api_key), _secret("auth_token", auth_token), origin)
    if endpoint.credential is None and not endpoint.is_loopback:
        raise EndpointError("api_key", f"is not set, and {endpoint.base_url} asks for one", "set ANTHROPIC_API_KEY")
    return endpoint


def _address(base_url: str) -> str:
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


def _secret(setting: str, value: Secret | str | None) -> Secret | None:
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
