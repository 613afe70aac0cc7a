"""A secret is shown by nothing but `reveal`."""

import copy
import json
import pickle
import traceback
from dataclasses import dataclass

import pytest
from pydantic import BaseModel, ValidationError

from harness.base.secrets import MASK, Secret, secrets_in, without_passwords

VALUE = "sk-ant-very-secret-value"


@dataclass
class Holder:
    secret: Secret


class Model(BaseModel):
    secret: Secret | None = None


@pytest.mark.parametrize(
    "shown",
    [
        repr(Secret(VALUE)),
        str(Secret(VALUE)),
        f"{Secret(VALUE)}",
        f"{Secret(VALUE)!r}",
        "%s" % Secret(VALUE),  # noqa: UP031
        repr([Secret(VALUE)]),
        repr(Holder(Secret(VALUE))),
        repr(Model(secret=Secret(VALUE))),
        repr(Model.model_validate({"secret": VALUE}).model_dump()),
        Model(secret=Secret(VALUE)).model_dump_json(),
    ],
)
def test_no_way_of_printing_shows_the_value(shown: str) -> None:
    assert MASK in shown or json.loads(shown)["secret"] == MASK
    assert VALUE not in shown


def test_the_value_is_revealed_on_demand() -> None:
    assert Secret(VALUE).reveal() == VALUE


def test_secrets_are_equal_when_their_values_are() -> None:
    assert Secret(VALUE) == Secret(VALUE)
    assert len({Secret(VALUE), Secret(VALUE), Secret("other")}) == 2
    assert Secret(VALUE) != Secret("other")
    assert Secret(VALUE) != VALUE
    assert Secret("schlüssel \ud800") == Secret("schlüssel \ud800")


def test_an_empty_secret_is_false() -> None:
    assert not Secret("")
    assert Secret("x")


def test_a_secret_is_neither_pickled_nor_written_as_json() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Secret(VALUE))
    with pytest.raises(TypeError):
        json.dumps(Secret(VALUE))


def test_copies_of_a_secret_are_the_secret() -> None:
    secret = Secret(VALUE)
    assert copy.copy(secret) is copy.deepcopy(secret) is secret


def test_a_traceback_through_a_secret_does_not_show_it() -> None:
    with pytest.raises(ValidationError) as caught:
        Model.model_validate({"secret": [Secret(VALUE)]})
    assert VALUE not in "".join(traceback.format_exception(caught.value))


def test_the_environment_says_by_names_and_addresses_what_is_secret() -> None:
    environ = {
        "NPM_TOKEN": "npm_0123456789",
        "MY_PASSWORD": "correct-Horse-9",
        "aws_secret_access_key": "abc/def+0123",
        "DATABASE_URL": "postgres://app:pg-Secret-1@db/app",
        "HTTPS_PROXY": "http://me:proxy%2DSecret@proxy:8080",
        "PWD": "/home/ada/project",
        "SSH_AUTH_SOCK": "/run/user/1000/agent",
        "DBUS_SESSION_BUS_ADDRESS": "unix:path=/run/user/1000/bus",
        "GIT_AUTHOR_NAME": "Ada Lovelace",
        "MAX_TOKENS": "4096000000",
        "HOMEPAGE": "https://example.org/a",
    }
    assert {secret.reveal() for secret in secrets_in(environ)} == {
        *("npm_0123456789", "correct-Horse-9", "abc/def+0123", "pg-Secret-1", "proxy%2DSecret", "proxy-Secret"),
    }


def test_what_shows_by_its_form_is_a_secret_under_any_name() -> None:
    environ = {
        "DB": "Server=db;User Id=sa;Password=Sup3r-Secret;Encrypt=true",
        "STORAGE": "AccountName=a;AccountKey=q1w2e3r4t5y6==;EndpointSuffix=x",
        "REMOTE": "https://0123456789abcdef0123@github.com/a/b",
        "ERRORS": "https://abc123def456789f@o1.ingest.example/1?token=t0ken-0123",
        "BILLING": "sk_live_51AbcdefghijkLMN",
        "CHAT": "https://hooks.slack.com/services/T0/B0/AbC123xyz",
        "SLACK": "xoxb-1234567890-AbCdEfGh",
        "REGISTRY": "//registry.npmjs.org/:_authToken=npm_Zz19AbcdefghijKL",
        "PLACE": "/home/ada/sk-learn-experiments-of-last-year",
        "MIRROR": "https://ada@mirror.example/simple",
        "NOTE": "see tokens=many and hf_models",
    }
    assert {secret.reveal() for secret in secrets_in(environ)} == {
        *("Sup3r-Secret", "q1w2e3r4t5y6==", "0123456789abcdef0123", "abc123def456789f", "t0ken-0123"),
        *("sk_live_51AbcdefghijkLMN", "T0/B0/AbC123xyz", "xoxb-1234567890-AbCdEfGh", "npm_Zz19AbcdefghijKL"),
    }


def test_no_address_is_shown_with_its_password() -> None:
    text = "proxy http://me:pw@proxy:80, git https://token@git, https://example.org/a:b@c, mail me@example.org"
    assert (
        without_passwords(text)
        == f"proxy http://{MASK}@proxy:80, git https://{MASK}@git, https://example.org/a:b@c, mail me@example.org"
    )
