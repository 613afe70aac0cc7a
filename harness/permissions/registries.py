"""The hosts that the files of a folder name: package registries, and the forges of the git remotes. Pure."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

_NPM = ("registry.npmjs.org",)
_PYPI = ("pypi.org", "files.pythonhosted.org")
_RUBY = ("rubygems.org", "index.rubygems.org")
_MAVEN = ("repo.maven.apache.org", "repo1.maven.org")
_GRADLE = (*_MAVEN, "services.gradle.org", "downloads.gradle.org", "plugins.gradle.org", "plugins-artifacts.gradle.org")
REGISTRIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        **dict.fromkeys(("package.json", "package-lock.json", "pnpm-lock.yaml", "bun.lock"), _NPM),
        "yarn.lock": (*_NPM, "registry.yarnpkg.com"),
        **dict.fromkeys(("pyproject.toml", "requirements.txt", "setup.py", "uv.lock", "poetry.lock", "Pipfile"), _PYPI),
        "Cargo.toml": ("index.crates.io", "static.crates.io", "crates.io"),
        "go.mod": ("proxy.golang.org", "sum.golang.org"),
        "Gemfile": _RUBY,
        "composer.json": ("repo.packagist.org", "packagist.org", "api.github.com", "codeload.github.com"),
        "pom.xml": _MAVEN,
        **dict.fromkeys(("build.gradle", "build.gradle.kts"), _GRADLE),
        "mix.exs": ("hex.pm", "repo.hex.pm"),
    }
)
"""The hosts that the package manager of a file loads from."""
_DOWNLOADS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "github.com": (
            *("api.github.com", "codeload.github.com", "objects.githubusercontent.com"),
            *("raw.githubusercontent.com", "release-assets.githubusercontent.com"),
        ),
        "bitbucket.org": ("api.bitbucket.org",),
    }
)
"""Where a forge keeps what it lets one load."""
_REMOTE = re.compile(
    r"^\s*(?:push)?url\s*=\s*\"?(?:[a-z+]+://)?(?:[^@/\s]*@)?([A-Za-z0-9.-]+\.[A-Za-z]+)[:/]", re.MULTILINE
)


def hosts_of_folder(names: Iterable[str], git_config: str = "") -> dict[str, tuple[str, ...]]:
    """The hosts that the files of a folder name, by file.

    Args:
        names: the files in it.
        git_config: the text of its `.git/config`; its remotes are named together as "the git remotes".
    """
    found = {name: REGISTRIES[name] for name in sorted(names) if name in REGISTRIES}
    forges = dict.fromkeys(name.lower() for name in _REMOTE.findall(git_config))
    if forges:
        found["the git remotes"] = tuple(one for forge in forges for one in (forge, *_DOWNLOADS.get(forge, ())))
    return found
