"""The worktree of a session: entered when the session opens, left when it closes."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from harness.base.errors import HarnessError
from harness.engine.worktrees import worktrees_for
from harness.events import Event, Notice, WorktreeEntered, WorktreeLeft
from harness.policies.worktrees.removal import Removal, removal
from harness.processes import Processes
from harness.settings import Settings
from harness.worktrees import Worktree, Worktrees

MOST_ORPHANS = 5
"""Left worktrees that a start looks at."""


@asynccontextmanager
async def own_worktrees(settings: Settings, session: str) -> AsyncIterator[Worktrees]:
    """The worktrees for a session that has no owner of processes yet, or no longer."""
    processes = Processes()
    try:
        yield worktrees_for(settings, processes, session)
    finally:
        await processes.aclose()


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a session works, and the events that say so."""

    settings: Settings
    events: tuple[Event, ...] = ()


async def enter(settings: Settings, name: str | None, session: str, *, carry: bool = False) -> Entry:
    """Enter the worktree with this name (empty: a new one; None: none), and report those that are left.

    `carry`: a new one has the user's uncommitted changes as well.

    Raises WorktreeError.
    """
    async with own_worktrees(settings, session) as worktrees:
        events: list[Event] = []
        try:
            orphans = await worktrees.orphans(MOST_ORPHANS)
            for tree, found in orphans:
                if tree.name != name:
                    events.append(Notice("info", f"worktree {tree.name} is left: {_in_short(found)}; /worktree"))
            if len(orphans) == MOST_ORPHANS:
                events.append(Notice("info", "more worktrees may be left; /worktree lists them all"))
        except HarnessError as error:
            events.append(Notice("warning", f"worktrees could not be looked at: {error}"))
        if name is None:
            return Entry(settings, tuple(events))
        tree = await worktrees.enter(name, copies=settings.worktree_files, carry=carry)
        there = settings.model_copy(update={"workspace": worktrees.workspace_in(tree)})
        mine = await worktrees.uncommitted()
        entered = WorktreeEntered(tree.name, str(there.workspace), tree.branch, tree.base, mine, carried=carry)
        return Entry(there, (*events, entered))


async def leave(settings: Settings, session: str) -> tuple[WorktreeLeft, ...]:
    """Leave every worktree that this session uses; those with nothing in them are removed. Raises HarnessError."""
    left = []
    async with own_worktrees(settings, session) as worktrees:
        if worktrees.folder.is_dir():
            for tree in filter(worktrees.uses, await worktrees.trees()):
                found = await worktrees.leave(tree.name)
                why = () if found is None else tuple(_lines(found))
                left.append(WorktreeLeft(tree.name, str(tree.path), found is None, why))
    return tuple(left)


async def listed(worktrees: Worktrees) -> AsyncIterator[str]:
    """The text of a list for each worktree. Raises WorktreeError."""
    for tree in await worktrees.trees():
        yield _text(tree, removal(await worktrees.state(tree)))


def _text(tree: Worktree, found: Removal) -> str:
    """Its name, its branch and what is in it."""
    state = "kept by you" if tree.kept else tree.held_by() or "nobody works in it"
    what = "nothing that is not elsewhere" if found.free else "; ".join(_lines(found))
    return f"{tree.name}  {tree.branch or 'detached HEAD'}  ({state})\n  {tree.path}\n  {what}"


def _lines(found: Removal) -> Iterable[str]:
    return (*found.kept, *found.lost, *found.forbidden)


def _in_short(found: Removal) -> str:
    lines = [line.split(":")[0] for line in _lines(found)]
    return "; ".join(lines[:3])
