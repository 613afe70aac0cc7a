"""Where the contents of kept files are stored: as copies, or in a private git repository."""

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, Protocol

from harness.checkpoints.git import GitCancellation, GitError, Marked, kill, start
from harness.checkpoints.manifest import Manifest, content_id
from harness.tools.tree import FolderTree


class ContentsError(Exception):
    """The contents cannot be stored or read this way, and why."""


class ContentWriter(Protocol):
    """Contents on their way into the store; they count from `commit` on."""

    def add(self, id: str, data: bytes) -> None:
        """Store a content. Raises ContentsError."""

    def commit(self, manifest: Manifest, note: str) -> None:
        """All that the manifest names has been added, now or earlier. Raises ContentsError."""


class ContentStore(Protocol):
    """A store of contents by id."""

    def writing(self) -> AbstractContextManager[ContentWriter]:
        """For one checkpoint. The contents are stored once this is left without an error."""

    def reading(self, ids: Sequence[str]) -> Iterator[bytes | None]:
        """The contents in this order; None for one that is missing or damaged. Raises ContentsError."""


class CopiedContents:
    """One file for each content, named by its id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @contextmanager
    def writing(self) -> Iterator["_Copying"]:
        """See `ContentStore`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with FolderTree(self._folder) as tree:
            yield _Copying(tree)

    def reading(self, ids: Sequence[str]) -> Iterator[bytes | None]:
        """See `ContentStore`."""
        for id in ids:
            try:
                data = (self._folder / _place(id)).read_bytes()
            except OSError:
                yield None
                continue
            yield data if content_id(data) == id else None


class _Copying:
    def __init__(self, tree: FolderTree) -> None:
        self._tree = tree

    def add(self, id: str, data: bytes) -> None:
        try:
            self._tree.write(_place(id), data, 0o600)
        except OSError as error:
            raise ContentsError(f"a copy cannot be written: {error.strerror or error}") from error

    def commit(self, manifest: Manifest, note: str) -> None:
        """Nothing is left to do: every copy is in place since `add`."""


def _place(id: str) -> str:
    return f"{id[:2]}/{id}"


_SETTINGS = {
    "core.compression": "1",
    "core.fsync": "none",  # a killed process loses nothing; after a power cut damage shows when an id is checked
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "gc.auto": "0",
}
_ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
"""The user's and the system's configuration are ignored in our repository."""


class GitObjects:
    """A private git repository, made when something is first stored. Needs git 2.29, which knows SHA-256."""

    def __init__(self, folder: Path, time_s: float, stop: GitCancellation, marked: Marked = dict) -> None:
        self._folder = folder
        self._time_s = time_s
        self._stop = stop
        self._marked = marked

    @contextmanager
    def writing(self) -> Iterator["_Import"]:
        """See `Contents`."""
        self._make()
        with ExitStack() as stack:
            yield _Import(lambda: stack.enter_context(self._running("fast-import", "--quiet", "--done", feeding=True)))

    def reading(self, ids: Sequence[str]) -> Iterator[bytes | None]:
        """See `Contents`."""
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{id}\n" for id in ids).encode())
            asked.seek(0)
            with self._running("cat-file", "--batch", asked=asked) as process:
                assert process.stdout is not None
                for id in ids:
                    yield _next_object(process.stdout, id)

    def _make(self) -> None:
        if (self._folder / "HEAD").exists():
            for torn in self._folder.glob("objects/pack/tmp_*"):
                torn.unlink()  # of a process that was killed; nothing else writes here
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        # Without a template there are no hooks, and no way for a template to bring some.
        with self._running("init", "--quiet", "--bare", "--object-format=sha256", "--template=") as process:
            process.wait()

    @contextmanager
    def _running(
        self, *arguments: str, feeding: bool = False, asked: IO[bytes] | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A command of git in the private repository, ended in any case. Raises ContentsError when it fails."""
        with tempfile.TemporaryFile() as complaints:
            try:
                process = start(
                    *arguments,
                    cwd=self._folder,
                    settings=_SETTINGS,
                    stdin=subprocess.PIPE if feeding else asked or subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL if asked is None else subprocess.PIPE,
                    stderr=complaints,
                    extra={**_ALONE, "GIT_DIR": str(self._folder)},
                    marked=self._marked,
                )
            except (GitError, OSError) as error:
                raise ContentsError(str(error)) from error
            watchdog = Timer(self._time_s, kill, (process,))
            watchdog.daemon = True
            watchdog.start()
            try:
                with self._stop.ends(process):
                    yield process
                    if process.stdin is not None:
                        process.stdin.close()
                    code = process.wait()
            except OSError as error:
                kill(process)
                process.wait()
                raise ContentsError(_complaint(complaints) or f"git {arguments[0]}: {error}") from error
            finally:
                watchdog.cancel()
                kill(process)
                _close(process)
                process.wait()
            if code:
                raise ContentsError(_complaint(complaints) or f"git {arguments[0]} failed or took too long")


class _Import:
    """A stream into `git fast-import`, which is started when there is something to say."""

    def __init__(self, begin: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._begin = begin
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, id: str, data: bytes) -> None:
        self._say(b"blob\ndata %d\n" % len(data), data, b"\n")

    def commit(self, manifest: Manifest, note: str) -> None:
        """A commit without a parent under refs/harness, which makes it visible and keeps it from garbage collection."""
        message = note.encode()
        lines = [b"commit refs/harness/%s" % manifest.id("git").encode(), b"committer harness <harness> 0 +0000"]
        lines += [b"data %d" % len(message), message, b"deleteall"]
        for path, entry in manifest.entries.items():
            mode = b"120000" if entry.kind == "link" else b"100755" if entry.mode & 0o100 else b"100644"
            lines.append(b"M %s %s %s" % (mode, entry.content.encode(), _quoted(path)))
        self._say(b"\n".join([*lines, b"", b"done", b""]))

    def _say(self, *parts: bytes) -> None:
        self._process = self._process or self._begin()
        assert self._process.stdin is not None
        try:
            self._process.stdin.writelines(parts)
        except OSError as error:
            raise ContentsError(f"git fast-import ended early: {error}") from error


def _quoted(path: str) -> bytes:
    name = path.encode("utf-8", "surrogateescape")
    return b'"' + name.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'


def _next_object(stream: IO[bytes], id: str) -> bytes | None:
    heading = stream.readline().split()
    if not heading:
        raise ContentsError("git cat-file ended early")
    if heading[1:2] != [b"blob"]:
        return None
    data = stream.read(int(heading[2]))
    stream.read(1)
    return data if content_id(data) == id else None


def _complaint(stream: IO[bytes]) -> str:
    stream.seek(0)
    lines = stream.read(10_000).decode(errors="replace").strip().splitlines()
    return lines[0] if lines else ""


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            try:
                stream.close()
            except BrokenPipeError:
                continue  # it died with something of ours unread; that is reported by its exit code
