"""The hosts that the files of a folder stand for."""

import pytest

from harness.permissions.registries import hosts_of_folder

GITHUB = "github.com"


def test_only_files_of_package_managers_count() -> None:
    found = hosts_of_folder(["README.md", "pyproject.toml", "package.json"])
    assert found == {"package.json": ("registry.npmjs.org",), "pyproject.toml": ("pypi.org", "files.pythonhosted.org")}


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://github.com/a/b", GITHUB),
        ("https://x:token@GitHub.com/a/b", GITHUB),
        ("git@github.com:a/b.git", GITHUB),
        ("ssh://git@git.example.org:22/a", "git.example.org"),
        ("../other", None),
        ("/srv/git/a", None),
        ("file:///srv/git/a", None),
    ],
)
def test_remotes_stand_for_their_forge(url: str, host: str | None) -> None:
    found = hosts_of_folder([], f'[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n')
    assert (found.get("the git remotes") or (None,))[0] == host
    assert ("codeload.github.com" in str(found)) == (host == GITHUB)
