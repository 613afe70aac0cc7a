"""An endpoint is right before the first byte goes out, and its secrets stay inside."""

from typing import Any

import pytest

from harness.base.secrets import Secret
from harness.model.endpoint import Endpoint, EndpointError, checked


def test_spaces_around_address_and_key_are_taken_off() -> None:
    endpoint = checked(" https://api.example.com/v1x/ \n", api_key=" sk-1234\n", origin="environment")
    assert endpoint.base_url == "https://api.example.com/v1x"
    assert endpoint.credential == Secret("sk-1234")
    assert endpoint.encrypted
    assert not endpoint.is_loopback


def test_the_key_goes_before_the_token() -> None:
    both = checked("https://api.example.com", api_key="key", auth_token=Secret("token"), origin="environment")
    assert both.credential == Secret("key")
    assert checked("https://api.example.com", auth_token="token", origin="environment").credential == Secret("token")


@pytest.mark.parametrize("setting", ["api_key", "auth_token"])
@pytest.mark.parametrize("value", ["", "  ", "sk-secret with space", "sk-secret\nx", "sk-secret\x00", "sk-secrét"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(setting: str, value: str) -> None:
    secrets: dict[str, Any] = {setting: value}
    with pytest.raises(EndpointError) as caught:
        checked("https://api.example.com", origin="environment", **secrets)
    assert caught.value.setting == setting
    assert caught.value.__cause__ is None
    assert caught.value.remedy
    assert str(caught.value).startswith(setting)
    assert "sk-secr" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.example.com",
        "ftp://example.com",
        "https://",
        "https:///path",
        "http://[::1",
        "http://host:notaport",
        "http://ho st",
        "http://host\n/x",
        "https://example.com?x=1",
    ],
)
def test_an_address_that_is_not_http_is_refused(address: str) -> None:
    with pytest.raises(EndpointError, match=r"^base_url .*; .*\.$") as caught:
        checked(address, api_key="key", origin="settings")
    assert caught.value.setting == "base_url"


def test_a_password_in_the_address_is_refused_and_not_shown() -> None:
    with pytest.raises(EndpointError) as caught:
        checked("https://user:hunter2@example.com", api_key="key", origin="settings")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9:8080", "localhost:1", "[::1]:8080", "demo.localhost"])
def test_loopback_is_recognised_and_needs_no_key(host: str) -> None:
    assert checked(f"http://{host}", origin="the practice model").is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1.example.com", "localhost.example.com", "10.0.0.1", "192.168.1.5"])
def test_other_hosts_need_a_key(host: str) -> None:
    with pytest.raises(EndpointError, match="ANTHROPIC_API_KEY"):
        checked(f"http://{host}", origin="settings")


def test_an_endpoint_prints_without_its_secrets() -> None:
    endpoint = Endpoint("https://x.example", Secret("sk-visible"), None, "environment")
    assert "sk-visible" not in repr(endpoint)


def test_the_query_of_an_address_is_not_shown() -> None:
    with pytest.raises(EndpointError) as error:
        checked("https://gateway.example/v1?key=sk-very-secret", api_key="k", origin="test")
    assert "sk-very-secret" not in str(error.value)
    assert "https://gateway.example/v1" in str(error.value)
