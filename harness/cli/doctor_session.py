"""What `harness doctor` reports besides settings: instructions, skills, memories, rules, hooks, admission.

Files are read as at the start of a session. Nothing is written.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.base.errors import HarnessError
from harness.base.external_text import counted, visible
from harness.cli.admission import slots_status
from harness.definitions import AgentFile, DefinitionOrigin, DefinitionProblem, usable
from harness.engine.build.from_settings import (
    admission_limits,
    agents_for,
    commands_for,
    mcp_config,
    memory_for,
    require_tools_of_hooks,
    skills_for,
    tools_for,
)
from harness.engine.instruction_files import NAME, read_instructions
from harness.engine.model.shared_endpoints import limits_of, read
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.store_places import store_clock
from harness.memory import MemoryProblem
from harness.permissions.rules import RuleScope
from harness.settings.load import ADDED_UP, LoadedSettings
from harness.slots.store import SlotsError
from harness.ui.folds.model import limit_in_words

OFF = "off"


@dataclass(frozen=True, slots=True)
class SessionExtras:
    """The findings."""

    facts: Mapping[str, str]
    """A short text per subject."""
    warnings: tuple[str, ...]
    failures: Mapping[str, HarnessError]
    """Errors that would stop a session, by subject."""


def session_extras(loaded: LoadedSettings) -> SessionExtras:
    """Examine all subjects. Does not raise for broken files."""
    facts: dict[str, str] = {}
    warnings: list[str] = []
    failures: dict[str, HarnessError] = {}
    for name, look in _LOOKS.items():
        try:
            facts[name] = look(loaded, warnings.append)
        except HarnessError as error:
            facts[name], failures[name] = "error, see below", error
    return SessionExtras(facts, tuple(warnings), failures)


Warn = Callable[[str], None]


def _instructions(loaded: LoadedSettings, warn: Warn) -> str:
    if not loaded.settings.instructions:
        return OFF
    found = read_instructions(loaded.settings, warn)
    files = (f"{visible(one.path)}{' (yours)' if one.from_user else ''}" for one in found)
    return ", ".join(files) or f"none; {NAME} in the workspace would be one"


def _skills(loaded: LoadedSettings, warn: Warn) -> str:
    if not loaded.settings.skills:
        return OFF
    book = skills_for(loaded.settings)
    _warn_of_problems(book.problems, warn)
    return _whose(skill.origin.value for skill in book.skills)


def _commands(loaded: LoadedSettings, warn: Warn) -> str:
    from harness.ui.commands.commands import TAKEN

    found = commands_for(loaded.settings)
    _warn_of_problems(found.problems, warn)
    for command in found.commands:
        if command.name in TAKEN:
            warn(f"{visible(str(command.file))} is ignored: /{command.name} is a built-in command; rename the file.")
        elif command.shell:
            warn(f"{visible(str(command.file))}: !`…` is not expanded; the model runs the command if needed.")
    return _named((f"/{one.name}", one.origin) for one in found.commands if one.name not in TAKEN)


def _agents(loaded: LoadedSettings, warn: Warn) -> str:
    settings = loaded.settings
    skills, memory = skills_for(settings), memory_for(settings, session="")
    found = usable(agents_for(settings), [tool.name for tool in tools_for(settings, None, skills, memory)])
    _warn_of_problems(found.problems, warn)
    return _named((f"{one.name}{_chosen(one)}", one.origin) for one in found.agents)


def _chosen(agent: AgentFile) -> str:
    named = ", ".join((*([agent.model] if agent.model else []), *([f"effort {agent.effort}"] if agent.effort else [])))
    return f" ({named})" if named else ""


def _memory(loaded: LoadedSettings, warn: Warn) -> str:
    book = memory_for(loaded.settings, session="")
    if not book.on:
        return OFF
    found = book.store.find()
    _warn_of_problems(found.problems, warn)
    return _whose(memory.place.value for memory in found.memories)


def _permissions(loaded: LoadedSettings, warn: Warn) -> str:
    rules = SessionRules(loaded.settings, logging.getLogger(__name__)).rules
    kept = sum(rule.scope is RuleScope.ALWAYS for rule in rules)
    file = loaded.settings.permissions_file
    parts = []
    if given := len(rules) - kept:
        origins = ", ".join(loaded.origins[name] for name in ADDED_UP if getattr(loaded.settings, name))
        parts.append(f"{given} from the settings ({origins})")
    if kept:
        parts.append(f"{kept} permanent in {file}")
    for rule in rules:
        if rule.meaning != rule.text:
            parts.append(f"{rule.verdict} {rule.text} means {rule.meaning}")
    return ", ".join(parts) or f"none; permanent ones are stored in {file}"


def _hooks(loaded: LoadedSettings, warn: Warn) -> str:
    hooks = loaded.settings.hooks
    require_tools_of_hooks(hooks)
    points = Counter(hook.point.value for hook in hooks)
    points_text = ", ".join(f"{number} {point}" for point, number in points.items())
    return f"{len(hooks)} ({points_text}), from {loaded.origins['hooks']}" if hooks else "none"


def _servers(loaded: LoadedSettings, warn: Warn) -> str:
    if not loaded.settings.mcp:
        return OFF
    from harness.cli.mcp import servers_text

    for problem in mcp_config(loaded.settings).problems:
        warn(visible(problem))
    return servers_text(loaded.settings)


def _trust(loaded: LoadedSettings, warn: Warn) -> str:
    if not loaded.claims:
        return "its files set nothing that needs your trust"
    claims = ", ".join(visible(claim.origin) for claim in loaded.claims)
    match loaded.trust:
        case True:
            return f"trusted to set {claims}"
        case False:
            return f"not trusted; ignored: {claims}"
        case None:
            return f"you will be asked at the next start; ignored until then: {claims}"


def _admission(loaded: LoadedSettings, warn: Warn) -> str:
    settings = loaded.settings
    agents, commands = (
        admission_limits(settings, "max_concurrent").max_concurrent,
        admission_limits(settings, "max_background").max_concurrent,
    )
    running = f"{counted(agents, 'agent')} and {counted(commands, 'background command')} at a time"
    limits = f"{running}, {settings.max_queue_size} of each queued"
    if not settings.shared_admission:
        return f"{limits}; not shared between sessions (shared_admission)"
    try:
        status = slots_status(settings)
    except SlotsError as error:
        warn(f"Sessions cannot share agent slots: {visible(str(error))}")
        return f"{limits}; not shared between sessions, see below"
    running_now = sum(entry.started is not None for entry in status.entries)
    now, shared = store_clock().now(), f"{limits}; shared by all your sessions, {running_now} running now"
    for name, text in status.cells:
        for model, one in limits_of(read(text, now), max(1, agents), now).items():
            shared += f"; {visible(model)} ({visible(name)}): {limit_in_words(one)}"
    return shared


def _other_files(loaded: LoadedSettings, warn: Warn) -> str:
    """Files of other programs beside those that are read: their rules do not apply."""
    names = (".claude/settings.json", ".claude/settings.local.json")
    there = [name for name in names if (loaded.settings.workspace / name).exists()]
    return f"{', '.join(there)}: not read; their permissions and hooks do not apply here" if there else "none"


_LOOKS: Mapping[str, Callable[[LoadedSettings, Warn], str]] = MappingProxyType(
    {
        "folder": _trust,
        "instructions": _instructions,
        "skills": _skills,
        "commands": _commands,
        "agents": _agents,
        "memories": _memory,
        "permissions": _permissions,
        "hooks": _hooks,
        "MCP servers": _servers,
        "admission": _admission,
        "other files": _other_files,
    }
)


def _whose(places: Iterable[str]) -> str:
    counts = Counter(places)
    words = {"person": "yours", "user": "yours", "project": "of the project"}
    return ", ".join(f"{counts[place]} {whose}" for place, whose in words.items() if counts[place]) or "none"


def _named(found: Iterable[tuple[str, DefinitionOrigin]]) -> str:
    return (
        ", ".join(visible(name) + (" (yours)" if origin is DefinitionOrigin.USER else "") for name, origin in found)
        or "none"
    )


def _warn_of_problems(problems: Iterable[DefinitionProblem | MemoryProblem], warn: Warn) -> None:
    for problem in problems:
        warn(f"{visible(str(problem.file))} {' '.join(visible(problem.text).split())}.")
