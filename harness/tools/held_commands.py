"""What a command in the sandbox was refused and has changed, as the model and the user have to know it."""

import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.concurrency import in_thread
from harness.base.external_text import visible
from harness.base.files import open_regular
from harness.processes import ProcessResult
from harness.sandbox import (
    NOTHING_MORE,
    Allowance,
    CommandTerms,
    Profile,
    ProfileName,
    SandboxDenial,
    SandboxLevel,
)
from harness.sandbox.git_places import branches_of, made_from, main_tree
from harness.sandbox.marked_files import stamp_of
from harness.sandbox.refused_paths import REFUSED, refused_paths
from harness.tools.network_notes import LONGEST_NETWORK_NOTE, ports_missed, without_network
from harness.tools.tool import ToolContext, shorten_line

if TYPE_CHECKING:
    from harness.processes.command import PipedProcess

READ_ONLY = (
    "\n[The command ran read-only because it ran without a question. If it was refused a write that it needs, the "
    "user can allow it with a rule: /permissions allow bash(COMMAND)]"
)
REFUSED_PATHS = (
    "\n[The sandbox refused {paths}. If the command needs that, call it again with the same line: the user is then "
    "asked whether it may. If not, do without.]"
)
MADE_OBEYED = "\n[The call made, changed or removed what other programs obey by its name: {paths}. Tell the user.]"
ENDED_LEFT = "\n[What it left running was ended, because files that other programs obey were open to it.]"
UPSTREAM_SET = "\n[git could not write its settings in the sandbox. The upstream is set all the same: {paths}.]"
LONGEST_NOTE = 400
"""Characters of a note with paths."""
LONGEST_NOTES = LONGEST_NETWORK_NOTE + 3 * LONGEST_NOTE
_UPSTREAM = """
test "$(git config branch.autoSetupMerge)" != false && ! git config --get "branch.$2.merge" &&
    git branch -q --set-upstream-to="refs/remotes/$1" -- "$2"
"""
_UPSTREAM_S = 10.0
_MOST_BYTES = 1_000_000
"""Of a file whose words are compared."""
_GONE = ((0, 0), "")


class HeldCommand:
    """Made before a command begins, and asked when it has ended; both in a thread, because they look at the disk.

    git is no witness of what others obey: a command can tell it to track and commit anything. So what counts is whether
    the same words were obeyed by the same name before.
    """

    def __init__(self, context: ToolContext, line: str) -> None:
        self._context, self._line = context, line
        self._works = context.profile is ProfileName.WORK
        self._unended = context.processes.sandbox.unended
        self._ended_left = False
        guarded = (context.terms.granted or self._granted(ProfileName.WORK)) if self._works else None
        self._before = {path: _seen(path) for path in self._guarded(guarded)}
        for others in tuple(self._unended.values()):
            self._before |= others
        self._known = {(posixpath.basename(path), words) for path, (_, words) in self._before.items() if words}
        self._opened = {path: seen for path, seen in self._before.items() if self._is_open(path)}
        self._branches = set(self._branches_now()) if self._works and "git" in line else set()

    def begun(self) -> None:
        """It runs. If nobody sees its end, the next command tells what has changed."""
        if self._opened:
            self._unended[self] = self._opened

    async def without_left(self, child: "PipedProcess", finished: ProcessResult) -> ProcessResult:
        """End what it left running where files that others obey are open to that: nobody would see the change."""
        if not self._opened or not finished.left:
            return finished
        self._ended_left = True
        return replace(finished, left=(await child.end()).left)

    def ended(
        self, text: str, finished: ProcessResult, upstreams: Mapping[str, str]
    ) -> tuple[str, tuple[SandboxDenial, ...], tuple[str, ...]]:
        """A note for the model; the paths and local ports that the sandbox refused; and what others obey that was
        made or changed, but not by git.

        Args:
            text: the output.
            upstreams: what `set_upstreams` returned.
        """
        refused, note = REFUSED.search(text) is not None, ""
        if finished.denials_note:
            note = f"\n[{finished.denials_note}; do not try another way to reach it]"
        elif finished.exit_code and self._works:
            note = without_network(text)
        suspect = bool(finished.exit_code or refused)
        granted = self._granted(self._context.profile) if self._works or suspect else None
        paths = self._refused(text, granted) if granted and suspect else ()
        denials = (*(one for one in paths if one.subject not in upstreams.values()), *self._ports(text))
        note += ENDED_LEFT if self._ended_left else ""
        if upstreams:
            note += with_paths(UPSTREAM_SET, upstreams)
        if denials:
            note += with_paths(REFUSED_PATHS, (one.subject for one in denials))
        elif refused and finished.exit_code and not self._works:
            note += READ_ONLY if self._context.processes.sandbox.state.level is not SandboxLevel.NONE else ""
        made, others = self._changed(granted)
        return note + made, denials, others

    def changed(self) -> tuple[str, tuple[str, ...]]:
        """A note for the model on what others obey that was made, changed or removed meanwhile; and what of it is not
        the same as what was obeyed before."""
        return self._changed(self._granted(ProfileName.WORK))

    def _changed(self, granted: Profile | None) -> tuple[str, tuple[str, ...]]:
        made = tuple(self._made(granted))
        others = tuple(path for path in made if not self._is_known(path))
        self._unended.pop(self, None)
        for opened in self._unended.values():
            opened.update({path: _seen(path) for path in opened})
        return with_paths(MADE_OBEYED, made) if made else "", others

    async def set_upstreams(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Give branches that the command made from those of a remote their upstream, as git would have: its settings
        are read-only there. Returns "BRANCH follows UPSTREAM" for each, and the file with the settings."""
        if not self._works or "git" not in self._line or "--no-track" in self._line:
            return {}
        found: dict[str, str] = {}
        made = await in_thread(lambda: set(self._branches_now()) - self._branches)
        for folder, branch in sorted(made):
            if not (upstream := made_from(folder, branch)):
                continue
            settings = f"{folder}/config"
            with suppress(OSError):  # then it has none, as git has said
                child = await self._context.processes.pipe(
                    ("/bin/sh", "-c", _UPSTREAM, "sh", upstream, branch),
                    cwd=self._context.workspace.root,
                    environment={**environment, "GIT_DIR": folder},
                    sink=bytearray().extend,
                    profile=ProfileName.WORK,
                    terms=CommandTerms(Allowance((settings,))),
                )
                if (await child.within(_UPSTREAM_S)).exit_code == 0:
                    found[f"{branch} follows {upstream}"] = settings
                    self._before[settings] = await in_thread(partial(_seen, settings))
        return found

    def _branches_now(self) -> Iterator[tuple[str, str]]:
        """Each folder of git with each of its branches."""
        folders = (posixpath.dirname(path) for path in self._before if path.endswith("/config"))
        return ((folder, branch) for folder in folders for branch in branches_of(folder))

    def _granted(self, profile: ProfileName) -> Profile | None:
        return self._context.processes.sandbox.granted(profile, self._context.workspace.root)

    def _guarded(self, granted: Profile | None) -> Iterator[str]:
        """What other programs obey in the workspace; of folders that are open to the command, also their files."""
        for path in granted.read_only if granted else ():
            yield path
            yield from _files(path) if self._is_open(path) else ()

    def _is_open(self, path: str) -> bool:
        """The user has allowed it beyond the profile."""
        return Allowance((path,)).beyond(self._context.terms.allowance) == NOTHING_MORE

    def _made(self, granted: Profile | None) -> Iterator[str]:
        """What the command made, changed or removed of that; of folders in each other, the outermost."""
        paths = {*self._guarded(granted), *self._before} if self._works else ()
        made = sorted(path for path in paths if self._is_new(path) and posixpath.exists(posixpath.dirname(path)))
        return (path for path in made if not any(path.startswith(f"{other}/") for other in made))

    def _is_new(self, path: str) -> bool:
        return self._before.get(path, _GONE)[0] != stamp_of(path)

    def _is_known(self, path: str) -> bool:
        """The same was obeyed before: git has exchanged files and taken them back, or made a worktree."""
        if path.endswith("/.git") and posixpath.isfile(path):
            return main_tree(Path(path).parent) is not None
        if "/.git/worktrees/" in path:
            return True  # obeyed where a file .git leads there
        files = [file for file in _files(path) if self._is_new(file)]
        return bool(files) and all((posixpath.basename(file), _seen(file)[1]) in self._known for file in files)

    def _refused(self, text: str, granted: Profile) -> tuple[SandboxDenial, ...]:
        denials = refused_paths(text, granted, self._context.workspace.root)
        return tuple(one for one in denials if not self._is_open(one.subject))

    def _ports(self, text: str) -> tuple[SandboxDenial, ...]:
        """The ports of this machine that the command could not reach, although something listens there."""
        ports = ports_missed(self._line, text) if self._works else ()
        if not ports:
            return ()
        from harness.sandbox.proxy import listens

        return tuple(SandboxDenial("host", f"localhost:{port}") for port in ports if listens(port))


def _seen(path: str) -> tuple[tuple[int, int], str]:
    """The stamp of a path, and the words in it."""
    stamp = stamp_of(path)
    return stamp, _words(path, stamp)


@lru_cache(maxsize=4_096)
def _words(path: str, _: tuple[int, int]) -> str:
    """What stands for the content of a file, and for whether it can be run; empty: it is none, or too long."""
    with suppress(OSError), open_regular(Path(path)) as file:
        content, runs = file.read(_MOST_BYTES + 1), os.fstat(file.fileno()).st_mode & 0o111
        return f"{runs > 0} {hashlib.sha256(content).hexdigest()}" if len(content) <= _MOST_BYTES else ""
    return ""


def _files(path: str) -> Iterator[str]:
    """The file, or those in the folder."""
    if posixpath.isdir(path):
        yield from (posixpath.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    else:
        yield path


def with_paths(note: str, paths: Iterable[str]) -> str:
    """A note that names paths, as many as fit."""
    return note.format(paths=shorten_line(visible(", ".join(paths)), LONGEST_NOTE - len(note)))
