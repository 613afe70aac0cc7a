"""Contents in a bare git repository of the session's own.

A repository of its own, and not objects in the person's with a ref that holds them: nothing at all is written below
their .git, and a checkpoint outlives whatever happens there, be it `git gc` or `rm -rf .git`. Files go in through
`fast-import` and come out through `cat-file`, byte for byte: neither knows filters, line endings or attributes.
`git --git-dir=<folder> log --all --stat` shows the checkpoints to a person.
"""

import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer
from typing import IO

from harness.checkpoints.contents import ContentsError
from harness.checkpoints.git import GitError, Marked, Stop, kill, start
from harness.checkpoints.manifest import Manifest, content_id

_SETTINGS = {
    "core.compression": "1",
    "core.fsync": "none",  # a killed process loses nothing; after a power cut damage shows when an id is checked
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "gc.auto": "0",
}
_ALONE = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
"""The configuration of the person and of the machine does not count in a repository of ours."""


class Objects:
    """A private git repository, made when something is first stored. Needs git 2.29, which knows SHA-256."""

    def __init__(self, folder: Path, time_s: float, stop: Stop, marked: Marked = dict) -> None:
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
        """A commit without a parent under refs/harness, so that a person sees it and nothing of it is garbage."""
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
        raise ContentsError("git cat-file ended before it had told everything")
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
