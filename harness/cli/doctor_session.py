"""What a session brings along besides its settings: instructions, skills, memories, rules, hooks, and the gate.

The disk is read as a session would read it when it begins. Nothing is written.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from harness.base.errors import HarnessError
from harness.base.terminal_text import visible
from harness.cli.slots import slots_status
from harness.definitions import AgentFile, Origin, usable
from harness.engine.config import (
    agent_limits,
    agents_for,
    command_limits,
    commands_for,
    memory_for,
    skills_for,
    tools_for,
)
from harness.engine.instruction_files import NAME, read_instructions
from harness.engine.permissions.session_rules import Granting
from harness.permissions import Scope
from harness.settings import Loaded
from harness.settings.rule_layers import ADDED_UP
from harness.slots.store import SlotsError

OFF = "switched off"


@dataclass(frozen=True, slots=True)
class Brought:
    """What was found."""

    facts: Mapping[str, str]
    """Half a line for each thing, in the order in which they are told."""
    oddities: tuple[str, ...]
    """What stops nothing and is worth knowing, a sentence each."""
    failures: Mapping[str, HarnessError]
    """For what stops a session: why."""


def brought_along(loaded: Loaded) -> Brought:
    """Look at all of it. Never raises for what is on the disk."""
    facts: dict[str, str] = {}
    oddities: list[str] = []
    failures: dict[str, HarnessError] = {}
    for name, look in _LOOKS.items():
        try:
            facts[name] = look(loaded, oddities.append)
        except HarnessError as error:
            facts[name], failures[name] = "cannot be used, see below", error
    return Brought(facts, tuple(oddities), failures)


Tell = Callable[[str], None]
"""Takes an oddity."""


def _instructions(loaded: Loaded, tell: Tell) -> str:
    if not loaded.settings.instructions:
        return OFF
    found = read_instructions(loaded.settings, tell)
    files = (f"{visible(one.path)}{' (yours)' if one.of_the_person else ''}" for one in found)
    return ", ".join(files) or f"none; {NAME} in the workspace would be one"


def _skills(loaded: Loaded, tell: Tell) -> str:
    if not loaded.settings.skills:
        return OFF
    book = skills_for(loaded.settings)
    _tell_problems(((problem.file, problem.text) for problem in book.problems), tell)
    return _whose(skill.origin.value for skill in book.skills)


def _commands(loaded: Loaded, tell: Tell) -> str:
    from harness.ui.commands.commands import TAKEN

    found = commands_for(loaded.settings)
    _tell_problems(((problem.file, problem.text) for problem in found.problems), tell)
    for command in found.commands:
        if command.name in TAKEN:
            tell(f"{visible(str(command.file))} is left out: /{command.name} is a command of the program; rename it.")
        elif command.shell:
            tell(f"{visible(str(command.file))}: what it writes as !`…` is not run; the model runs what it needs.")
    return _named((f"/{one.name}", one.origin) for one in found.commands if one.name not in TAKEN)


def _agents(loaded: Loaded, tell: Tell) -> str:
    settings = loaded.settings
    skills, memory = skills_for(settings), memory_for(settings, session="")
    found = usable(agents_for(settings), [tool.name for tool in tools_for(settings, None, skills, memory)])
    _tell_problems(((problem.file, problem.text) for problem in found.problems), tell)
    return _named((f"{one.name}{_chosen(one)}", one.origin) for one in found.agents)


def _chosen(agent: AgentFile) -> str:
    """The model and the effort that the file of an agent names."""
    named = ", ".join((*([agent.model] if agent.model else []), *([f"effort {agent.effort}"] if agent.effort else [])))
    return f" ({named})" if named else ""


def _memory(loaded: Loaded, tell: Tell) -> str:
    book = memory_for(loaded.settings, session="")
    if not book.on:
        return OFF
    found = book.store.find()
    _tell_problems(((problem.file, problem.text) for problem in found.problems), tell)
    return _whose(memory.place.value for memory in found.memories)


def _permissions(loaded: Loaded, tell: Tell) -> str:
    rules = Granting(loaded.settings, logging.getLogger(__name__)).rules
    kept = sum(rule.scope is Scope.ALWAYS for rule in rules)
    file = loaded.settings.permissions_file
    parts = []
    if given := len(rules) - kept:
        origins = ", ".join(loaded.origins[name] for name in ADDED_UP if getattr(loaded.settings, name))
        parts.append(f"{given} of the settings ({origins})")
    if kept:
        parts.append(f"{kept} that you keep in {file}")
    return ", ".join(parts) or f"none; those that you keep would be in {file}"


def _hooks(loaded: Loaded, tell: Tell) -> str:
    hooks = loaded.settings.hooks
    points = Counter(hook.point.value for hook in hooks)
    told = ", ".join(f"{number} {point}" for point, number in points.items())
    return f"{len(hooks)} ({told}), from {loaded.origins['hooks']}" if hooks else "none"


def _trust(loaded: Loaded, tell: Tell) -> str:
    if not loaded.claims:
        return "its files set nothing that waits for your trust"
    claims = ", ".join(visible(claim.origin) for claim in loaded.claims)
    match loaded.trust:
        case True:
            return f"trusted to set {claims}"
        case False:
            return f"not trusted; left out: {claims}"
        case None:
            return f"you are asked at the next start; until then left out: {claims}"


def _gate(loaded: Loaded, tell: Tell) -> str:
    settings = loaded.settings
    agents, commands = agent_limits(settings).max_concurrent, command_limits(settings).max_concurrent
    places = f"{_counted(agents, 'agent')} and {_counted(commands, 'background command')} at a time"
    limits = f"{places}, {settings.max_queue_size} of each may wait"
    if not settings.shared_gate:
        return f"{limits}; each session counts for itself (shared_gate)"
    try:
        status = slots_status(settings)
    except SlotsError as error:
        tell(f"Sessions cannot share the places of agents, so each counts for itself: {visible(str(error))}")
        return f"{limits}; each session counts for itself for now, see below"
    at_work = sum(entry.started is not None for entry in status.entries)
    return f"{limits}; agents of all your sessions count together, {at_work} work now"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


_LOOKS: Mapping[str, Callable[[Loaded, Tell], str]] = MappingProxyType(
    {
        "folder": _trust,
        "instructions": _instructions,
        "skills": _skills,
        "commands": _commands,
        "agents": _agents,
        "memories": _memory,
        "permissions": _permissions,
        "hooks": _hooks,
        "gate": _gate,
    }
)


def _whose(places: Iterable[str]) -> str:
    """Counts by whom something belongs to."""
    counts = Counter(places)
    words = {"person": "of yours", "project": "of the project"}
    return ", ".join(f"{counts[place]} {whose}" for place, whose in words.items() if counts[place]) or "none"


def _named(found: Iterable[tuple[str, Origin]]) -> str:
    """Names, those of the user marked as theirs."""
    return (
        ", ".join(visible(name) + (" (yours)" if origin is Origin.PERSON else "") for name, origin in found) or "none"
    )


def _tell_problems(problems: Iterable[tuple[Path, str]], tell: Tell) -> None:
    for file, text in problems:
        tell(f"{visible(str(file))} {' '.join(visible(text).split())}.")
