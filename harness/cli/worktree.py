"""`harness worktree`: the worktrees of a repository from outside of a session."""

import asyncio
import logging
import sys
from argparse import Namespace

from harness.base.external_text import visible
from harness.engine.build.sandbox import sandbox_for
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.repository import changes_since
from harness.engine.worktrees import check_runner
from harness.events import Event
from harness.processes import Processes
from harness.session import listed, worktrees_for
from harness.settings import Settings
from harness.ui.lines.events import line_of
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.merge_queue import MergeQueue


def worktree(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    return asyncio.run(_run(settings, options))


async def _run(settings: Settings, options: Namespace) -> int:
    rules = SessionRules(settings, logging.getLogger("harness"))
    processes = Processes(sandbox=sandbox_for(settings, rules))
    worktrees = worktrees_for(settings, processes, "harness worktree")
    try:
        match options.kind:
            case "list":
                async for text in listed(worktrees):
                    _print(text)
            case "diff":
                tree = await worktrees.find(options.name)
                for file in changes_since(tree.path, tree.base).files:
                    _print(file.diff or f"{file.path} ({file.note})")
            case "merge":
                queue = MergeQueue(worktrees, check_runner(settings, rules, processes), _show)
                result = await queue.run(options.names)
                return 1 if result.given_back or result.ready else 0
            case "keep":
                await worktrees.keep(options.name)
                _print(f"The worktree {options.name} stays until you remove it by name.")
            case "remove":
                await _remove(worktrees, options.name, yes=options.yes)
    finally:
        await processes.sandbox.aclose()
        await processes.aclose()
    return 0


async def _remove(worktrees: Worktrees, name: str, *, yes: bool) -> None:
    found = await worktrees.removal(name)
    for line in found.lines:
        _print(line)
    if not (found.free or found.forbidden or yes) and not _agreed():
        raise WorktreeError(f"The worktree {name} stays; --yes removes it without a question.")
    kept = await worktrees.remove(name, found)
    _print(f"The worktree {name} is removed; {kept} keeps what git had of it.")


def _agreed() -> bool:
    """The user says yes at a terminal."""
    if not sys.stdin.isatty():
        return False
    print("Remove it? [no] ", end="", flush=True)
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _show(event: Event) -> None:
    if (line := line_of(event)) is not None:
        _print(str(line))


def _print(text: str) -> None:
    print("\n".join(visible(line) for line in text.split("\n")), flush=True)
