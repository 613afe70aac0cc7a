"""Real repositories with a worktree in every state that a removal has to understand."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.processes import Processes
from harness.worktrees import Worktree, Worktrees

IDENTITY = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
_QUIET = (
    "init.defaultBranch=main",
    "protocol.file.allow=always",
    "core.safecrlf=false",
    f"core.hooksPath={os.devnull}",
    "core.useReplaceRefs=false",
)
SETTINGS = tuple(part for one in _QUIET for part in ("-c", one))


def git(folder: Path, *arguments: str, fine: tuple[int, ...] = (0,)) -> str:
    ended = subprocess.run(
        ["git", "-C", str(folder), *SETTINGS, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        check=False,
        env={**os.environ, **IDENTITY},
    )
    assert ended.returncode in fine, (arguments, ended.stdout, ended.stderr)
    return ended.stdout.strip()


def begun(code: str, cwd: Path) -> "subprocess.Popen[bytes]":
    """A program that has printed its first line."""
    program = subprocess.Popen([sys.executable, "-c", code], cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdout is not None
    program.stdout.readline()
    return program


def printed_by(code: str) -> str:
    """What a program prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def run_killed(code: str, programs: Path) -> bool:
    """Run a program with these programs in front of others; whether it was killed."""
    variables = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run([sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -9), ended.stderr
    of_ours = [one for one in psutil.process_iter(["cmdline"]) if f"{programs}/git" in (one.info["cmdline"] or ())]
    assert psutil.wait_procs(of_ours, timeout=30)[1] == []
    return ended.returncode == -9


def kept_at(main: Path, ref: str, date: int) -> None:
    """Let the commit of a ref be one of another time."""
    shape = git(main, "cat-file", "-p", ref).splitlines()
    commit = ("commit-tree", "-m", "x", "-p", shape[1].split()[1], shape[0].split()[1])
    made = subprocess.run(
        ["git", "-C", str(main), *commit],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **IDENTITY, "GIT_COMMITTER_DATE": f"{date} +0000"},
    )
    git(main, "update-ref", ref, made.stdout.strip())


def written(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def committed(folder: Path, name: str = "f", text: str = "x\n", message: str = "") -> str:
    """A commit with this file; returns its id."""
    written(folder / name, text)
    git(folder, "add", "--all")
    git(folder, "commit", "-qm", message or f"{name} is {text.strip()}")
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path, *options: str) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q", *options)
    written(folder / ".gitignore", "*.key\nbuild/\n__pycache__/\n")
    committed(folder, "f", "one\n")
    return folder


@dataclass(frozen=True)
class Place:
    """A repository, and what makes trees of it."""

    main: Path
    worktrees: Worktrees
    tree: Worktree

    @property
    def path(self) -> Path:
        """Of the tree."""
        return self.tree.path

    def commits(self) -> set[str]:
        """Every commit that a ref reaches."""
        return set(git(self.main, "rev-list", "--all").split())

    def contents(self) -> set[str]:
        """What every commit under a ref holds of files."""
        objects = git(self.main, "rev-list", "--all", "--objects").splitlines()
        return {line.split(" ", 1)[0] for line in objects}


# ── kinds of repositories ───────────────────────────────────────────────────────────────────────


def _set(*settings: str) -> Callable[[Path], Path]:
    """A repository with these settings, each NAME=VALUE."""

    def make(folder: Path) -> Path:
        main = repository(folder)
        for one in settings:
            git(main, "config", *one.split("=", 1))
        return main

    return make


def _cloned(*options: str) -> Callable[[Path], Path]:
    """A clone of one with three commits."""

    def make(folder: Path) -> Path:
        origin = repository(folder.parent / "origin")
        committed(origin, "old/g"), committed(origin, "old/h")
        git(origin, "config", "uploadpack.allowFilter", "true")
        git(folder.parent, "clone", "-q", *options, f"file://{origin}", str(folder))
        return folder

    return make


def _with_attributes(folder: Path) -> Path:
    main = repository(folder)
    committed(main, ".gitattributes", "* text=auto eol=crlf\nf ident\n")
    return main


def _with_filter(folder: Path) -> Path:
    """What is checked in is the checksum of a file, whose bytes are elsewhere: as large files are kept."""
    store = folder.parent / "large"
    store.mkdir()
    clean = f"f=$(mktemp -p {store}); cat >$f; h=$(cksum <$f | cut -d' ' -f1); mv $f {store}/$h; echo sum $h"
    smudge = f"read s h && cat {store}/$h"
    main = _set(f"filter.large.clean={clean}", f"filter.large.smudge={smudge}", "filter.large.required=true")(folder)
    committed(main, ".gitattributes", "new* filter=large\nlarge filter=large\n")
    committed(main, "large", "large\n")
    return main


def _with_hooks(folder: Path) -> Path:
    main = repository(folder)
    for name in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "pre-merge-commit"):
        written(main / ".git" / "own-hooks" / name, "#!/bin/sh\nexit 1\n").chmod(0o755)
    git(main, "config", "core.hooksPath", str(main / ".git" / "own-hooks"))
    return main


def _replaced(folder: Path) -> Path:
    main = repository(folder)
    last = committed(main, "old")
    git(main, "replace", last, git(main, "commit-tree", "-m", "without history", f"{last}^{{tree}}"))
    return main


def _another_tree(folder: Path) -> Path:
    git(repository(folder.parent / "first"), "worktree", "add", "-q", "-b", "second", str(folder))
    git(folder, "branch", "-m", "main", "first"), git(folder, "branch", "-m", "second", "main")
    return folder


def _as_submodule(folder: Path) -> Path:
    above = repository(folder.parent / "above")
    git(above, "submodule", "--quiet", "add", str(repository(folder.parent / "other")), "sub")
    folder.symlink_to(above / "sub")
    return folder


def _linked_folder(folder: Path) -> Path:
    folder.symlink_to(repository(folder.parent / "real"))
    return folder


KINDS: dict[str, Callable[[Path], Path]] = {
    "plain": repository,
    "SHA-256": lambda folder: repository(folder, "--object-format=sha256"),
    "git elsewhere": lambda folder: repository(folder, f"--separate-git-dir={folder.parent / 'apart'}"),
    "settings of trees": _set("extensions.worktreeConfig=true", "core.splitIndex=true"),
    "line ends of Windows": _set("core.autocrlf=true", "core.safecrlf=true"),
    "attributes": _with_attributes,
    "filter": _with_filter,
    "a status that hides": _set("status.showUntrackedFiles=no", "core.ignoreStat=true", "diff.ignoreSubmodules=all"),
    "no log": _set("core.logAllRefUpdates=false", "worktree.guessRemote=true", "color.ui=always"),
    "small and capital": _set("core.ignoreCase=true", "core.fileMode=false", "core.untrackedCache=true"),
    "alternates": _cloned("--shared"),
    "shallow": _cloned("--depth=1"),
    "partial": _cloned("--filter=blob:none"),
    "failing hooks": _with_hooks,
    "replaced commit": _replaced,
    "a linked tree": _another_tree,
    "a submodule": _as_submodule,
    "behind a link": _linked_folder,
}


@asynccontextmanager
async def place(
    folder: Path, name: str = "work", *, session: str = "s", make: Callable[[Path], Path] = repository
) -> AsyncIterator[Place]:
    """A repository with one worktree, which this process holds."""
    main = make(folder / "main")
    processes = Processes()
    worktrees = Worktrees(processes, main, folder / "state", session, trusted=make is KINDS["filter"])
    try:
        yield Place(main, worktrees, await worktrees.enter(name))
    finally:
        await processes.aclose()


# ── states ──────────────────────────────────────────────────────────────────────────────────────


def _detached(at: Place) -> None:
    git(at.path, "switch", "-q", "--detach")
    committed(at.path, "g", "detached\n")


def _rebase(at: Place) -> None:
    committed(at.path, "f", "theirs\n")
    committed(at.main, "f", "ours\n")
    git(at.path, "rebase", "-q", "main", fine=(1,))


def _merge(at: Place) -> None:
    committed(at.path, "f", "theirs\n")
    committed(at.main, "f", "ours\n")
    git(at.path, "merge", "-q", "main", fine=(1,))


def _squash_merged(at: Place) -> None:
    committed(at.path, "g", "1\n")
    committed(at.path, "g", "2\n")
    git(at.main, "merge", "-q", "--squash", at.tree.branch)
    git(at.main, "commit", "-qm", "squashed")


def _partly_merged(at: Place) -> None:
    _squash_merged(at)
    committed(at.path, "h", "later\n")


def _merged_but_for_spaces(at: Place) -> None:
    committed(at.path, "g", "if a:\n    b\nc\n")
    committed(at.main, "g", "if a:\n    b\n    c\n")


def _merged(at: Place) -> None:
    committed(at.path, "g", "1\n")
    git(at.main, "merge", "-q", "--no-edit", at.tree.branch)


def _submodule(at: Place) -> None:
    other = repository(at.main.parent / "other")
    git(at.path, "submodule", "--quiet", "add", str(other), "sub")
    git(at.path, "commit", "-qm", "sub")


def _submodule_not_here(at: Place) -> None:
    other = repository(at.main.parent / "other")
    git(at.main, "submodule", "--quiet", "add", str(other), "sub")
    git(at.main, "commit", "-qm", "sub")
    git(at.path, "merge", "-q", "main")


def _nested(at: Place) -> None:
    repository(at.path / "nested")


def _nested_ignored(at: Place) -> None:
    repository(at.path / "build" / "deep" / "nested")


def _amended(at: Place) -> None:
    committed(at.path, "g", "first thought\n")
    git(at.path, "commit", "-q", "--amend", "-m", "second thought")
    git(at.path, "reset", "-q", "--hard", "HEAD~1")


def _linked(at: Place) -> None:
    outside = written(at.main.parent / "outside" / "precious").parent
    (at.path / "build").mkdir()
    (at.path / "build" / "link").symlink_to(outside)


def _with_upstream(at: Place) -> None:
    bare = at.main.parent / "bare.git"
    git(at.main.parent, "clone", "-q", "--bare", str(at.main), str(bare))
    git(at.main, "remote", "add", "another", str(bare))
    committed(at.path, "g", "pushed\n")
    git(at.path, "push", "-q", "-u", "another", at.tree.branch)


def _unpushed(at: Place) -> None:
    _with_upstream(at)
    committed(at.path, "g", "not pushed\n")


def _stash(at: Place) -> None:
    written(at.path / "f", "stashed\n")
    git(at.path, "stash", "-q")


def _staged(at: Place) -> None:
    written(at.path / "f", "staged\n")
    git(at.path, "add", ".")
    written(at.path / "f", "and changed\n")


def _only_staged(at: Place) -> None:
    written(at.path / "g", "only in the index\n")
    written(at.path / "b.key", "ignored, and added by force\n")
    git(at.path, "add", "--force", "g", "b.key")
    (at.path / "g").unlink()


def _sparse(at: Place) -> None:
    committed(at.path, "there/g")
    git(at.path, "sparse-checkout", "set", "here")
    written(at.path / "there" / "new", "outside of the sparse checkout\n")


def _picking(at: Place) -> None:
    git(at.main, "switch", "-q", "-c", "other")
    picked = [committed(at.main, "f", "A\n"), committed(at.main, "f", "B\n")]
    committed(at.path, "f", "own\n")
    git(at.path, "cherry-pick", *picked, fine=(1,))
    git(at.path, "add", "f")
    git(at.path, "commit", "-qm", "one of two")
    git(at.main, "switch", "-q", "main")


def _overlooked(at: Place) -> None:
    written(at.path / "g"), written(at.path / "h")
    committed(at.path, "g")
    git(at.main, "merge", "-q", at.tree.branch)
    git(at.path, "update-index", "--assume-unchanged", "g")
    git(at.path, "update-index", "--skip-worktree", "h")
    written(at.path / "g", "overlooked\n"), written(at.path / "h", "skipped\n")


def _line_ends(at: Place) -> None:
    written(at.path / ".gitattributes", "* text=auto\n")
    (at.path / "new crlf").write_bytes(b"a\r\nb\r\n")
    (at.path / "f").write_bytes(b"a\r\nb\n")


def _set_back_from_outside(at: Place) -> None:
    begun = git(at.path, "rev-parse", "HEAD")
    commit = git(at.path, "commit-tree", "-p", begun, "-m", "only the log of the branch has it", f"{begun}^{{tree}}")
    for value in (commit, begun):
        git(at.main, "update-ref", f"refs/heads/{at.tree.branch}", value)


def _own_ref(at: Place) -> None:
    git(at.path, "switch", "-q", "--detach")
    commit = committed(at.path, "g", "for a ref of the tree\n")
    git(at.path, "update-ref", "refs/worktree/mine", commit)
    git(at.path, "switch", "-q", at.tree.branch)
    (at.tree.admin / "logs" / "HEAD").unlink(missing_ok=True)


def _in_place_of_a_submodule(at: Place) -> None:
    _submodule_not_here(at)
    written(at.path / "sub" / "mine")


def odd_names(folder: Path) -> None:
    for name in (b"-f\n\xc3\xbc ->x", b'"q"\\', b"\xff", b"a\tb", b" "):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(name)


def _link(at: Place) -> None:
    (at.path / "f").unlink()
    (at.path / "f").symlink_to("/nowhere")


def _other_branch(at: Place) -> None:
    git(at.path, "switch", "-q", "-c", "mine")
    committed(at.path, "g", "mine\n")


STATES: dict[str, tuple[Callable[[Place], object], str]] = {
    "unchanged": (lambda at: None, "free"),
    "dirty": (lambda at: written(at.path / "f", "changed\n"), "kept"),
    "staged": (_staged, "kept"),
    "only staged": (_only_staged, "kept"),
    "sparse": (_sparse, "kept"),
    "cherry-pick": (_picking, "forbidden"),
    "deleted": (lambda at: (at.path / "f").unlink(), "kept"),
    "untracked": (lambda at: written(at.path / "new" / "g"), "kept"),
    "ignored": (lambda at: written(at.path / "a.key"), "lost"),
    "ignored folder": (lambda at: written(at.path / "build" / "out"), "lost"),
    "caches only": (lambda at: written(at.path / "__pycache__" / "f.pyc"), "free"),
    "committed": (lambda at: committed(at.path, "g"), "kept"),
    "detached": (_detached, "kept"),
    "amended and reset": (_amended, "kept"),
    "another branch": (_other_branch, "kept"),
    "no upstream": (lambda at: committed(at.path, "g", "mine only\n"), "kept"),
    "pushed": (_with_upstream, "free"),
    "unpushed": (_unpushed, "kept"),
    "merged": (_merged, "free"),
    "squash-merged": (_squash_merged, "free"),
    "squash-merged in part": (_partly_merged, "kept"),
    "squash-merged, but for spaces": (_merged_but_for_spaces, "kept"),
    "stash": (_stash, "free"),
    "rebase": (_rebase, "forbidden"),
    "merge": (_merge, "forbidden"),
    "submodule": (_submodule, "forbidden"),
    "submodule elsewhere": (_submodule_not_here, "free"),
    "nested": (_nested, "forbidden"),
    "nested ignored": (_nested_ignored, "forbidden"),
    "a link out": (_linked, "lost"),
    "odd names": (lambda at: odd_names(at.path), "kept"),
    "overlooked": (_overlooked, "kept"),
    "line ends": (_line_ends, "kept"),
    "a ref of its own": (_own_ref, "kept"),
    "set back from outside": (_set_back_from_outside, "kept"),
    "in place of a submodule": (_in_place_of_a_submodule, "forbidden"),
    "a link for a file": (_link, "kept"),
}
"""What is in a tree, and the worst that its removal would mean."""
