"""Slash commands about the repository and its files: /diff, /review, /init."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.external_text import counted, visible
from harness.session import ChangedFile, Session
from harness.ui.commands.results import CommandError, CommandResult, PlayEvents, ShowDiff, ShowText

PAGE_LINES = 200
"""Lines of diffs after which a page ends, with the file that reaches it."""
MOST_LINES = 1_000
"""Lines shown of one file."""
MOST_LISTED = 100
"""Files of a group that the list before the diffs names."""
GROUPS = ("staged", "unstaged", "untracked")


def diff(session: Session, argument: str) -> CommandResult:
    """Show what is staged, unstaged and untracked, file by file; a number is a page, anything else a path."""
    return ShowDiff(_diff(session, argument))


def review(session: Session, argument: str) -> CommandResult:
    """Let the model review the changes since a branch or commit."""
    return PlayEvents(session.review(argument), steers=False)


def init(session: Session, argument: str) -> CommandResult:
    """Let the model write AGENTS.md."""
    return PlayEvents(session.write_instructions(), steers=False)


def add_dir(session: Session, argument: str) -> CommandResult:
    """List the folders of the session, or add one."""
    if not argument:
        return ShowText("\n".join((*map(str, session.permissions.workspace.roots), "/add-dir DIR adds a folder.")))
    return PlayEvents(session.user_commands.add_folder(Path(argument)))


async def _diff(session: Session, argument: str) -> tuple[str, ...]:
    wanted = "" if argument.isdigit() else argument
    files = (await session.local_changes(wanted)).files
    if not files and wanted:
        raise CommandError(f"No changed file is called {argument!r}; /diff lists them.")
    if not files:
        return ("Nothing has changed since the last commit.",)
    pages = list(_pages(files))
    number = int(argument) if argument.isdigit() else 1
    if not 1 <= number <= len(pages):
        raise CommandError(f"There is no page {number}; there {'is 1' if len(pages) == 1 else f'are {len(pages)}'}.")
    shown = [part for file in pages[number - 1] for part in parts_of(file)]
    head = ["\n".join(_overview(files))] if number == 1 else []
    left = sum(map(len, pages[number:]))
    more = [f"{counted(left, 'more file')}: /diff {number + 1}, or /diff PATH for one of them"] if left else []
    return (*head, *shown, *more)


def _pages(files: Sequence[ChangedFile]) -> Iterator[Sequence[ChangedFile]]:
    page: list[ChangedFile] = []
    lines = 0
    for file in files:
        page.append(file)
        lines += 1 + min(MOST_LINES, file.hunks.count("\n"))
        if lines >= PAGE_LINES:
            yield page
            page, lines = [], 0
    if page:
        yield page


def _overview(files: Sequence[ChangedFile]) -> Iterator[str]:
    groups = {group: [file for file in files if file.group == group] for group in GROUPS}
    width = max(len(visible(file.path)) for inside in groups.values() for file in inside[:MOST_LISTED])
    for group, inside in groups.items():
        if inside:
            added, removed = sum(file.added for file in inside), sum(file.removed for file in inside)
            yield f"{group}: {counted(len(inside), 'file')}, +{added:,} −{removed:,}"
            for file in inside[:MOST_LISTED]:
                yield f"  {visible(file.path):<{width}}  +{file.added:,} −{file.removed:,}  {file.note}".rstrip()
            if len(inside) > MOST_LISTED:
                yield f"  … {counted(len(inside) - MOST_LISTED, 'more file')}"


def parts_of(file: ChangedFile) -> Iterator[str]:
    """A heading and the diff of one file; nothing for one whose lines are the same or not shown."""
    if not file.hunks:
        return
    yield f"\n{file.path} ({', '.join(filter(None, (file.group, file.note)))})"
    lines = file.diff.split("\n")
    more = len(lines) - MOST_LINES
    yield "\n".join((*lines[:MOST_LINES], f"… {more:,} more lines") if more > 0 else lines)
