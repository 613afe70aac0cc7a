"""Keep git from running programs that a folder names: a safe environment, and a look at the repository's settings.

A repository can run code: its `config` may name programs that git runs even for read-only commands: `core.fsmonitor`,
filters, textconv, an external diff, hooks. Two protections:

- `safe_environment` disables settings with a fixed name through the environment (gitconfig(5), GIT_CONFIG_COUNT in
  git(1)).
- `programs_in_config` finds settings that cannot be disabled because their name is free (`filter.NAME.clean`) or git
  has no empty value for them (`diff.external`), and every other setting not known to be harmless.

Settings outside the repository, the user's and the system's, are the user's own and are trusted.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from harness.base.files import read_regular
from harness.processes.search_path import is_inside, own_search_path

QUIET: Mapping[str, str] = MappingProxyType(
    {
        "core.fsmonitor": "false",  # would start a program of the repository's choice
        "core.untrackedCache": "false",
        "core.hooksPath": os.devnull,
    }
)
"""Settings that keep read-only git commands from starting hooks and monitors."""
_SAFE: Mapping[str, str] = MappingProxyType(
    {
        **QUIET,
        "core.pager": "cat",
        "credential.helper": "",  # empty: forgets those named before
        "gpg.program": "false",
        "gpg.ssh.program": "false",
        "gpg.x509.program": "false",
        "log.showSignature": "false",
        "safe.bareRepository": "explicit",
        "submodule.recurse": "false",
    }
)
_PRINTED: Mapping[str, str] = MappingProxyType(
    {
        "core.quotePath": "false",
        "color.ui": "false",
        "color.diff": "false",
        "color.grep": "false",
        "color.status": "false",
        "diff.relative": "false",
        "grep.fallbackToNoIndex": "false",
        "grep.fullName": "false",
    }
)
"""Settings with which the names that git prints are the names of its files, counted from where they seem to be."""
_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": "none",  # no protocol has this name: nothing is fetched, not even a missing object
        "GIT_ASKPASS": "false",
        "GIT_EDITOR": "false",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_SEQUENCE_EDITOR": "false",
        "GIT_SSH_COMMAND": "false",
        "GIT_TERMINAL_PROMPT": "0",
    }
)


def numbered(environment: Mapping[str, str], settings: Mapping[str, str] = _PRINTED) -> dict[str, str]:
    """The variables that add settings of git to `environment`: those that it already gives stay, ours win."""
    given = environment.get("GIT_CONFIG_COUNT", "")
    first = int(given) if re.fullmatch(r"\d{1,4}", given) else 0
    added = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (name, value) in enumerate(settings.items(), start=first):
        added[f"GIT_CONFIG_KEY_{number}"] = name
        added[f"GIT_CONFIG_VALUE_{number}"] = value
    return added


def safe_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables to add to `environment` for a read-only command line, so that git runs no other program.

    The value of `diff.external` is not among ours: git up to 2.45 fails on an empty one. `programs_in_config` names it
    instead.
    """
    return {**_VARIABLES, **numbered(environment, {**_PRINTED, **_SAFE})}


# ── the settings of a repository ────────────────────────────────────────────────────────────────

_HARMLESS = re.compile(
    r"core\.(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol"
    r"|safecrlf|quotepath|abbrev|compression|loosecompression|bigfilethreshold|packedgitlimit|packedgitwindowsize"
    r"|deltabasecachelimit|sharedrepository|checkstat|trustctime|untrackedcache|preloadindex|whitespace|commentchar"
    r"|commentstring|commitgraph|multipackindex|sparsecheckout|sparsecheckoutcone|protecthfs|protectntfs|longpaths"
    r"|fscache|warnambiguousrefs|splitindex|hidedotfiles|restrictinheritedhandles|fsync|fsyncmethod|fsyncobjectfiles)"
    r"|extensions\.(worktreeconfig|objectformat|refstorage|noop|noop-v1|preciousobjects|relativeworktrees)"
    r"|index\.(version|threads|sparse|recordendofindexentries|recordoffsettable|skiphash)"
    r"|feature\.(manyfiles|experimental)"
    r"|remote\.(.+\.)?(url|pushurl|fetch|push|mirror|prune|prunetags|tagopt|skipfetchall|skipdefaultupdate|gh-resolved"
    r"|followremotehead|pushdefault)"
    r"|branch\.(.+\.)?(remote|pushremote|merge|rebase|description|autosetupmerge|autosetuprebase|sort"
    r"|vscode-merge-base|gh-merge-base|github-pr-owner-number|github-pr-base-branch)"
    r"|user\.(name|email|useconfigonly|signingkey)|author\.(name|email)|committer\.(name|email)"
    r"|submodule\.(.+\.)?(url|active|update|branch|ignore|path|fetchrecursesubmodules|fetchjobs|alternateerrorstrategy)"
    r"|init\.defaultbranch|clone\.(defaultremotename|rejectshallow)|checkout\.(defaultremote|guess|workers)"
    r"|pull\.(rebase|ff|octopus)|push\.(default|autosetupremote|followtags|usebitmaps)"
    r"|fetch\.(prune|prunetags|fsckobjects|parallel|writecommitgraph|showforcedupdates|output)"
    r"|merge\.(ff|conflictstyle|renames|renamelimit|directoryrenames|stat|log|branchdesc|autostash|renormalize)"
    r"|rebase\.(autosquash|autostash|stat|updaterefs|abbreviatecommands|missingcommitscheck|forkpoint)"
    r"|rerere\.(enabled|autoupdate)|commit\.(gpgsign|status|verbose|cleanup)|tag\.(gpgsign|sort|forcesignannotated)"
    r"|gc\.(?!recentobjectshook)[a-z]+|maintenance\.(auto|strategy)"
    r"|pack\.(threads|window|depth|windowmemory|compression|packsizelimit)"
    r"|color\.[a-z.]+|column\.[a-z]+|advice\.[a-z0-9]+|i18n\.(commitencoding|logoutputencoding)"
    r"|diff\.(renames|renamelimit|algorithm|mnemonicprefix|noprefix|context|interhunkcontext|colormoved|colormovedws"
    r"|indentheuristic|statgraphwidth|autorefreshindex|wserrorhighlight|wordregex|ignoresubmodules|relative"
    r"|.+\.(xfuncname|funcname|binary|wordregex|algorithm))"
    r"|log\.(date|decorate|abbrevcommit|follow|mailmap|initialdecorationset)"
    r"|status\.(short|branch|showuntrackedfiles|relativepaths|renames|renamelimit|aheadbehind|showstash)"
    r"|grep\.(linenumber|column|patterntype|extendedregexp|fullname|threads)"
    r"|blame\.(date|showemail|showroot|blankboundary)"
    r"|apply\.(whitespace|ignorewhitespace)|format\.(signoff|numbered|thread|coverletter|subjectprefix|pretty)"
    r"|stash\.(showpatch|showstat|showincludeuntracked)|versionsort\.suffix|http\.postbuffer|transfer\.fsckobjects"
    r"|receive\.(denycurrentbranch|denynonfastforwards|denydeletes|fsckobjects)"
    r"|lfs\.(repositoryformatversion|(.+\.)?(access|locksverify))|gitflow\.(prefix|branch)\.[a-z]+|github\.user",
    re.DOTALL,
)
"""Settings, named in small letters as git lists them, that run no program and read no other file."""
_SWITCHED_OFF = re.compile(
    r"(core\.(hookspath|editor|sshcommand|askpass|pager)|sequence\.editor|pager\.[a-z-]+|gpg\.(.+\.)?program"
    r"|log\.showsignature|submodule\.recurse)=.*"
    r"|core\.fsmonitor=(true|1|yes|on)",  # the monitor of git itself
    re.DOTALL,
)
"""Settings that name programs and cannot matter in `safe_environment`, where the command fetches and edits nothing."""
_PLAIN_VALUES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "core.fsmonitor": frozenset({"false", "0", "no", "off"}),
        "core.pager": frozenset({"cat", ""}),
        "filter.lfs.clean": frozenset({"git-lfs clean -- %f"}),
        "filter.lfs.smudge": frozenset({"git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"}),
        "filter.lfs.process": frozenset({"git-lfs filter-process", "git-lfs filter-process --skip"}),
        "filter.lfs.required": frozenset({"true", "false"}),
    }
)
"""Settings that are harmless with these values and no others."""
SIGNATURE = re.compile(r"%[-+ ]?G|signature", re.IGNORECASE)
"""A part of a format for which git runs gpg."""
_UNSEEN = re.compile(r"[0-9a-f]{2}|hooks|modules|lfs|fsmonitor--daemon")
"""Folders in `.git`, and in its `objects`, whose files git does not print by name."""
MOST_BYTES = 1_000_000
"""Size of a file of settings that is still read."""
MOST_SUBMODULES = 200
"""Submodules whose settings are looked at; with more, the first of the others is named."""
MOST_BYTES_OF_INDEX = 200_000_000
TIME_LIMIT_S = 10.0
_RUNS = re.compile(r"diff\.external|(diff|filter)\..+\.(textconv|command|clean|smudge|process)", re.DOTALL)
"""Settings of the user that git obeys when it shows a file, and that our own do not switch off."""
_AT_CHECKOUT = re.compile(r"filter\..+\.(clean|smudge|process)|merge\..+\.driver|include(if\..+)?\.path", re.DOTALL)
"""Settings that git obeys when it checks files out, merges them, or compares them with the index."""
_CONFIGURES = re.compile(r"GIT_CONFIG_(?!PARAMETERS)")
_CREDENTIALS = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*://[^/@]*:[^/@]+@|^https?://[^/@]{16,}@")
"""An address with a password, or with a token in the place of the user's name."""


def harmless_setting(name: str, value: str) -> bool:
    """A setting of git that runs no program and reads no other file; `name` in small letters but for its middle."""
    plain = _in_small_letters(name)
    if (plain == "format.pretty" and SIGNATURE.search(value)) or (plain.endswith(".update") and value.startswith("!")):
        return False
    if "::" in value:  # an address that names a program: git-remote-ext(1)
        return False
    return _HARMLESS.fullmatch(plain) is not None or value in _PLAIN_VALUES.get(plain, frozenset())


def programs_in_config(folder: Path) -> str | None:
    """The first setting of the repository around `folder` that makes git run a program or read another file.

    The repository is the one that git would use in `folder`, together with its submodules. Besides names of settings
    the answer may be a sentence part: the repository is bare, leads to another one, or has settings that cannot be
    read. None: all of its settings are known to be harmless, or there is no repository.

    Looks at the disk and runs `git config` and `git ls-files`, a few ms each.
    """
    try:
        found = _Repository.around(folder)
        return None if found is None else found.trouble()
    except _Strange as strange:
        return str(strange)


def program_of_checkout(folder: Path) -> str | None:
    """The first setting of the repository around `folder` that makes git run a program, or read another file, where it
    checks files out, merges them or looks for changes. None: there is none, or no repository.

    Looks at the disk, and runs `git config`.
    """
    try:
        found = _Repository.around(folder)
        for name, value in found.settings() if found else ():
            if _AT_CHECKOUT.fullmatch(name) and not harmless_setting(name, value):
                return name
    except _Strange as strange:
        return str(strange)
    return None


def password_in_config(folder: Path) -> str | None:
    """The first setting of the repository around `folder` that contains a password or a token.

    Such as `remote.origin.url`; also an address of the user's own settings that `git remote -v` would show in place of
    it. None: there is none, or no repository. Settings that cannot be read count as one, under the reason.
    """
    try:
        found = _Repository.around(folder)
        if found is None:
            return None
        for name, value in found.settings():
            if name.endswith(("extraheader", "password", "token")) or _holds_password(name, value):
                return name
        for name, value in _pairs(_git("config", "--list", "-z", cwd=folder)):
            if name.startswith(("url.", "remote.")) and _holds_password(name, value):
                return name
    except _Strange as strange:
        return str(strange)
    return None


def excludes_of(top: Path) -> Path | None:
    """The file with the patterns that a clone ignores and does not pass on; None where `top` has no usable `.git`."""
    try:
        found = _Repository.at(top)
    except _Strange:
        return None
    return None if found is None else found.common / "info" / "exclude"


class _Strange(Exception):  # noqa: N818  it says what is the matter
    """A repository has an unusual structure. The text says how, as part of a sentence."""


class _Repository:
    """The repository that git uses in a folder."""

    def __init__(self, top: Path, git_dir: Path) -> None:
        self.top = top
        """The folder with the `.git`, links resolved."""
        self.git_dir = git_dir
        self.common = _place_in(git_dir / "commondir", git_dir) or git_dir
        """Where the settings are: another folder for a linked work tree."""

    @classmethod
    def around(cls, folder: Path) -> "_Repository | None":
        """As git looks for it: upwards, in each folder a `.git` first, then the folder itself."""
        start = Path(os.path.realpath(folder))
        for candidate in (start, *start.parents):
            found = cls.at(candidate)
            if found is not None:
                return found
            if _is_git_dir(candidate):
                if candidate.name == ".git":
                    return cls(candidate.parent, candidate)
                raise _Strange(f"a repository without a work tree: {candidate}")
        return None

    @classmethod
    def at(cls, top: Path) -> "_Repository | None":
        """The one whose `.git` lies in this folder."""
        entry = top / ".git"
        if entry.is_dir():
            return cls(top, Path(os.path.realpath(entry))) if _is_git_dir(entry) else None
        text = os.fsdecode(_content(entry, 10_000))
        if not text and not os.path.lexists(entry):
            return None
        if not text.startswith("gitdir: "):
            raise _Strange(f"{entry} does not have git's usual form")
        return cls(top, _joined(top, text.removeprefix("gitdir: ").rstrip("\r\n")))

    def trouble(self, depth: int = 0) -> str | None:
        """The first thing about it that is not known to be harmless."""
        belongs = (self.top / ".git").is_dir() and not (self.top / ".git").is_symlink() and self.common == self.git_dir
        for link in self._links():
            return f"a link in the place of a file of git: {link}"
        for name in ("branches", "remotes"):
            for file in (self.common / name).glob("**/*"):
                return f"an address in an old form: {file}"
        for store in self._other_stores():
            return f"objects of another repository: {store}"
        for name, value in self.settings():
            if name == "core.worktree" and _joined(self.git_dir, value) == self.top and not belongs:
                belongs = True
            elif not (harmless_setting(name, value) or _SWITCHED_OFF.fullmatch(f"{name}={value}")):
                return name
        if depth == 0 and (found := self._of_the_user()):
            return found
        if not belongs and not self._is_linked():
            return f"a .git that leads to another repository: {self.top / '.git'}"
        if depth > 5:
            return f"submodules in submodules: {self.top}"
        for number, inner in enumerate(self._submodules()):
            if number >= MOST_SUBMODULES:
                return f"more than {MOST_SUBMODULES} submodules"
            repository = _Repository.at(inner)
            if repository is not None and (found := repository.trouble(depth + 1)):
                return f"{found} of the submodule {inner.relative_to(self.top)}"
        return None

    def settings(self) -> Iterator[tuple[str, str]]:
        """Names and values, as git reads them from its own files."""
        yield from _settings(self.common / "config")
        yield from _settings(self.git_dir / "config.worktree")
        if self.common != self.git_dir:
            yield from _settings(self.common / "config.worktree")

    def _of_the_user(self) -> str | None:
        """A setting of the user that leads into the work tree: it names a program there, or comes from a file there."""
        listed = _git("config", "--list", "--show-origin", "-z", cwd=self.top).decode(errors="replace").split("\0")
        for origin, entry in zip(listed[::2], listed[1::2], strict=False):
            file, (name, _, value) = Path(origin.removeprefix("file:")), entry.partition("\n")
            if not origin.startswith("file:/") or self.common in file.parents:
                continue  # given by the environment, or looked at already
            names_program = _RUNS.fullmatch(name) is not None and any(
                "/" in word and is_inside(os.path.expanduser(word), self.top)  # noqa: PTH111  a user without a home
                for word in re.split(r"[\s'\";]", value)
            )
            if names_program or (is_inside(str(file), self.top) and not harmless_setting(name, value)):
                return f"{name} of the user, which leads into the folder"
        return None

    def _is_linked(self) -> bool:
        """It is a work tree that its repository knows: both lead to each other."""
        return _place_in(self.git_dir / "gitdir", self.git_dir) == self.top / ".git"

    def _links(self) -> Iterator[Path]:
        """Links among the files that git prints or follows: the steps of a rebase, why a work tree is locked.

        git creates no links there; users do, for hooks. Objects are found by their hashes and are not searched.
        """
        for top in {self.git_dir, self.common}:
            for folder, folders, files in os.walk(top):
                inner = Path(folder)
                yield from (
                    inner / name for name in (*folders, *files) if name != "hooks" and (inner / name).is_symlink()
                )
                if inner in (top, top / "objects"):
                    folders[:] = [name for name in folders if not _UNSEEN.fullmatch(name)]

    def _other_stores(self) -> Iterator[Path]:
        """Folders of objects elsewhere, which git shows as if they were its own."""
        stores = [self.common / "objects"]
        for store in stores:
            for line in _content(store / "info" / "alternates", MOST_BYTES).splitlines():
                place = _joined(store, os.fsdecode(line))
                if line.startswith(b'"') or not any(map(place.is_relative_to, (self.top, self.common))):
                    yield place
                elif place not in stores:
                    stores.append(place)

    def _submodules(self) -> Iterator[Path]:
        """The folders that are repositories of their own to this one."""
        index = _content(self.git_dir / "index", MOST_BYTES_OF_INDEX)
        # The mode of a submodule, or the mark of an index in two files; the bytes may be there by chance.
        if b"\0\0\xe0\0" not in index and b"link" not in index:
            return
        for entry in _git("ls-files", "--stage", "-z", cwd=self.top).split(b"\0"):
            mode, _, rest = entry.partition(b" ")
            if mode == b"160000":
                yield self.top / os.fsdecode(rest.partition(b"\t")[2])


def _is_git_dir(folder: Path) -> bool:
    """As git knows one (gitrepository-layout(5)). Raises _Strange where git may see it otherwise."""
    head = folder / "HEAD"
    if not os.path.lexists(head) or not folder.is_dir():
        return False
    common = _place_in(folder / "commondir", folder) or folder
    if not ((common / "objects").is_dir() and (common / "refs").is_dir()):
        if folder.name == ".git":
            raise _Strange(f"{folder} does not have git's usual form")
        return False
    if head.is_symlink() or not re.match(rb"ref:\s*refs/|[0-9a-f]{40}", _content(head, 10_000)):
        raise _Strange(f"{head} does not have git's usual form")
    return True


def _place_in(file: Path, folder: Path) -> Path | None:
    """The place that a small file names, counted from `folder`; None where there is no file."""
    text = os.fsdecode(_content(file, 10_000)).rstrip("\r\n")
    return _joined(folder, text) if text else None


def _joined(folder: Path, text: str) -> Path:
    return Path(os.path.realpath(folder / text))


def _content(path: Path, most_bytes: int) -> bytes:
    """Empty where there is no such file."""
    try:
        return read_regular(path, most_bytes)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError) as error:
        raise _Strange(f"{path} cannot be read: {getattr(error, 'strerror', error)}") from error


def _settings(path: Path) -> Iterator[tuple[str, str]]:
    written = _content(path, MOST_BYTES)
    if written:
        yield from _pairs(_git("config", "--file", "-", "--no-includes", "--list", "-z", cwd=Path("/"), given=written))


def _pairs(listed: bytes) -> Iterator[tuple[str, str]]:
    for entry in listed.split(b"\0"):
        if entry:
            name, equals, value = entry.decode(errors="replace").partition("\n")
            yield name, value if equals else "true"


def _holds_password(name: str, value: str) -> bool:
    """An address in the value, or in the middle of the name, does."""
    return any(_CREDENTIALS.search(text) is not None for text in (value, name.partition(".")[2]))


def _in_small_letters(name: str) -> str:
    """A name as git lists it: the part between the first and the last dot as it is."""
    first, _, rest = name.partition(".")
    middle, dot, last = rest.rpartition(".")
    return f"{first.lower()}.{middle}{dot}{last.lower()}"


def _git(*arguments: str, cwd: Path, given: bytes = b"") -> bytes:
    kept = {name: value for name, value in os.environ.items() if _CONFIGURES.match(name) or name[:4] != "GIT_"}
    environment = {**kept, **safe_environment(kept), "LC_ALL": "C", "PATH": own_search_path(cwd)}
    command = ("git", *arguments)
    try:
        finished = subprocess.run(
            command, cwd=cwd, env=environment, input=given, capture_output=True, timeout=TIME_LIMIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _Strange("settings that git itself cannot read") from error
    return finished.stdout
