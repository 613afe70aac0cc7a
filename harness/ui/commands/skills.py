"""/skills and /skill: which skills there are, and one for the next prompt."""

from collections.abc import Iterator

from harness.base.terminal_text import visible
from harness.session import Session
from harness.ui.commands.results import CommandError, Result, Say

DESCRIPTION = 100
"""Characters of a description on a line."""


def skills(session: Session, argument: str) -> Result:
    """List the skills and what is wrong with which file; `reload` reads the disk again before."""
    if argument not in ("", "reload"):
        raise CommandError(f"{argument!r} is not understood; type /skills, /skills reload, or /skill and a name.")
    if argument:
        session.reload_skills()
    return Say("\n".join(_list(session)))


def skill(session: Session, argument: str) -> Result:
    """Let a skill go with the next prompt."""
    if not argument:
        raise CommandError("Which skill? Type /skill and its name; /skills lists them.")
    return Say(f"The skill {session.use_skill(argument).name} goes with your next prompt.")


def _list(session: Session) -> Iterator[str]:
    found = session.skills
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        description = visible(one.description)
        shown = description if len(description) <= DESCRIPTION else description[: DESCRIPTION - 1] + "…"
        yield f"  {visible(one.name):<{width}}  {one.origin:<7}  {shown}"
        yield f"  {'':<{width}}  {'':<7}  {visible(str(one.folder))}"
    for problem in session.skill_problems:
        yield f"  ! {visible(str(problem.file))}: {' '.join(visible(problem.text).split())}"
    if not found:
        yield "There are no skills; put one into .harness/skills/NAME/SKILL.md."
    elif not session.has_skill_tool:
        yield "The model reads them by itself from the next session on; /skill NAME gives it one now."
    else:
        yield "/skill NAME lets one go with your next prompt; /skills reload reads them again."
