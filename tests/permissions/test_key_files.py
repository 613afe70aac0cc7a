"""Which files hold keys by their names, and which only look so."""

import pytest

from harness.permissions import Surroundings
from harness.permissions.protected_places import KEY_FILES

AROUND = Surroundings("/srv/project", "/home/ada")


@pytest.mark.parametrize(
    "kept", ["{}", "{}~", "{}.bak", "{}.old", "{}.bak.2", ".{}.swo", "#{}#", "copy of {}", "{} (1)"]
)
@pytest.mark.parametrize("name", sorted(KEY_FILES))
def test_a_key_file_is_one_anywhere_and_so_is_a_copy_of_it(name: str, kept: str) -> None:
    file = f"/srv/project/sub/{kept.format(name.replace('*', 'x'))}"
    assert AROUND.key([file])
    assert AROUND.key_inside(file)


@pytest.mark.parametrize(
    "name", ["database.yml", ".npmrc", "kubeconfig", ".docker/config.json", "pip.conf", "auth.json", ".bash_history"]
)
def test_a_file_that_may_hold_a_key_is_asked_about_by_name(name: str) -> None:
    assert AROUND.key([f"/srv/project/{name}"])


@pytest.mark.parametrize(
    "name",
    [
        *(
            ".env.example",
            ".env.sample",
            "id_rsa.pub",
            "x.pub",
            "src/secret.py",
            "src/secrets.ts",
            "credentials.go",
            "creds.rs",
        ),
        *(
            "id_rsa.pub.bak",
            "id_ed25519_work.pub",
            ".env-example",
            "notes.txt.bak",
            "copy of notes",
            "x (1).txt",
            "main.py~",
        ),
        *("token.json", "database.yml", "database.py", "test_history.py", "keyboard.json", "package.json", "README.md"),
    ],
)
def test_a_search_is_not_stopped_by_a_file_that_only_looks_so(name: str) -> None:
    assert not AROUND.key_inside(f"/srv/project/{name}")
