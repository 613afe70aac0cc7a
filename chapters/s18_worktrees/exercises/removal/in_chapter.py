"""The learner's functions decide which worktrees of a repository may go."""

from functools import partial
from types import ModuleType

from chapters.course import DemoSession
from chapters.s18_worktrees.demo import repository
from harness.base.concurrency import in_thread
from harness.events import Notice
from harness.worktrees import Worktrees

STATES: dict[str, tuple[tuple[str, ...], ...]] = {
    "unchanged": (),
    "committed": (("commit", "--quiet", "--allow-empty", "--message", "a thought"),),
    "detached": (
        ("switch", "--quiet", "--detach"),
        ("commit", "--quiet", "--allow-empty", "--message", "a thought on no branch"),
    ),
    "tagged": (("commit", "--quiet", "--allow-empty", "--message", "a release"), ("tag", "v1")),
}


async def made(worktrees: Worktrees) -> dict[str, str]:
    """A worktree in each state; returns their folders."""
    folders = {}
    for name, commands in STATES.items():
        tree = await worktrees.enter(name)
        for words in commands:
            await worktrees.git(*words, cwd=tree.path)
        folders[name] = str(tree.path)
    return folders


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt asks about every worktree."""
    async with repository(session) as worktrees:
        folders = await made(worktrees)
        async for _ in session.prompts():
            for name, folder in folders.items():
                state = await in_thread(partial(work.look, folder))
                verdict = "may go" if work.may_remove(state) else "stays"
                session.show(Notice("info", f"{name}: {verdict}"))
