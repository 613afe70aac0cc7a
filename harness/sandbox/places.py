"""Which folders of this machine a command may read and write: an allow-list.

`Places` looks at the disk and makes a `Machine`, a plain value; `profile_for` makes the profile of a command from it
and is pure. A command sees the system, the tools in the home of the user, its workspace and nothing else. So a link, a
mount or a path leads only to what is in the list, and a new place for keys need not be known to be safe.
"""

import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.sandbox.bubblewrap import CACHES, EMPTY_FILE, EMPTY_FOLDER, TMP
from harness.sandbox.git_places import GitPlaces, folder_of, git_places
from harness.sandbox.git_settings import GitSettings
from harness.sandbox.marked_files import MarkedFiles, Marks
from harness.sandbox.profile import NOTHING_MORE, Access, Allowance, Profile, ProfileName


def _words(text: str) -> list[str]:
    return text.split()


_SYSTEM = _words(
    "/usr /bin /sbin /lib /lib32 /lib64 /libx32 /opt /etc /snap /usr/local /home/linuxbrew/.linuxbrew /nix/store "
    "/nix/var/nix/profiles /gnu/store /var/guix/profiles /run/current-system /run/booted-system /run/opengl-driver "
    "/sys/devices /sys/class /sys/bus /sys/block /sys/fs/cgroup /sys/kernel/mm /var/lib/dpkg /var/lib/apt "
    "/var/cache/apt /var/lib/rpm /var/lib/dnf /var/cache/dnf /var/lib/pacman /var/cache/pacman /var/lib/apk "
    "/var/cache/apk /var/db/pkg /var/db/xbps /var/lib/alternatives /var/lib/gems /var/lib/ghc /var/lib/texmf "
    "/var/lib/flatpak /var/cache/fontconfig /var/cache/man /etc/resolv.conf /etc/hosts /etc/localtime "
    "/etc/nsswitch.conf /etc/os-release"
)
"""Programs, what belongs to them, and the databases of package managers: Debian, Fedora, Arch, Alpine, Gentoo, Void,
NixOS, Guix. Links among them (/bin, on Fedora's atomic systems /usr/local, /etc/resolv.conf) are followed and stay."""
_TOOLS = _words(
    "~/.gitconfig ~/.config/git ~/.local/bin ~/.local/lib ~/.local/opt ~/bin ~/.bin ~/.local/share/uv "
    "~/.local/share/pipx ~/.local/pipx ~/.pyenv ~/.rye ~/.pixi ~/.conda ~/anaconda3 ~/miniconda3 ~/miniforge3 "
    "~/mambaforge ~/micromamba ~/.virtualenvs ~/.local/share/virtualenvs ~/.cache/pypoetry/virtualenvs "
    "~/.local/share/hatch ~/.nvm ~/.fnm ~/.local/share/fnm ~/.volta ~/.nodenv ~/n ~/.npm-global ~/.yarn ~/.bun "
    "~/.deno ~/.local/share/pnpm ~/.cargo ~/.rustup ~/go ~/.goenv ~/sdk ~/.rbenv ~/.rvm ~/.rubies ~/.gem "
    "~/.local/share/gem ~/.asdf ~/.local/share/mise ~/.proto ~/.sdkman ~/.jenv ~/.jdks ~/.m2 ~/.gradle ~/.ivy2 ~/.sbt "
    "~/.local/share/coursier ~/.dotnet ~/.ghcup ~/.cabal ~/.stack ~/.opam ~/.elan ~/.juliaup ~/.julia ~/.swiftly "
    "~/.local/share/swiftly ~/.zvm ~/.phpenv ~/.composer ~/.config/composer ~/.pub-cache ~/Android/Sdk ~/.nix-profile "
    "~/.local/state/nix/profiles ~/.guix-profile ~/.krew ~/.platformio ~/.local/texlive"
)
"""Where version and package managers keep programs, and the settings of git."""
_CACHES = {
    pair.partition("=")[0]: pair.partition("=")[2].split(",")
    for pair in _words(
        "pip=~/.cache/pip,~/.cache/pip-tools uv=~/.cache/uv poetry=~/.cache/pypoetry pipenv=~/.cache/pipenv "
        "pre-commit=~/.cache/pre-commit npm=~/.npm,~/.cache/node-gyp yarn=~/.cache/yarn,~/.yarn/berry "
        "pnpm=~/.cache/pnpm,~/.local/share/pnpm/store corepack=~/.cache/node bun=~/.bun/install/cache "
        "deno=~/.cache/deno cargo=~/.cargo/registry,~/.cargo/git go=~/.cache/go-build,~/go/pkg "
        "golangci-lint=~/.cache/golangci-lint "
        "gradle=~/.gradle/caches,~/.gradle/daemon,~/.gradle/wrapper,~/.gradle/native,~/.gradle/notifications "
        "mvn=~/.m2/repository sbt=~/.ivy2,~/.cache/coursier dotnet=~/.nuget/packages,~/.local/share/NuGet "
        "composer=~/.cache/composer,~/.composer/cache bundle=~/.bundle/cache conda=~/.conda/pkgs "
        "ccache=~/.cache/ccache,~/.ccache sccache=~/.cache/sccache bazel=~/.cache/bazel,~/.cache/bazelisk "
        "zig=~/.cache/zig cabal=~/.cabal/packages,~/.cache/cabal mix=~/.hex/packages,~/.cache/rebar3 "
        "dart=~/.pub-cache julia=~/.julia/compiled fc-cache=~/.cache/fontconfig"
    )
}
"""What a command writes in the home: the caches of a program. The first is made where only the program is there."""
_VARIABLES = dict(
    pair.split("=")
    for pair in _words(
        "~/.cargo=CARGO_HOME ~/.rustup=RUSTUP_HOME ~/.pyenv=PYENV_ROOT ~/.nvm=NVM_DIR ~/go=GOPATH ~/.volta=VOLTA_HOME "
        "~/.asdf=ASDF_DATA_DIR ~/.rbenv=RBENV_ROOT ~/.sdkman=SDKMAN_DIR ~/.bun=BUN_INSTALL ~/.deno=DENO_INSTALL "
        "~/.gradle=GRADLE_USER_HOME ~/.npm=npm_config_cache ~/.cache/pip=PIP_CACHE_DIR ~/.cache/uv=UV_CACHE_DIR "
        "~/.cache/go-build=GOCACHE ~/.cache=XDG_CACHE_HOME ~/.config=XDG_CONFIG_HOME ~/.local/share=XDG_DATA_HOME"
    )
)
"""Variables that say where a folder is instead; of two that fit, the one for the longer path counts."""
_CERTIFICATES = _words(
    "SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS PIP_CERT GIT_SSL_CAINFO "
    "CARGO_HTTP_CAINFO AWS_CA_BUNDLE"
)
"""Variables that name the certificates of authorities, which are public: without them no host is trusted."""
_PREFIX = ("lib", "lib64", "libexec", "share", "versions", "plugins", "pyvenv.cfg", "conda-meta")
"""What shows that a folder above a folder of programs belongs to them."""
_MAY_HOLD_KEYS = _words(
    "~/.gitconfig ~/.config/git/config ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.gradle/gradle.properties "
    "~/.composer/auth.json ~/.config/composer/auth.json ~/.cabal/config ~/.sbt/1.0/credentials.sbt "
    "~/.platformio/appstate.json ~/.conda/.condarc ~/.yarn/.yarnrc.yml"
)
"""Settings in the folders of tools, which are hidden where they hold a key."""
_HOLDS_KEYS = re.compile(rb"(?i)passw|token|secret|extraheader|://[^/\s@\"]*:[^/\s@\"]+@")
_ONLY_KEYS = _words("~/.dotnet/corefx/cryptography")
_WINDOWS = re.compile(r"/mnt/[a-z](/|$)")
"""The drives of Windows, whose programs run outside Linux."""


WHOLE_DISK = "the workspace is the whole disk"
_TOO_MANY_GUARDED = "the workspace has too many files with keys, or that other programs obey, to guard each of them"
_MOST_GUARDED = 500
"""Each is a mount, and what bubblewrap needs for them grows with the square: 0.4 s for 500, 6 s for 2,000."""
_MOST_LINKS = 40
"""On the way to a path, as in the kernel."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What a look at the disk found. Paths are absolute with links resolved, and exist."""

    roots: tuple[str, ...]
    """The folders of the workspace."""
    readable: tuple[str, ...] = ()
    """The system, the tools of the user, and the repository around the workspace."""
    caches: tuple[str, ...] = ()
    git: GitPlaces = field(default_factory=GitPlaces)
    keys: tuple[str, ...] = ()
    """Files and folders with keys, inside the readable ones."""
    obeyed: tuple[str, ...] = ()
    """What others run or obey by its name, inside the workspace."""
    links: tuple[tuple[str, str], ...] = ()
    cannot_hold: str = ""
    """Why no profile is worth its name here: not every key in the workspace is known; empty: they are."""
    other_caches: str = ""
    """The folder in which programs that are not known make theirs; empty: it cannot be told from others."""
    of_git: tuple[str, ...] = ()
    """Those obeyed that git tracks, or in which it tracks something."""


def profile_for(name: ProfileName, machine: Machine, allowance: Allowance = NOTHING_MORE) -> Profile:
    """The profile of one command.

    Args:
        allowance: further paths that the user has allowed; a key or a read-only file among them is open, but not to a
            server, for which nobody was asked about it.
    """
    allowed = tuple(path for path in allowance.paths if path not in {"/"})

    def kept(paths: Iterable[str]) -> tuple[str, ...]:
        return tuple(path for path in paths if allowance.server or not _in(path, allowed))

    seen = (*machine.readable, *machine.roots, *machine.git.folders, *machine.caches)
    readable = kept(seen)
    if name is ProfileName.LOOK:
        return Profile(name, readable, writable=allowed, hidden=kept(machine.keys), links=machine.links)
    read_only = kept((*machine.git.hooks, *machine.git.settings, *machine.obeyed))
    pinned = (
        one for one in machine.git.pinned if one.endswith("/.git") or any(_in(path, (one,)) for path in read_only)
    )
    work = Profile(
        name,
        readable,
        writable=(*machine.roots, *machine.git.folders, *pinned, *machine.caches),
        read_only=read_only,
        of_git=kept(machine.of_git),
        hidden=kept(machine.keys),
        own_network=not allowance.server,
        links=machine.links,
    )
    private = tuple(
        path for path in (machine.other_caches,) if path and not _in(path, allowed) and not work.access(path)
    )
    # What is writable already is no place of its own: nothing can be renamed onto one.
    return replace(
        work,
        private=private,
        writable=(*work.writable, *(path for path in allowed if work.access(path) < Access.WRITE)),
    )


class Places:
    """Looks at the disk for the profiles of a program, and keeps what it has found."""

    def __init__(self, home: str, environ: Mapping[str, str], marks: Marks, memory: Path | None = None) -> None:
        """
        Args:
            home: that of the user; links in it are resolved.
            environ: the variables that say where tools are.
            marks: says of a path in the workspace whether it holds keys, or is obeyed by its name.
            memory: where it is kept which key files are visible because git tracks them; None: nowhere.
        """
        self._home, self._home_as_named = os.path.realpath(home), home
        self._environ = environ
        self._marks = marks
        self._files = MarkedFiles(marks, memory)
        self._git_settings = GitSettings(home, environ)
        self._of_the_machine: Machine | None = None
        self._git: dict[tuple[str, ...], GitPlaces] = {}

    def look(self, roots: Sequence[str]) -> Machine:
        """The machine as it is now. The system and the tools are looked at once, the workspace each time.

        Args:
            roots: the folders of the workspace, absolute; links in them are resolved.
        """
        real = tuple(dict.fromkeys(map(os.path.realpath, roots)))
        real = tuple(root for root in real if not _in(root, [other for other in real if other != root]))
        if self._of_the_machine is None:
            self._make_caches()
            self._of_the_machine = self._look_at_machine()
        fixed = self._of_the_machine
        if real not in self._git:
            self._git[real] = git_places(real, self._too_wide)
        git = self._git[real]
        writable = (*real, *git.folders, *(path for path in fixed.caches if not _in(path, real)))

        repositories: dict[str, str] = {}

        def named(found: Sequence[str]) -> tuple[Sequence[str], bool]:
            here = {folder_of(one): posixpath.dirname(one) for one in found if _in(one, real)}
            repositories.update({one: top for one, top in here.items() if _in(one, real) and not _inside(one, here)})
            return self._git_settings.named({**dict.fromkeys(git.folders, ""), **here}, writable)

        found = [] if "/" in real else [self._files.find(top, git.tops, named) for top in (*real, *git.tops)]
        git = git.with_repositories(repositories)
        keys = tuple(path for each in found for path in each.keys)
        of_git = {*git.hooks, *git.settings}
        every = dict.fromkeys(path for each in found for path in each.obeyed if path not in of_git)
        obeyed = tuple(path for path in every if _in(path, writable) and not _in(path, keys))
        moved = {path for each in found for path in each.named}.intersection(obeyed)
        above = dict.fromkeys(one for path in sorted(moved) for one in _between(path, writable))
        pins = tuple(one for one in above if not _in(one, (*keys, *obeyed, *of_git)))
        git = replace(git, pinned=(*git.pinned, *(one for one in pins if one not in git.pinned)))
        guarded = sum(map(len, (keys, obeyed, git.pinned, git.hooks, git.settings)))
        cannot_hold = WHOLE_DISK if "/" in real else next((one.cannot_hold for one in found if one.cannot_hold), "")
        if guarded > _MOST_GUARDED:
            keys, cannot_hold = (), _TOO_MANY_GUARDED
        return Machine(
            real,
            (*(path for path in fixed.readable if not _in(path, real)), *git.tops),
            tuple(path for path in fixed.caches if not _in(path, real)),
            git,
            (*fixed.keys, *keys),
            (*obeyed, *self._programs_in(real)),
            (*fixed.links, *(link for root in roots for link in links_to(root).items())),
            cannot_hold,
            fixed.other_caches,
            tuple(sorted({path for each in found for path in each.of_git}.intersection(obeyed))),
        )

    def without_keys(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of the paths that are neither a file nor a folder of keys."""
        marks = self._marks
        return tuple(path for path in paths if not (marks.is_key(path) or marks.holds_only_keys(path)))

    def _programs_in(self, roots: Sequence[str]) -> Iterator[str]:
        """The folders of PATH in a workspace that holds the home: what is in them, the user runs everywhere."""
        tops = [root for root in roots if _in(self._home, (root,))]
        for folder in self._environ.get("PATH", "").split(os.pathsep) if tops else ():
            real = os.path.realpath(folder)
            if posixpath.isabs(folder) and _in(real, tops) and real not in tops and posixpath.isdir(real):
                yield real

    def _look_at_machine(self) -> Machine:
        own = (sys.prefix, sys.base_prefix, posixpath.dirname(posixpath.dirname(__file__)))
        named = [*_SYSTEM, *map(self._expanded, _TOOLS), *own]
        named += filter(None, map(self._with_its_root, self._environ.get("PATH", os.defpath).split(os.pathsep)))
        named += self._git_settings.of_user()
        named += filter(posixpath.isabs, (self._environ.get(name, "") for name in _CERTIFICATES))
        caches = [self._expanded(path) for paths in _CACHES.values() for path in paths]
        ways = map(links_to, (*named, *caches, self._home_as_named, "/var/run"))
        readable = dict.fromkeys(path for path in map(os.path.realpath, named) if self._fits(path))
        other_caches = os.path.realpath(self._expanded("~/.cache"))
        return Machine(
            (),
            tuple(readable),
            tuple(dict.fromkeys(path for path in map(os.path.realpath, caches) if self._fits(path))),
            other_caches="" if self._too_wide(other_caches) else other_caches,
            keys=(*_closed_in("/etc"), *self._keys_of_tools(readable)),
            links=tuple({link: target for way in ways for link, target in way.items()}.items()),
        )

    def _fits(self, path: str) -> bool:
        """It exists, holds neither the home nor everything, and is no place for keys."""
        return posixpath.exists(path) and not self._too_wide(path) and not self._marks.holds_only_keys(path)

    def _too_wide(self, path: str) -> bool:
        return path in {"/", "/tmp", "/var/tmp"} or _in(self._home, (path,))

    def _expanded(self, path: str) -> str:
        for start in sorted(_VARIABLES, key=len, reverse=True):
            value = self._environ.get(_VARIABLES[start], "")
            if (path == start or path.startswith(f"{start}/")) and posixpath.isabs(value):
                return posixpath.normpath(value) + path[len(start) :]
        return self._home_as_named + path[1:]

    def _with_its_root(self, folder: str) -> str:
        """A folder of PATH, or the folder above where that belongs to the programs, too; empty: neither."""
        if not posixpath.isabs(folder) or _WINDOWS.match(folder):
            return ""
        above = posixpath.dirname(folder.rstrip("/"))
        belongs = posixpath.basename(above) == "node_modules" or any(
            posixpath.exists(f"{above}/{one}") for one in _PREFIX
        )
        shared = above in {self._expanded("~/.local"), self._expanded("~/.config")}
        return above if belongs and not shared and not self._too_wide(os.path.realpath(above)) else folder

    def _make_caches(self) -> None:
        """Make the first cache of each program that is there."""
        folders = self._environ.get("PATH", os.defpath).split(os.pathsep)
        for program, paths in _CACHES.items():
            cache = self._expanded(paths[0])
            if not posixpath.exists(cache) and any(posixpath.exists(posixpath.join(one, program)) for one in folders):
                with suppress(OSError):
                    Path(cache).mkdir(parents=True)

    def _keys_of_tools(self, readable: Iterable[str]) -> Iterator[str]:
        """Keys that tools keep directly in their folder, as cargo does, and in their settings."""
        yield from filter(posixpath.exists, map(os.path.realpath, map(self._expanded, _ONLY_KEYS)))
        for path in map(os.path.realpath, map(self._expanded, _MAY_HOLD_KEYS)):
            with suppress(OSError):
                if _HOLDS_KEYS.search(Path(path).read_bytes()):
                    yield path
        for folder in readable:
            if _in(folder, (self._home,)) and posixpath.isdir(folder):
                with suppress(OSError), os.scandir(folder) as entries:
                    yield from (one.path for one in entries if self._marks.is_key(one.path))


def private_folder() -> str:
    """Make the folder of a session that `bubblewrap_command` takes. Its owner removes it. Raises OSError."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="harness-"))
    for name, mode in ((TMP, 0o1777), (CACHES, 0o700), (EMPTY_FOLDER, 0o555)):
        made = Path(folder, name)
        made.mkdir()
        made.chmod(mode)
    os.close(os.open(f"{folder}/{EMPTY_FILE}", os.O_CREAT | os.O_EXCL, 0o444))
    return folder


def links_to(path: str) -> dict[str, str]:
    """Each link on the way to an absolute path, and its target as it is written."""
    found: dict[str, str] = {}
    done, rest, steps = "/", [part for part in path.split("/") if part][::-1], 0
    while rest:
        here = posixpath.normpath(posixpath.join(done, rest.pop()))
        try:
            target = str(Path(here).readlink())
        except OSError:
            done = here
            continue
        if (steps := steps + 1) > _MOST_LINKS:
            break  # in a circle
        found[here] = target
        done = "/" if target.startswith("/") else done
        rest += [part for part in target.split("/") if part][::-1]
    return found


def _closed_in(folder: str) -> Iterator[str]:
    """What only its owner or a group may read, and we can: password hashes, host keys, the settings of a VPN."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                continue
            is_folder = entry.is_dir()
            if not entry.stat().st_mode & (0o001 if is_folder else 0o004):
                if os.access(entry.path, os.R_OK):
                    yield entry.path
            elif is_folder:
                yield from _closed_in(entry.path)


def _inside(path: str, folders: Iterable[str]) -> bool:
    return any(path.startswith(f"{folder}/") for folder in folders)


def _between(path: str, folders: Sequence[str]) -> Iterator[str]:
    """The folders on the way to a path from the innermost of `folders`, or the checkout, around it: who moves one moves
    the path away."""
    while (path := posixpath.dirname(path)) not in folders and _in(path, folders):
        if os.path.lexists(f"{path}/.git"):
            break
        yield path


def _in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
