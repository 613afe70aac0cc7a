"""The slash command /worktree."""

from harness.base.external_text import visible
from harness.session import Session, listed
from harness.ui.commands.repository_commands import MOST_LINES, parts_of
from harness.ui.commands.results import CommandError, CommandResult, PlayEvents, ShowDiff, StartTask

_USAGE = "/worktree takes list, diff NAME, merge [NAME …], keep NAME or remove NAME"


def worktree(session: Session, argument: str) -> CommandResult:
    """List the worktrees of the repository, show the changes of one, merge, keep or remove it."""
    action, *names = argument.split() or ["list"]
    match action, names:
        case "list", []:
            return StartTask(_list(session))
        case "diff", [name]:
            return ShowDiff(_diff(session, name))
        case "merge", _:
            tell = session.background.team.given_back if session.background.has_team else None
            return PlayEvents(session.user_commands.merge_worktrees(session.worktrees, names, tell), steers=False)
        case "keep", [name]:
            return StartTask(_keep(session, name))
        case "remove", [name]:
            return PlayEvents(session.user_commands.remove_worktree(session.worktrees, name), steers=False)
        case _:
            raise CommandError(f"{_USAGE}.")


async def _list(session: Session) -> str:
    found = [text async for text in listed(session.worktrees)]
    return visible("\n".join(found)) if found else "There is no worktree; `harness --worktree NAME` makes one."


async def _diff(session: Session, name: str) -> tuple[str, ...]:
    changes = await session.worktree_changes(name)
    if not changes.files:
        return (f"The worktree {name} has changed nothing.",)
    shown = [part for file in changes.files for part in parts_of(file)]
    more = [f"… {len(shown) - MOST_LINES} more"] if len(shown) > MOST_LINES else []
    return (*shown[:MOST_LINES], *more)


async def _keep(session: Session, name: str) -> str:
    await session.worktrees.keep(name)
    return f"The worktree {name} stays until you remove it by name."
