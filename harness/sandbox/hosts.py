"""Which hosts a list allows, and which addresses are public. Pure."""

import re
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

WEB_PORTS = (80, 443)
"""The ports of a host that is listed without one."""
_METADATA = frozenset({ip_address("168.63.129.16"), ip_address("192.0.0.192"), ip_address("192.0.0.170")})
"""Metadata services of clouds that use addresses outside the private ranges."""
_EMBEDDING = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "64:ff9b::/96")))
"""IPv6 networks whose last four bytes are an IPv4 address: compatible, mapped, NAT64."""
_AUTHORITY = re.compile(r"(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9._-]{1,253}))(?::([0-9]{1,5}))?")
_NUMBER = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)", re.IGNORECASE)


def authority(text: str, port: int = 0) -> tuple[str, int] | None:
    """Host and port of `name:port`, the host in lower case without a final dot; None: it is neither a name nor an
    address. `port` is used where the text names none."""
    found = _AUTHORITY.fullmatch(text)
    if found is None:
        return None
    host, number = (found[1] or found[2]).lower().removesuffix("."), int(found[3] or port)
    if not 1 <= number <= 65_535 or not all(host.split(".")):
        return None
    # Other spellings of an address, such as 2130706433 and 0x7f.1, are none.
    if (found[1] or _NUMBER.fullmatch(host.rpartition(".")[2])) and address_of(host) is None:
        return None
    return host, number


def named(host: str, port: int) -> str:
    """`name:port`, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def entry_for(host: str, port: int) -> str:
    """The entry of a list that allows this host."""
    whole = named(host, port)
    return whole.rpartition(":")[0] if port in WEB_PORTS else whole


def address_of(host: str) -> IPv4Address | IPv6Address | None:
    """The address, where the host is written as one."""
    try:
        return ip_address(host)
    except ValueError:
        return None


def is_near(host: str) -> bool:
    """It is this machine, or an address that only its own network can reach."""
    address = address_of(host)
    if address is None:
        return host == "localhost" or host.endswith(".localhost")
    if isinstance(address, IPv6Address):
        embedded = address.sixtofour or (address.teredo[1] if address.teredo else None)
        if any(address in network for network in _EMBEDDING):
            embedded = IPv4Address(int(address) & 0xFFFF_FFFF)
        if embedded is not None:
            return is_near(str(embedded))
    return not address.is_global or address.is_multicast or address in _METADATA


def allows(hosts: Iterable[str], host: str, port: int) -> bool:
    """A list allows a host: by its name, by `*.` and a domain above it, with this port or, for the web, with none.

    `localhost` also allows the addresses of the loopback interface.
    """
    address = address_of(host)
    loopback = host.endswith(".localhost") or (address is not None and address.is_loopback)
    names = {host, "localhost"} if loopback else {host}
    return any(_fits(*parsed, names, port) for one in hosts if (parsed := _entry(one)) is not None)


def local_ports(hosts: Iterable[str]) -> tuple[int, ...]:
    """The ports of this machine that a list allows."""
    parsed = filter(None, map(_entry, hosts))
    return tuple(sorted({port for _, host, port in parsed if port and host in ("localhost", "127.0.0.1")}))


def _entry(text: str) -> tuple[bool, str, int] | None:
    """Whether it is about all names below the host, the host, and the port; 0: those of the web."""
    below = text.startswith("*.")
    found = _AUTHORITY.fullmatch(text[2:] if below else text)
    return None if found is None else (below, (found[1] or found[2]).lower(), int(found[3] or 0))


def _fits(below: bool, host: str, listed: int, names: set[str], port: int) -> bool:
    if port != listed and (listed or port not in WEB_PORTS):
        return False
    return any(address_of(name) is None and name.endswith(f".{host}") for name in names) if below else host in names
