"""What has changed in the repository of a workspace, file by file. Reads the disk; call it in a thread.

git runs without programs that the repository names (`harness.processes.git_safety`): no external diff, no textconv.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import read_regular
from harness.checkpoints.git import GitError, ask
from harness.tools.workspace import sendable

MOST_S = 20.0
"""Seconds that git may take."""
MOST_LINES = 20_000
"""Changed lines whose text is read, of all files together."""
MOST_UNTRACKED = 500
"""New files whose text is read."""
MOST_BYTES = 1_000_000
"""Of one file; a larger one counts as binary."""
_OPTIONS = (
    "--diff-filter=u",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--find-renames",
    "--submodule=short",
    "--no-relative",
)
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
_SECTION = re.compile(rb"^diff --(?=git )", re.MULTILINE)
_DEFAULTS = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
"""What a review compares with, the first that exists."""


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """One file that differs."""

    group: str
    """staged, unstaged, changed (both together) or untracked."""
    path: str
    """From the top of the repository, in one line."""
    added: int
    removed: int
    note: str = ""
    """What the lines do not say: "binary", "renamed from a.py"; several with commas."""
    hunks: str = ""
    """The hunks of its unified diff; empty: none, or not read."""

    @property
    def diff(self) -> str:
        """A unified diff with its two heading lines; empty if there are no hunks."""
        return f"--- {self.path}\n+++ {self.path}\n{self.hunks}" if self.hunks else ""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of a repository."""

    base: str
    """What the files are compared with, in words."""
    files: tuple[ChangedFile, ...]


def local_changes(folder: Path, wanted: str = "") -> Changes:
    """What is staged, not staged, and not tracked. Raises HarnessError where there is no repository or git fails.

    `wanted`: only this file or what is in this folder, named from the top or by its end; empty: all.
    """
    with_git = _Repository(folder, os.path.normpath(wanted) if wanted else ".")
    staged, unstaged = with_git.compared("staged", "--cached"), with_git.compared("unstaged", "--ours")
    return Changes("the last commit", (*staged, *with_git.in_conflict(list(unstaged)), *with_git.untracked()))


def changes_since(folder: Path, base: str) -> Changes:
    """The working tree, with new files, compared to where it left `base`; empty: the default branch.

    Raises HarnessError also for an unknown base.
    """
    with_git = _Repository(folder)
    commit, words = with_git.base(base)
    return Changes(words, (*with_git.compared("changed", commit), *with_git.untracked()))


class _Repository:
    def __init__(self, folder: Path, wanted: str = ".") -> None:
        self._top = folder
        self._wanted = wanted
        if not folder.is_dir():
            raise HarnessError(f"The folder {folder} is not there.")
        try:
            self._top = Path(os.fsdecode(self._git("rev-parse", "--show-toplevel").removesuffix(b"\n")))
        except HarnessError as error:
            if "not a git repository" in str(error):
                raise HarnessError(f"{folder} is in no git repository; `git init` makes one.") from error
            raise

    def _git(self, *arguments: str, given: bytes = b"", fine: tuple[int, ...] = (0,)) -> bytes:
        try:
            limit = ("-c", f"core.bigFileThreshold={MOST_BYTES}", "-c", "core.quotePath=false")
            return ask(*limit, *arguments, cwd=self._top, time_s=MOST_S, given=given, fine=fine).printed
        except GitError as error:
            raise HarnessError(f"git {arguments[0]} failed: {' '.join(str(error).split())}") from error

    def _commit(self, name: str) -> str:
        found = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", fine=(0, 1, 128)
        )
        return found.decode().strip().splitlines()[-1] if found.strip() else ""

    def base(self, name: str) -> tuple[str, str]:
        """The commit to compare with, and what it is in words."""
        head = self._commit("HEAD")
        if name and not self._commit(name):
            raise HarnessError(f"There is no branch or commit {name!r}; `git branch -a` lists the branches.")
        if not head:
            return self._git("hash-object", "-t", "tree", "--stdin").decode().strip(), "nothing: there is no commit yet"
        chosen = name or next(filter(self._commit, _DEFAULTS), "HEAD")
        commit = self._commit(chosen)
        shared = self._git("merge-base", commit, head, fine=(0, 1)).decode().strip()
        short = re.sub(r"^refs/(heads|remotes)/", "", chosen)
        return shared or commit, f"{short} ({(shared or commit)[:10]})"

    def compared(self, group: str, *what: str) -> Iterator[ChangedFile]:
        """The files that `git diff` with these arguments finds."""
        numbers = _counts(self._git("diff", *_OPTIONS, "--numstat", "-z", *what, "--"))
        counted = [one for one in numbers if self._is_wanted(one[3])]
        lines, wanted = 0, []
        for added, removed, old, path in counted:
            lines += (added or 0) + (removed or 0)
            if lines > MOST_LINES:
                break
            wanted += [f":(top,literal){name}" for name in dict.fromkeys((old, path)) if name]
        hunks: list[bytes] = []
        if wanted:
            hunks = list(_sections(self._git("diff", *_OPTIONS, *_PREFIXES, *what, "--", *wanted)))
        for index, (added, removed, old, path) in enumerate(counted):
            text = hunks[index] if index < len(hunks) else b""
            notes = (
                f"renamed from {_in_one_line(old)}" if old else "",
                "binary" if added is None else "",
                *_notes(text),
            )
            begin = text.find(b"\n@@")
            body = text[begin + 1 :].decode("utf-8", "replace") if begin >= 0 else ""
            yield ChangedFile(group, _in_one_line(path), added or 0, removed or 0, ", ".join(filter(None, notes)), body)

    def in_conflict(self, files: Sequence[ChangedFile]) -> Iterator[ChangedFile]:
        """The files that are not staged, and those that a merge has left open: of these, what differs from our side."""
        names = self._git("diff", "--name-only", "--diff-filter=U", "-z", "--no-relative", "--").split(b"\0")
        open_ones = dict.fromkeys(name for name in map(os.fsdecode, filter(None, names)) if self._is_wanted(name))
        shown = {_in_one_line(name) for name in open_ones}
        for file in files:
            noted = ", ".join(filter(None, (file.note, "in conflict")))
            yield replace(file, note=noted) if file.path in shown else file
        for path in sorted(shown - {file.path for file in files}):
            yield ChangedFile("unstaged", path, 0, 0, "in conflict")

    def _is_wanted(self, name: str) -> bool:
        wanted, path = self._wanted, name.rstrip("/")
        return wanted == "." or path == wanted or path.startswith(f"{wanted}/") or path.endswith(f"/{wanted}")

    def untracked(self) -> Iterator[ChangedFile]:
        """The files that git neither tracks nor ignores."""
        names = self._git("ls-files", "-z", "--others", "--exclude-standard").split(b"\0")
        wanted = (name for name in map(os.fsdecode, filter(None, names)) if self._is_wanted(name))
        for index, name in enumerate(sorted(wanted)):
            if name.endswith("/"):
                yield ChangedFile("untracked", _in_one_line(name), 0, 0, "a repository of its own")
                continue
            lines, note = _text_of(self._top / name) if index < MOST_UNTRACKED else ((), "not read")
            body = "".join(f"+{line}\n" for line in lines)
            hunks = f"@@ -0,0 +1,{len(lines)} @@\n{body}" if lines else ""
            yield ChangedFile("untracked", _in_one_line(name), len(lines), 0, note, hunks)


def _counts(printed: bytes) -> Iterator[tuple[int | None, int | None, str, str]]:
    """Lines added and removed (None: binary), the old name of a renamed file, and the name, of `--numstat -z`."""
    fields = iter(printed.split(b"\0"))
    for field in fields:
        if not field:
            continue
        added, removed, name = field.split(b"\t", 2)
        old, new = (b"", name) if name else (next(fields), next(fields))
        numbers = (None if count == b"-" else int(count) for count in (added, removed))
        yield *numbers, os.fsdecode(old), os.fsdecode(new)  # type: ignore[misc]  # two numbers and two names


def _sections(printed: bytes) -> Iterator[bytes]:
    """The diffs of the files. That of a file which became a link, or the reverse, comes in two with one heading."""
    before = b""
    for part in _SECTION.split(printed)[1:]:
        heading = part.partition(b"\n")[0]
        if heading != before:
            yield part
        before = heading


def _in_one_line(name: str) -> str:
    return sendable(name).replace("\n", "\\n")


def _notes(section: bytes) -> Iterable[str]:
    head = section.partition(b"\n@@")[0].decode("utf-8", "replace")
    for sign, words in (("new file mode 160000", "submodule"), ("new file", "new"), ("deleted file", "deleted")):
        if f"\n{sign}" in head:
            yield words
            return
    if re.search(r"^index \S+ 160000$", head, re.MULTILINE):
        yield "submodule"
    if mode := re.search(r"^old mode (\d+)\nnew mode (\d+)$", head, re.MULTILINE):
        yield f"mode {mode[1]} → {mode[2]}"


def _text_of(file: Path) -> tuple[Sequence[str], str]:
    """The lines of a new file, or why there are none."""
    if file.is_symlink():
        return (), f"link to {sendable(os.readlink(file))}"  # noqa: PTH115  keeps names that are not UTF-8
    try:
        data = read_regular(file, MOST_BYTES)
    except (OSError, ValueError):
        return (), "cannot be read, or is larger than 1 MB"
    if b"\0" in data:
        return (), "binary"
    return data.decode("utf-8", "replace").split("\n")[: -1 if data.endswith(b"\n") or not data else None], ""
