"""Agents that files define: a prompt, the tools, the model and the effort of a subagent."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.definitions.files import (
    INHERITED,
    NAME,
    DefinitionFolder,
    DefinitionOrigin,
    DefinitionProblem,
    MarkdownFile,
    Problems,
    markdown_files,
)
from harness.definitions.tool_names import tools_named
from harness.events import Effort

KEYS = ("name", "model", "effort", "tools", "disallowedTools")
"""Read besides the description."""
TRUST = "waits for your trust in this folder; {} of the session is used"


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One kind of agent."""

    name: str
    description: str
    """One line: its purpose."""
    prompt: str
    """Added to the system prompt of every subagent."""
    model: str
    """As it is written; empty: that of the session."""
    tools: str | None
    """A list as written; None: all tools that a subagent can have."""
    refused: str
    """A list of tools that it does not get."""
    origin: DefinitionOrigin
    file: Path
    effort: Effort | None = None
    """None: that of the session."""
    given: tuple[str, ...] = ()
    """Its tools by their names here, once `usable` has looked at them."""


@dataclass(frozen=True, slots=True)
class Agents:
    """The available kinds of agents."""

    agents: tuple[AgentFile, ...]
    """By name."""
    problems: tuple[DefinitionProblem, ...]

    def get(self, name: str) -> AgentFile | None:
        """The one of this name."""
        return next((agent for agent in self.agents if agent.name == name), None)


def discover_agents(places: Iterable[DefinitionFolder], *, trusted: bool) -> Agents:
    """Read the agents of all places; of two with one name the later one is used, which is reported.

    `trusted`: the files of the project may choose models and efforts. Never raises for the content of the disk.
    """
    found: dict[str, AgentFile] = {}
    problems = Problems()
    for place in places:
        here: dict[str, AgentFile] = {}
        for file in markdown_files(place, KEYS, problems):
            agent = _agent(file, problems)
            if agent is None:
                continue
            if place.origin is DefinitionOrigin.PROJECT and not trusted:
                agent = _without_choices(agent, problems)
            if (first := here.setdefault(agent.name, agent)) is not agent:
                problems.note(agent.file, f"is left out: {first.file} is called {agent.name} as well")
        for name, agent in here.items():
            if name in found and found[name].file.resolve() != agent.file.resolve():
                problems.note(found[name].file, f"is hidden by {agent.file} of the same name")
            found[name] = agent
    return Agents(tuple(found[name] for name in sorted(found)), tuple(problems))


def usable(found: Agents, available: Collection[str]) -> Agents:
    """The agents, each with its own of the `available` tools. One may end up without any, but never with more than it
    names; names of tools that are not here become problems."""
    kept: list[AgentFile] = []
    problems = Problems(found.problems)
    for agent in found.agents:
        named = None if agent.tools is None else tools_named(agent.tools, available)
        refused = tools_named(agent.refused, available)
        wanted = available if named is None else named.tools
        given = tuple(name for name in wanted if refused is not None and not _is_refused(name, refused.tools))
        absent = (*(named.absent if named else ()), *(refused.absent if refused else ()))
        if absent:
            problems.note(
                agent.file, f"names {', '.join(absent)}, which {'is' if len(absent) == 1 else 'are'} not here"
            )
        if not given:
            problems.note(agent.file, "has no tools; its subagents can only answer")
        kept.append(replace(agent, given=given))
    return Agents(tuple(kept), tuple(problems))


def _is_refused(name: str, refused: Collection[str]) -> bool:
    """It is refused itself, or stands for all tools of an MCP server of which some are."""
    return any(one == name or (name.startswith("mcp__") and one.startswith(f"{name}__")) for one in refused)


def _without_choices(agent: AgentFile, problems: Problems) -> AgentFile:
    """The agent as it is in a folder that is not trusted: what it costs is not chosen there."""
    if agent.model:
        problems.note(agent.file, f"names the model {agent.model}, which {TRUST.format('the model')}")
    if agent.effort is not None:
        problems.note(agent.file, f"names the effort {agent.effort}, which {TRUST.format('the effort')}")
    return replace(agent, model="", effort=None)


def _effort(file: MarkdownFile, problems: Problems) -> Effort | None:
    """The effort that a file names; one that there is not is left out."""
    named, line = file.parts.values.get("effort", ""), file.parts.lines.get("effort")
    if not file.effort and line is not None and named.lower() not in INHERITED:
        there = ", ".join(Effort)
        problems.note(file.path, f"line {line}: {named[:80]!r} is no effort and is left out; there are {there}")
    return file.effort or None


def _agent(file: MarkdownFile, problems: Problems) -> AgentFile | None:
    values, body = file.parts.values, file.parts.body
    problems.extend(DefinitionProblem(file.path, text) for text in file.parts.problems)
    name, description = values.get("name", ""), values.get("description", "")
    missing = "front matter" if not values else "name" if not name else "description" if not description else ""
    if missing or not body:
        why = f"it has no {missing}" if missing else "it has no prompt below its front matter"
        problems.note(file.path, f"is left out: {why}; it needs name, description and a prompt")
        return None
    for key in ("tools", "disallowedTools"):
        if (line := file.parts.lost.get(key)) is not None:  # a list that cannot be read must not mean all tools
            problems.note(file.path, f"is left out: line {line}: {key} has to be a list of names")
            return None
    if not NAME.fullmatch(name):
        problems.note(file.path, f"line 2: {name[:80]!r} is no name for an agent; that of its file is taken")
        name = file.relative.name
    if not NAME.fullmatch(name):
        problems.note(file.path, "is left out: it has no name of letters, digits, - _ . and at most 64")
        return None
    tools, refused = values.get("tools"), values.get("disallowedTools", "")
    effort = _effort(file, problems)
    return AgentFile(name, description, body, file.model, tools, refused, file.place.origin, file.path, effort)
