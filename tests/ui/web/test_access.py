"""Who may use the app in a browser."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ui.web.access import AccessDenied, AccessGrant, AccessPolicy, AccessRequest, security_headers

PORT = 40123
DOOR = AccessPolicy(PORT, token="the-token", cookie="the-cookie")
OWN = "127.0.0.1:40123"
ORIGIN = f"http://{OWN}"
PAGE = AccessRequest("GET", "/", OWN, cookie="the-cookie")
TERMINAL = AccessRequest("GET", "/ws", OWN, origin=ORIGIN, cookie="the-cookie", websocket=True)
LINK = AccessRequest("GET", "/", OWN, token="the-token")


@pytest.mark.parametrize(
    "knock",
    [
        PAGE,
        TERMINAL,
        replace(PAGE, method="HEAD"),
        replace(PAGE, path="/static/js/textual.js"),
        replace(PAGE, path="/download/1"),
        replace(PAGE, host="localhost:40123"),
        replace(PAGE, host="LocalHost:40123"),
        replace(PAGE, host="[::1]:40123"),
        replace(PAGE, method="POST", origin=ORIGIN),
        replace(TERMINAL, host="localhost:40123", origin="http://localhost:40123"),
        replace(PAGE, path="/static/js/textual.js", token="anything"),
    ],
)
def test_the_cookie_lets_in(knock: AccessRequest) -> None:
    assert DOOR.decide(knock) is AccessGrant.ENTER


@pytest.mark.parametrize(
    ("knock", "words"),
    [
        # hosts
        (replace(PAGE, host=None), "127.0.0.1"),
        (replace(PAGE, host=""), "127.0.0.1"),
        (replace(PAGE, host="127.0.0.1"), "127.0.0.1"),
        (replace(PAGE, host="127.0.0.1:40124"), "127.0.0.1"),
        (replace(PAGE, host="evil.example:40123"), "127.0.0.1"),
        (replace(PAGE, host="127.0.0.1:40123.evil.example"), "127.0.0.1"),
        (replace(PAGE, host="127.0.0.1.evil.example:40123"), "127.0.0.1"),
        (replace(PAGE, host="user@127.0.0.1:40123"), "127.0.0.1"),
        (replace(PAGE, host="0.0.0.0:40123"), "127.0.0.1"),
        (replace(LINK, host="evil.example:40123"), "127.0.0.1"),
        # origins
        (replace(TERMINAL, origin=None), "Only pages"),
        (replace(TERMINAL, origin="null"), "Only pages"),
        (replace(TERMINAL, origin="https://evil.example"), "Only pages"),
        (replace(TERMINAL, origin="http://127.0.0.1:40124"), "Only pages"),
        (replace(TERMINAL, origin="https://127.0.0.1:40123"), "Only pages"),
        (replace(TERMINAL, origin="http://localhost:40123"), "Only pages"),
        (replace(TERMINAL, origin=f"{ORIGIN}.evil.example"), "Only pages"),
        (replace(PAGE, origin="https://evil.example"), "Only pages"),
        (replace(PAGE, method="POST"), "Only pages"),
        (replace(PAGE, method="POST", origin="http://127.0.0.1:40124"), "Only pages"),
        (replace(LINK, origin="https://evil.example"), "Only pages"),
        # secrets
        (replace(PAGE, cookie=None), "no access"),
        (replace(PAGE, cookie=""), "no access"),
        (replace(PAGE, cookie="the-cookie2"), "no access"),
        (replace(PAGE, cookie="the-token"), "no access"),
        (replace(PAGE, cookie="\udcff"), "no access"),
        (replace(TERMINAL, cookie=None), "no access"),
        (replace(TERMINAL, cookie=None, token="the-token"), "no access"),
        (replace(TERMINAL, path="/", cookie=None, token="the-token"), "no access"),
        (replace(LINK, path="/ws"), "no access"),
        (replace(LINK, path="/static/js/textual.js"), "no access"),
        (replace(LINK, token=""), "not the link"),
        (replace(LINK, token="the-cookie"), "not the link"),
        (replace(LINK, token="the-cookie", cookie="the-cookie"), "not the link"),
        (replace(LINK, method="HEAD"), "in a browser"),
    ],
)
def test_others_stay_outside_with_a_sentence(knock: AccessRequest, words: str) -> None:
    verdict = DOOR.decide(knock)
    assert isinstance(verdict, AccessDenied)
    assert words in verdict.sentence


def test_the_link_is_exchanged_once() -> None:
    assert DOOR.decide(LINK) is AccessGrant.EXCHANGE
    again = DOOR.used().decide(LINK)
    assert isinstance(again, AccessDenied)
    assert "was used" in again.sentence
    assert DOOR.used().decide(PAGE) is AccessGrant.ENTER


def test_whether_a_link_was_used_is_reported_only_to_those_who_have_it() -> None:
    wrong = replace(LINK, token="guessed")
    assert DOOR.used().decide(wrong) == DOOR.decide(wrong)


def test_at_port_80_browsers_leave_the_port_out() -> None:
    door = replace(DOOR, port=80)
    assert door.decide(replace(PAGE, host="127.0.0.1")) is AccessGrant.ENTER
    assert door.decide(replace(TERMINAL, host="localhost", origin="http://localhost")) is AccessGrant.ENTER


def test_every_door_has_its_own_two_secrets_and_shows_none() -> None:
    one, other = AccessPolicy.fresh(PORT), AccessPolicy.fresh(PORT)
    assert len({one.token, one.cookie, other.token, other.cookie}) == 4
    assert min(map(len, (one.token, one.cookie))) >= 43
    assert one.token not in repr(one)
    assert one.cookie not in repr(one)
    assert one.token in one.link
    assert "the-cookie" not in repr(PAGE)


KNOCKS = st.builds(
    AccessRequest,
    method=st.sampled_from(["GET", "HEAD", "POST", "OPTIONS", "get"]),
    path=st.sampled_from(["/", "/ws", "/static/a", "//", ""]),
    host=st.none() | st.sampled_from([OWN, "localhost:40123", "[::1]:40123", "evil.example"]) | st.text(max_size=20),
    origin=st.none() | st.sampled_from([ORIGIN, "http://localhost:40123", "null"]) | st.text(max_size=20),
    token=st.none() | st.sampled_from(["the-token", "the-cookie", ""]) | st.text(max_size=10),
    cookie=st.none() | st.sampled_from(["the-token", "the-cookie", ""]) | st.text(max_size=10),
    websocket=st.booleans(),
)


def oracle(knock: AccessRequest, *, link_used: bool) -> str:
    """The same decision as a plain conjunction."""
    ours = ("127.0.0.1:40123", "localhost:40123", "[::1]:40123")
    at_home = (knock.host or "").lower() in ours
    only_reads = knock.method in ("GET", "HEAD") and not knock.websocket
    own_page = knock.origin == "http://" + (knock.host or "").lower()
    by_link = knock.path == "/" and knock.token is not None and not knock.websocket
    if at_home and (own_page or (only_reads and knock.origin is None)):
        if by_link and knock.token == "the-token" and knock.method == "GET" and not link_used:
            return "exchange"
        if not by_link and knock.cookie == "the-cookie":
            return "enter"
    return "refuse"


@given(KNOCKS, st.booleans())
def test_the_decision_is_the_plain_conjunction(knock: AccessRequest, link_used: bool) -> None:
    verdict = (DOOR.used() if link_used else DOOR).decide(knock)
    decided = "refuse" if isinstance(verdict, AccessDenied) else verdict.value
    assert decided == oracle(knock, link_used=link_used)


def test_nothing_is_loaded_from_elsewhere_and_it_cannot_be_framed() -> None:
    policy = security_headers(OWN)["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-eval" not in policy
    assert "script-src 'self';" in policy
    assert f"connect-src ws://{OWN};" in policy
    assert "https:" not in policy


def test_a_refused_request_may_load_nothing_at_all() -> None:
    assert "'self'" not in security_headers(None)["Content-Security-Policy"]
