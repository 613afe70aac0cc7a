"""`harness fleet init` as its user types it."""

import os
import subprocess
import sys

from tests.fleet.postgres import PASSWORD, needs_postgres, shared_server


def init(url: str | None) -> tuple[int, str]:
    environment = {**os.environ, **({} if url is None else {"HARNESS_FLEET_URL": url})}
    done = subprocess.run(
        [sys.executable, "-m", "harness", "fleet", "init"], env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_without_an_address_it_says_what_to_set() -> None:
    code, said = init(None)
    assert code == 1
    assert "HARNESS_FLEET_URL is not set" in said


@needs_postgres
def test_it_may_run_again_and_never_shows_the_password() -> None:
    server = shared_server()
    assert init(server.url) == (0, f"The fleet's database 127.0.0.1:{server.port}/fleet was ready before.\n")
    code, said = init(server.of("harness", f"{PASSWORD}-wrong"))
    assert (code, PASSWORD in said) == (1, False)
    assert "refuses the user or the password" in said
