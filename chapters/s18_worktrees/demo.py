"""s18: tasks on one file, each in a worktree. First the small version throws a commit away; then the program works."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from runpy import run_path

from chapters.course import DemoSession
from harness.base.concurrency import in_thread
from harness.engine.worktrees import worktrees_for
from harness.events import Notice
from harness.processes import Processes
from harness.session.worktrees import enter, leave
from harness.worktrees import Worktrees

FIRST_COMMIT = (
    ("init", "--quiet", "--initial-branch=main"),
    ("config", "user.name", "A learner"),
    ("config", "user.email", "learner@localhost"),
    ("config", "commit.gpgSign", "false"),
    ("add", "--all"),
    ("commit", "--quiet", "--message", "The ferries"),
)
NAMES = ("lighthouse", "noon", "winter")
FERRIES = "ferries.txt"


@asynccontextmanager
async def repository(session: DemoSession) -> AsyncIterator[Worktrees]:
    """The workspace as a repository with one commit, and what makes worktrees of it."""
    processes = Processes()
    try:
        worktrees = worktrees_for(session.settings(), processes, "chapter")
        for words in FIRST_COMMIT:
            await worktrees.git(*words, cwd=session.workspace)
        yield worktrees
    finally:
        await processes.aclose()


def noon_of(folder: Path) -> str:
    """When the noon ferry of a tree leaves, and where it goes."""
    return (folder / FERRIES).read_text("utf-8").splitlines()[5]


async def by_hand(session: DemoSession, worktrees: Worktrees) -> None:
    """Use the small version, which loses a commit and a file."""
    main, git = session.workspace, worktrees.git
    own = run_path(str(main / "worktree.py"))

    def show(text: str) -> None:
        session.show(Notice("info", text))

    tree = await in_thread(partial(own["make"], main, "noon"))
    show(f"{tree.name} is on {await git('branch', '--show-current', cwd=tree)}")
    text = (tree / FERRIES).read_text("utf-8")
    (tree / FERRIES).write_text(text.replace("12:00", "12:30"), "utf-8")
    show(f"{tree.name}: {noon_of(tree)}; {main.name}: {noon_of(main)}")
    show(f"with a changed file, may_remove: {await in_thread(partial(own['may_remove'], tree))}")
    await git("commit", "--quiet", "--all", "--message", "Half past twelve", cwd=tree)
    (tree / "tickets.db").write_text("40 sold\n", "utf-8")
    commit = await git("rev-parse", "HEAD", cwd=tree)
    _, _, complaint = await git.run("log", "--oneline", "@{push}..", cwd=tree)
    show(f"git: {complaint.splitlines()[0]}")
    show(f"with a commit of its own, may_remove: {await in_thread(partial(own['may_remove'], tree))}")
    with suppress(RuntimeError):  # a better version refuses
        await in_thread(partial(own["remove"], main, tree))
    branches = await git("branch", "--contains", commit, cwd=main)
    show(f"branches with the commit: {branches or 'none'}; tickets.db: {'there' if tree.exists() else 'gone'}")


async def works(session: DemoSession, name: str, prompt: str) -> None:
    """A session of its own answers a prompt in a worktree."""
    settings = session.settings(permissions_allow=["bash(*)", "edit_file", "write_file"])
    entry = await enter(settings, name, name)
    for event in entry.events:
        session.show(event)
    async with session.agent(entry.settings) as agent:
        await session.watch(agent.run(prompt))
    for left in await leave(settings, name):
        session.show(left)


async def demo(session: DemoSession) -> None:
    """The small version; three tasks in three worktrees; a refusal, a merge queue, and a second try."""
    prompts = session.prompts()
    async with repository(session) as worktrees:
        await by_hand(session, worktrees)
        (session.workspace / "notes.txt").write_text("ask the captain\n", "utf-8")
        for name in NAMES:
            await works(session, name, await anext(prompts))
        lighthouse, noon, winter = NAMES
        async with session.agent(session.settings(check_command="python3 check.py")) as lead:
            user = lead.parts.user_commands
            await session.watch(user.remove_worktree(worktrees, noon))
            await session.watch(user.merge_worktrees(worktrees, ()))
            await session.watch(user.remove_worktree(worktrees, lighthouse))
            await session.watch(user.remove_worktree(worktrees, winter))
            kept = await worktrees.git(
                "log", "-1", "--format=%s", f"refs/harness/kept/{winter}^", cwd=session.workspace
            )
            session.show(Notice("info", f"git log refs/harness/kept/{winter}^: {kept}"))
            await works(session, noon, await anext(prompts))
            await session.watch(user.merge_worktrees(worktrees, (noon,)))
            await session.watch(user.remove_worktree(worktrees, noon))
            left = await worktrees.git("worktree", "list", "--porcelain", cwd=session.workspace)
            session.show(Notice("info", f"trees: {left.count('worktree ')}; the user's: {noon_of(session.workspace)}"))
            async for prompt in prompts:
                await session.watch(lead.run(prompt))
