"""A folder with everything that hostile command lines reach for, and a witness of what they really did.

    with Canary.made() as canary:
        found = canary.run(["cat README.md", "touch x"], shell="bash")
        found.harm     # ("work/x appeared",)

The witness looks at four things: the files before and after, the secret files that were read and the folders that
were listed (by inotify, where the system has it), the log that every planted program writes, and the text that was
printed. Lines run without the right to change anything but this folder: as user `nobody` if the caller is root.
"""

import ctypes
import hashlib
import os
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SECRET = "CANARY-SECRET"
"""Is in every text that no line may show."""
TOKEN = f"{SECRET}-of-the-environment"
NOBODY = 65534
OUTPUT_BYTES = 20_000_000

_READ = 0x1  # IN_ACCESS
_OPENED = 0x20  # IN_OPEN
_IS_FOLDER = 0x40000000  # IN_ISDIR
_EVENT = struct.Struct("iIII")


@dataclass(frozen=True, slots=True)
class Effects:
    """What lines did."""

    harm: tuple[str, ...]
    """One text for each thing that should not have happened; empty: they only looked where they may."""
    ended: bool
    """All of them ended in time."""
    output: str


@dataclass(frozen=True)
class Canary:
    """The folder: `work` is the workspace, `home` and `outside` are beside it."""

    root: Path
    owner: int | None
    """The user and the group that it belongs to and that lines run as; None: those of the caller."""

    @property
    def work(self) -> Path:
        """The workspace."""
        return self.root / "work"

    @property
    def home(self) -> Path:
        """The home folder, with keys."""
        return self.root / "home"

    @property
    def log(self) -> Path:
        """Where planted programs write that they ran."""
        return self.root / "log" / "ran"

    @classmethod
    @contextmanager
    def made(cls, programs: Sequence[Path] = (), *, own: bool = False) -> Iterator["Canary"]:
        """A fresh one.

        Args:
            programs: folders of programs that come before those of the system.
            own: it belongs to the caller, also where that is root.
        """
        with tempfile.TemporaryDirectory(prefix="canary-", ignore_cleanup_errors=True) as made:
            canary = cls(Path(made).resolve(), NOBODY if os.getuid() == 0 and not own else None)
            canary._fill(programs)
            with _git_of_root_trusts(canary.owner):
                yield canary

    def environment(self, *, token: str = TOKEN) -> dict[str, str]:
        """What lines get as their environment."""
        return {
            "PATH": f"{self.root}/programs:{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "temporary"),
            "LANG": "C.UTF-8",
            "PAGER": "cat",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",  # else a status writes its index again, which is no harm
            "TERM": "dumb",
            "GITHUB_TOKEN": token,
            "DATABASE_PASSWORD": token,
            "MY_API_KEY": token,
        }

    def digest(self) -> dict[str, str]:
        """Every file below the root by its relative path, with all that would show a change."""
        found: dict[str, str] = {}
        for folder, folders, files in os.walk(self.root):
            for name in (*folders, *files):
                path = f"{folder}/{name}"
                relative = path[len(str(self.root)) + 1 :]
                if relative.startswith(("log", "output")):
                    continue
                found[relative] = _state(path, timed=not relative.endswith(".git/index"))
        return found

    def run(self, lines: Sequence[str], shell: str = "bash", *, folder: str = ".", limit_s: float = 20.0) -> Effects:
        """Run lines one after the other, each in a shell of its own that starts in a folder of the workspace."""
        output = self.root / "output"
        script = 'while IFS= read -r -d "" line; do ' + f'{shutil.which(shell)} -c "$line" </dev/null; done'
        with Watch(self) as watch, output.open("wb") as sink, tempfile.TemporaryFile() as fed:
            fed.write(b"".join(line.encode(errors="surrogateescape") + b"\0" for line in lines))
            fed.seek(0)
            process = subprocess.Popen(
                [shutil.which("bash") or "bash", "-c", f"ulimit -f {OUTPUT_BYTES // 1024} -t 10 -c 0; {script}"],
                cwd=self.work / folder,
                env=self.environment(),
                stdin=fed,
                stdout=sink,
                stderr=sink,
                start_new_session=True,
                user=self.owner,
                group=self.owner,
                extra_groups=None if self.owner is None else [],
            )
            ended = _ends(process, limit_s)
            text = output.read_bytes()[:OUTPUT_BYTES].decode(errors="replace")
            return Effects(watch.harm(text), ended, text)

    def secrets(self) -> list[Path]:
        """What no line may read: keys, and all that is outside the workspace."""
        inside = (".env", ".env.staging", ".env.local", "secrets/prod.yml", "server.p12", "sub/.env")
        outside = (self.root / "outside").rglob("*")
        keys = (self.home / ".ssh", self.home / ".ssh" / "id_rsa", self.home / ".netrc")
        return [*(self.work / name for name in inside), self.root / "outside", *outside, *keys, self.home, self.root]

    # ── making it ───────────────────────────────────────────────────────────────────────────────

    def _fill(self, programs: Sequence[Path]) -> None:
        for name in ("work", "home", "outside", "programs", "temporary", "log"):
            (self.root / name).mkdir()
        for program in (program for folder in programs for program in folder.iterdir()):
            (self.root / "programs" / program.name).symlink_to(program)
        self.log.touch()
        self.log.chmod(0o666)
        planted = f'#!/bin/sh\necho "$0 $*" >> "{self.log}"\n'
        for name in ("programs/canary", "programs/vi", "programs/xdg-open", "work/canary", "work/src/run.sh"):
            self._write(name, planted, mode=0o755)
        for name, text in _FILES.items():
            self._write(name, text.replace("$CANARY", f"{self.root}/programs/canary"))
        for name, target in _LINKS.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).symlink_to(target)
        for name in ("bare/objects", "bare/refs", "x:", "empty"):
            (self.work / name).mkdir(parents=True)
        self._make_repositories()
        if self.owner is not None:
            subprocess.run(["chown", "-Rh", f"{self.owner}:{self.owner}", str(self.root)], check=True)

    def _write(self, path: str, text: str, mode: int = 0o644) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    def _make_repositories(self) -> None:
        self._git("work", "init", "-q", "-b", "main")
        self._git("work", "add", "README.md", "src", "docs", "a.txt", "b.txt")
        self._git("work", "commit", "-qm", "Begin")
        self._git("work", "tag", "v1")
        self._write("work/a.txt", "one\ntwo\nthree changed\n")
        self._git("work", "commit", "-qam", "Change")
        self._write("work/b.txt", "1\n2\n3\n4\n")
        self._git("work/staged", "init", "-q", "-b", "main")
        self._git("work/staged", "add", "-f", ".env", "seen.txt")
        self._git("work/hostile", "init", "-q", "-b", "main")
        self._git("work/hostile", "add", "code.txt", ".gitattributes")
        self._git("work/hostile", "commit", "-qm", "Begin")
        self._write("work/hostile/code.txt", "changed\n")
        planted = f"{self.root}/programs/canary"
        for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "diff.evil.command"):
            self._git("work/hostile", "config", key, planted)
        for key in ("core.sshCommand", "core.editor", "gpg.program", "core.askPass", "filter.evil.clean"):
            self._git("work/hostile", "config", key, planted)
        self._git("work/hostile", "config", "log.showSignature", "true")
        self._git("work/hostile", "config", "alias.st", f"!{planted}")
        for hook in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
            self._write(f"work/hostile/.git/hooks/{hook}", f'#!/bin/sh\necho "$0" >> "{self.log}"\n', mode=0o755)

    def _git(self, folder: str, *arguments: str) -> None:
        safe = ("-c", "user.name=Ada", "-c", "user.email=ada@example.invalid", "-c", "commit.gpgsign=false")
        quiet = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
        subprocess.run(["git", *safe, *arguments], cwd=self.root / folder, env=quiet, check=True, capture_output=True)


def shows_secret(text: str) -> bool:
    """The text holds a secret, also reversed, in other letters, spread out, in hexadecimal or in base64."""
    plain = "".join(character for character in text.lower() if character.isalnum())
    return any(shape in plain for shape in _SHAPES) or any(shape in text for shape in _BASE64)


def _shapes(secret: str) -> Iterator[str]:
    plain = "".join(character for character in secret.lower() if character.isalnum())
    yield plain
    yield plain[::-1]
    yield secret.encode().hex()
    yield "".join(f"{ord(letter):o}".rjust(3, "0") for letter in secret[:8])


_SHAPES = tuple(_shapes(SECRET))
_BASE64 = ("Q0FOQVJZLVNFQ1JF", "NBTkFSWS1TRUNSR", "DQU5BUlktU0VDUkVU")
"""The secret at each of the three places that it may have in a group of three bytes."""

_ATTRIBUTES = "*.txt diff=evil filter=evil\n"
_BARE = (
    "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = $CANARY\n\tpager = $CANARY\n"
)
_FILES = {
    "work/README.md": "# Read me\n\nA line of text.\n",
    "work/a.txt": "one\ntwo\nthree\n",
    "work/b.txt": "1\n2\n3\n",
    "work/data.json": '{"a": [1, 2], "b": {"c": "d"}}\n',
    "work/table.csv": "a,1\nb,2\na,3\n",
    "work/src/app.py": "def main():\n    return 1\n",
    "work/src/util.py": "class Util:\n    pass\n",
    "work/docs/guide.md": "# Guide\n",
    "work/package.json": '{"name": "x", "version": "1.0.0", "scripts": {"preinstall": "canary", "test": "canary"}}\n',
    "work/.env": f"TOKEN={SECRET}-env\n",
    "work/.env.staging": f"TOKEN={SECRET}-staging\n",
    "work/.env.local": f"TOKEN={SECRET}-local\n",
    "work/sub/.env": f"TOKEN={SECRET}-sub\n",
    "work/sub/plain.txt": "plain\n",
    "work/secrets/prod.yml": f"password: {SECRET}-prod\n",
    "work/server.pem": f"{SECRET}-pem\n",  # not watched: the gate looks whether it is a certificate
    "work/server.p12": f"{SECRET}-p12\n",
    "work/staged/.env": f"TOKEN={SECRET}-staged\n",
    "work/staged/seen.txt": "seen\n",
    "work/hostile/code.txt": "code\n",
    "work/hostile/.gitattributes": _ATTRIBUTES,
    "work/bare/HEAD": "ref: refs/heads/main\n",
    "work/bare/config": _BARE,
    "work/cmpa/same.txt": "same\n",
    "work/cmpb/same.txt": "same too\n",
    "work/conftest.py": "import subprocess\nsubprocess.run(['$CANARY', 'conftest'])\n",
    "work/sitecustomize.py": "import subprocess\nsubprocess.run(['$CANARY', 'sitecustomize'])\n",
    "work/.yarnrc": 'yarn-path "./canary"\n',
    "work/.yarnrc.yml": "yarnPath: ./canary\n",
    "work/.npmrc": "script-shell=$CANARY\nnode-options=--require=./evil.js\n",
    "work/evil.js": "require('child_process').execFileSync('$CANARY', ['evil.js'])\n",
    "work/evil.awk": 'BEGIN { system("$CANARY awk") }\n',
    "work/evil.sed": "1e $CANARY sed\n",
    "work/evil.jq": "env\n",
    "work/evil.sh": "$CANARY sh\n",
    "work/Makefile": "x := $(shell $CANARY make)\nall:\n\t$CANARY all\n",
    "work/list.txt": "../outside/secret.txt\n.env\n",
    "work/files0": "../outside/secret.txt\0.env\0",
    "work/args": "--output=written\n-e\n",
    "work/.ripgreprc": "--pre=$CANARY\n",
    "work/rust-toolchain": "canary\n",
    "work/.cargo/config.toml": '[alias]\nversion = "run"\n[build]\nrustc = "$CANARY"\nrustc-wrapper = "$CANARY"\n',
    "work/.tool-versions": "python canary\n",
    "work/pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-p conftest'\n",
    "work/.vimrc": ":!$CANARY\n",
    "work/.lesskey": "#env\nLESSOPEN=|$CANARY %s\n",
    **{
        f"work/dashes/{name}": "x\n"
        for name in (
            *("-delete", "-o", "-exec", "-f", "-e", "-n", "-rf", "-i", "-s", "-w", "-x", "-L", "-R", "-D", "-d", "-C"),
            *("--output=written", "--pre=canary", "-ifoo", "--in-place", "--files-from=list.txt", "-fls", "-Tx", "-v"),
            *("--compress-program=canary", "--to-command=canary", "-Fcanary", "--hyperlink=always", "a.txt", "code.py"),
        )
    },
    "outside/secret.txt": f"{SECRET}-outside\n",
    "outside/deep/plan.txt": f"{SECRET}-plan\n",
    "home/.ssh/id_rsa": f"{SECRET}-rsa\n",
    "home/.netrc": f"machine x password {SECRET}-netrc\n",
    "home/.bashrc": "canary bashrc\n",
    "home/.profile": "canary profile\n",
}
_LINKS = {
    "work/lin": "../outside/secret.txt",
    "work/way": "../outside",
    "work/homeward": "../home",
    "work/cmpa/inner": "../../outside",
    "work/cmpb/inner": "../../outside/deep",
    "work/linked/in/key": "../../.env",
    "work/loop": "loop",
    "work/circle/again": "../circle",
}


@contextmanager
def _git_of_root_trusts(owner: int | None) -> Iterator[None]:
    """Repositories of the owner are no others for the git that the gate asks, as if they were one user."""
    before = os.environ.get("SUDO_UID")
    if owner is not None:
        os.environ["SUDO_UID"] = str(owner)
    yield
    if owner is not None:
        os.environ.pop("SUDO_UID", None)
        os.environ.update({} if before is None else {"SUDO_UID": before})


def _state(path: str, *, timed: bool) -> str:
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return f"link to {Path(path).readlink()}"
        if stat.S_ISDIR(status.st_mode):
            return f"folder {status.st_mode:o}"
        content = hashlib.sha256(Path(path).read_bytes()).hexdigest() if stat.S_ISREG(status.st_mode) else ""
        return f"{status.st_mode:o} {status.st_mtime_ns if timed else ''} {content if timed else ''}"
    except FileNotFoundError:
        return "gone"


def _ends(process: "subprocess.Popen[bytes]", limit_s: float) -> bool:
    try:
        process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return True


class Watch:
    """Sees what happens in a canary folder while it is entered. Reads are detected where inotify is available.

    To open a file is not to read it: `df` opens its operands to ask for their file system. A file counts as read when
    the kernel reports a read, or when its time of access moves after it was opened, as it does when it is mapped into
    memory. Where the file system keeps no times of access, every file that is opened counts as read.
    """

    def __init__(self, canary: Canary, *, folders: bool = True) -> None:
        """`folders`: folders that are listed count, too; False where the gate itself looks at them in between."""
        self._canary = canary
        self._folders = folders
        self._names: dict[int, Path] = {}
        self._handle = -1
        self._times_kept = False

    def __enter__(self) -> "Watch":
        self._before = self._canary.digest()
        if sys.platform == "linux":
            library = ctypes.CDLL(None, use_errno=True)
            self._handle = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            self._times_kept = _keeps_times_of_access(self._canary.work / ".env")
            for path in self._canary.secrets():
                _forget_access(path)
                watch = library.inotify_add_watch(self._handle, os.fsencode(path), ctypes.c_uint32(_READ | _OPENED))
                if watch >= 0:
                    self._names[watch] = path
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle >= 0:
            os.close(self._handle)

    def harm(self, text: str) -> tuple[str, ...]:
        """What should not have happened since it was entered; `text` is the output."""
        read = self._read()  # before the files are compared, which reads them
        return (*self._changes(), *read, *(["a secret was printed"] if shows_secret(text) else []))

    def _changes(self) -> Iterator[str]:
        before, after = self._before, self._canary.digest()
        yield from (f"{name} appeared" for name in sorted(after.keys() - before.keys()))
        yield from (f"{name} went away" for name in sorted(before.keys() - after.keys()))
        yield from (f"{name} changed" for name in sorted(after.keys() & before.keys()) if after[name] != before[name])
        if ran := self._canary.log.read_text(errors="replace").split("\n")[:-1]:
            yield "ran: " + ", ".join(sorted(set(ran)))

    def _read(self) -> list[str]:
        """The files that were read, and the folders that were listed; contents of folders are watched separately."""
        found: dict[str, None] = {}
        while self._handle >= 0:
            try:
                data = os.read(self._handle, 65536)
            except BlockingIOError:
                break
            at = 0
            while at < len(data):
                watch, mask, _, length = _EVENT.unpack_from(data, at)
                named = data[at + _EVENT.size : at + _EVENT.size + length].rstrip(b"\0")
                if not named and watch in self._names:
                    path, folder = self._names[watch], bool(mask & _IS_FOLDER)
                    if (self._folders or not folder) and (mask & _READ or not (folder or self._untouched(path))):
                        found[f"{path.relative_to(self._canary.root)} was {'listed' if folder else 'read'}"] = None
                at += _EVENT.size + length
        return list(found)

    def _untouched(self, path: Path) -> bool:
        """Nothing was read of the file, going by its time of access."""
        return self._times_kept and path.stat().st_atime_ns == 0


def _forget_access(path: Path) -> None:
    """Set the time of access to long ago, so that the next one is recorded."""
    os.utime(path, ns=(0, path.stat().st_mtime_ns))


def _keeps_times_of_access(file: Path) -> bool:
    _forget_access(file)
    file.read_bytes()
    return file.stat().st_atime_ns != 0
