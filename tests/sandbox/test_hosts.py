"""Lists of hosts, and which addresses are near."""

from ipaddress import IPv4Address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox.hosts import allows, authority, entry_for, is_near, local_ports

NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
            *("192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"),
        ),
    )
)
LABELS = st.sampled_from(("a", "b", "pypi", "org", "x-1"))
NAMES = st.lists(LABELS, min_size=1, max_size=4).map(".".join)


@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_an_address_of_a_private_network_is_near_in_every_spelling(address: IPv4Address) -> None:
    expected = any(address in network for network in NOT_PUBLIC)
    special = address in ip_network("192.0.0.0/24") or str(address) == "168.63.129.16"
    assert special or is_near(str(address)) == expected
    hexadecimal = f"{int(address) >> 16:x}:{int(address) & 0xFFFF:x}"
    for embedding in (f"::ffff:{hexadecimal}", f"64:ff9b::{hexadecimal}", f"2002:{hexadecimal}::1", f"::{hexadecimal}"):
        assert is_near(embedding) or not is_near(str(address))


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("pypi.org", False),
        ("::1", True),
        ("::", True),
        ("fe80::1", True),
        ("fd00:ec2::254", True),
        ("ff02::1", True),
        ("2606:4700::1111", False),
        ("169.254.169.254", True),
        ("168.63.129.16", True),
        ("203.0.113.80", True),
        ("8.8.8.8", False),
    ],
)
def test_near_hosts(host: str, near: bool) -> None:
    assert is_near(host) == near


@given(st.lists(NAMES.flatmap(lambda name: st.sampled_from((name, f"*.{name}", f"{name}:8080")))), NAMES)
def test_a_list_allows_what_its_entries_say(hosts: list[str], name: str) -> None:
    def allowed(entry: str, port: int) -> bool:
        if entry.endswith(":8080"):
            return port == 8080 and name == entry.removesuffix(":8080")
        labels, wanted = name.split("."), entry.split(".")
        if wanted[0] == "*":
            return port in (80, 443) and len(labels) >= len(wanted) and labels[-len(wanted) + 1 :] == wanted[1:]
        return port in (80, 443) and labels == wanted

    for port in (22, 80, 443, 8080):
        assert allows(hosts, name, port) == any(allowed(entry, port) for entry in hosts)
        assert allows([entry_for(name, port)], name, port)


def test_an_address_is_allowed_by_its_own_entry_only() -> None:
    assert allows(["10.0.0.5:8080"], "10.0.0.5", 8080)
    assert allows(["[fd00::1]:8080"], "fd00::1", 8080)
    assert not allows(["*.5", "10.0.0.5"], "10.0.0.5", 8080)
    assert allows(["localhost:8080"], "127.0.0.1", 8080)
    assert allows(["localhost:8080"], "::1", 8080)
    assert not allows(["localhost:8080"], "10.0.0.5", 8080)
    assert local_ports(["localhost:8080", "127.0.0.1:81", "localhost", "a.example:7"]) == (81, 8080)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("PyPI.org:443", ("pypi.org", 443)),
        ("pypi.org.:65535", ("pypi.org", 65_535)),
        ("[::1]:80", ("::1", 80)),
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        *((text, None) for text in ("pypi.org", "pypi.org:0", "pypi.org:65536", ":443", "a..b:80", "a b:80", "::1:80")),
        *((f"{text}:80", None) for text in ("2130706433", "0x7f000001", "127.1", "0177.0.0.1", "a@b", "[a]", "a\n")),
    ],
)
def test_what_a_request_may_name(text: str, found: tuple[str, int] | None) -> None:
    assert authority(text) == found
