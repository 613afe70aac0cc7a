"""Secrets are recognized by their form, and a text about them is none."""

from harness.base.secrets import Secret
from harness.memory.memory import secret_in
from tests.agent.stage import KEY


def test_a_secret_is_found() -> None:
    table = [
        KEY,
        "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
        "use ghp_" + "a1B2" * 9,
        "xoxb-" + "1234567890-abc",
        "AKIA" + "ABCDEFGHIJKLMNOP",
        "AIza" + "b2" * 17,
        "eyJhbGciOiJI.eyJzdWIiOiIx.c2ln",
        "postgres://admin:hunter2@db.example/prod",
        "Authorization: Bearer abcdef123456",
        "password: hunter2!",
        "The password is hunter22",
        "The password of the test server is plum-tree-77.",
        "API_KEY=0123abcd4567",
        "パスワードは「himitsu123」です",
    ]
    assert [text for text in table if not secret_in(f"Remember this. {text}")] == []


def test_what_speaks_of_one_is_none() -> None:
    table = [
        *("The password is in the keyring.", "The password for staging is kept in the vault."),
        *("The token is kept in 1Password, under staging.", "Passwords: never write them down."),
        *("Secrets come from $VAULT_TOKEN.", "password = os.environ[...]"),
        *("We use the risk-assessment-document-template.", "https://example.com:8080/path@2"),
        *("The tokenizer is fast: 100,000 tokens in 1 s.", "パスワードは金庫にあります"),
    ]
    assert [text for text in table if secret_in(text) != ""] == []


def test_what_the_session_knows_is_found_whatever_it_looks_like() -> None:
    assert secret_in("it is plum", (None, Secret(""), Secret("plum"))) == "the key of this session"
