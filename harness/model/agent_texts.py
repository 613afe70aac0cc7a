"""What is said to and about agents that work for another one."""

from pathlib import Path

from harness.model.prompt import Section, standard_sections

_IDENTITY = """\
You are an engineering agent. Another agent has given you one task of a larger piece of work; you carry it out in the \
folder with your tools. Nobody reads along and nobody can answer a question."""

_ANSWERS = """\
Your last message is all that goes back, so it has to stand alone: what you found or did, with exact paths, names and \
numbers, and how you checked it. Say plainly what you could not do or did not check. If the task cannot be done as it \
stands, say why and what would be needed, instead of doing something else."""


def agent_sections(
    workspace: Path, platform: str, *, shell: str = "bash", instructions: str = "", skills: str = "", memory: str = ""
) -> tuple[Section, ...]:
    """The system prompt of a subagent; the parameters are those of `standard_sections`."""
    own = {"identity": _IDENTITY, "answers": _ANSWERS}
    sections = standard_sections(
        workspace, platform, shell=shell, instructions=instructions, skills=skills, memory=memory
    )
    return tuple(Section(one.name, own.get(one.name, one.text)) for one in sections)


def unfinished(agent: str, reason: str, said: str) -> str:
    """The result of a task that brought no answer (recovery L5)."""
    head = f"The agent did not finish: {reason.rstrip('.')}. This is no answer."
    go_on = f'To let it go on from where it is, call task with agent="{agent}".'
    if not said:
        return f"{head} It had said nothing yet.\n\n[agent {agent}] {go_on}"
    return f"{head} What it had said until then may be incomplete or wrong:\n\n{said}\n\n[agent {agent}] {go_on}"


def not_started(reason: str) -> str:
    """The result of a task that was never begun."""
    return f"The agent did not finish: it was never started, {reason.rstrip('.')}. Nothing was done."


def works_in_background(agent: str) -> str:
    """The result of a task that nobody waits for."""
    return f"Agent {agent} works on it in the background. You will be told when it ends; go on with other work."


def background_answer(agent: str, task: str, result: str) -> str:
    """What arrives when an agent in the background has ended; `result` is what a call would have got."""
    return f'Agent {agent}, asked in the background to "{task}", has ended.\n\n{result}'
