"""From settings to the parts they configure."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote, urlsplit

from harness.base.arguments import check_types
from harness.base.clock import Clock
from harness.base.errors import HarnessError, SettingsError
from harness.base.secrets import Secret, secrets_in
from harness.definitions import Agents, Commands, definition_folders, discover_agents, discover_commands
from harness.engine.background.background_command import CommandLimits
from harness.engine.build.options import AgentOptions
from harness.engine.permissions.asker import Asker, NoAsker
from harness.engine.store_places import named_board, project_board_place, session_board_place, store_clock
from harness.events import CascadeMode, DispatchLimits
from harness.events.tool_names import nearest_tool
from harness.hooks import Hook
from harness.hooks.definition import unknown_tools
from harness.journal import new_session_id, session_folder
from harness.mcp.config import FOLDER_FILE, USER_FILE, McpConfig, from_file, joined, of_folder
from harness.memory import MemoryBook, MemoryOwner, MemoryStore, recall_tool
from harness.model import platforms
from harness.model.catalogue import Catalogue
from harness.model.endpoint import Platform
from harness.model.prompt import FURTHER_FOLDERS, Instructions, PromptSection, instruction_text, standard_sections
from harness.model.watchdog import WatchLimits
from harness.policies.admission.controller import AdmissionLimits
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.loops.limits import LoopLimits
from harness.policies.recovery import RecoveryLimits
from harness.policies.recovery.compaction import CompactAt
from harness.settings import Settings, load
from harness.settings.capability_files import capability_files, load_capabilities, within
from harness.skills import SkillBook, skill_tool
from harness.slots.store import this_process
from harness.tools.background_commands import BackgroundRunner
from harness.tools.bash import SECRETS
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox, standard_tools

if TYPE_CHECKING:
    from harness.processes.memory_groups import MemoryGroups
    from harness.tasks import TaskBoard
    from harness.tasks.work import TaskWork

_HEADERS = ("ANTHROPIC_CUSTOM_HEADERS", "HARNESS_HEADERS")
_SECRET_HEADER = re.compile(r"(?i)auth|key|token|secret|cookie|password")
MEMORY = "memory"
"""Name of folders with memories: in the user folder, and beside the sessions of a project."""


def settings_here(overrides: Mapping[str, object]) -> Settings:
    """The settings of this process and folder, with `overrides` in the place of flags. Raises SettingsError."""
    return load(overrides, os.environ, keywords=True).require_answer().settings


def chosen(
    settings: Settings | None, options: AgentOptions | None, by_name: Mapping[str, object]
) -> tuple[Settings, AgentOptions]:
    """Settings and options of an agent, whether they are given whole or by name. Raises SettingsError and TypeError."""
    check_types({"settings": (settings, Settings, "settings as `harness.settings.load(…).settings` holds them")})
    options, overrides = (options or AgentOptions()).changed(by_name)
    if settings is not None and overrides:
        raise TypeError(f"Agent takes settings= or single settings such as {next(iter(overrides))}=, not both.")
    if settings is not None:
        return settings, options
    return settings_here(overrides), replace(options, reread=options.reread or partial(settings_here, overrides))


def secrets_of(settings: Settings, environ: Mapping[str, str]) -> tuple[Secret, ...]:
    """The keys that this program knows, whichever of them it uses.

    Those of the settings and of the variables that it or a platform reads keys from, the values of headers whose names
    promise a secret, the password of the address, and what the environment holds (`secrets_in`).
    """
    values = [environ.get(name, "").strip() for name in (*SECRETS, *platforms.SECRETS) if name not in _HEADERS]
    lines = [line.partition(":") for name in _HEADERS for line in environ.get(name, "").splitlines()]
    headers = [(name, value.strip()) for name, _, value in lines]
    headers += [(header.name, header.value.reveal()) for header in settings.headers]
    for name, value in headers:
        if _SECRET_HEADER.search(name):
            values += (value, value.rpartition(" ")[2])  # also without "Bearer"
    values.append(_password(settings.base_url or ""))
    given = filter(None, (settings.api_key, settings.auth_token))
    return (*given, *map(Secret, filter(None, values)), *secrets_in(environ))


def retirements(settings: Settings, clock: Clock) -> tuple[str, ...]:
    """A sentence for each model of the settings that is known to end soon or to have ended.

    Platforms end models at dates of their own, and the practice model never ends.
    """
    if settings.practice or settings.endpoint is not Platform.ANTHROPIC:
        return ()
    catalogue = Catalogue()
    found = (catalogue.warning(model, clock.now()) for model in (settings.model, *settings.fallback_models))
    return tuple(filter(None, found))


def _password(address: str) -> str:
    try:
        return unquote(urlsplit(address).password or "")
    except ValueError:
        return ""


def recovery_limits(
    settings: Settings, *, interactive: bool, given: RecoveryLimits | None = None, is_subagent: bool = False
) -> RecoveryLimits:
    """The numbers of the recovery policy.

    Args:
        interactive: a user can be asked.
        given: numbers that a program handed in; they replace those of the settings.
        is_subagent: for a subagent, whose limits of steps and money are always those of the settings.
    """
    if given is not None:
        own = replace(given, interactive=interactive)
        if not is_subagent:
            return own
        return replace(own, token_budget=None, max_steps=settings.max_steps, max_cost_usd=settings.max_budget_usd)
    return RecoveryLimits(
        retries_per_request=settings.max_retries,
        retries_per_turn=settings.turn_retries,
        waiting_per_turn_s=settings.turn_wait_s,
        long_wait_s=settings.long_wait_s,
        max_wait_s=settings.max_wait_s,
        interactive=interactive,
        overloads_before_switch=settings.overloads_before_switch,
        default_cap=settings.default_cap,
        raised_cap=settings.raised_cap,
        user_cap=settings.max_tokens,
        continuations=settings.continuations,
        compaction=settings.auto_compact,
        compact_at=compact_at(settings),
        token_budget=settings.token_budget,
        max_steps=settings.max_steps,
        max_cost_usd=settings.max_budget_usd,
    )


def compact_at(settings: Settings) -> CompactAt:
    """The size at which a history is shortened, of "60%" or a number of tokens."""
    match settings.compact_at:
        case str(percent):
            return CompactAt(share=int(percent.removesuffix("%")) / 100)
        case tokens:
            return CompactAt(tokens=tokens)


def dispatch_limits(settings: Settings) -> DispatchLimits:
    """The numbers of the breakers, the failure budget and the cascades."""
    return DispatchLimits(
        threshold=settings.failure_threshold,
        budget=settings.failure_budget,
        probe_distance=settings.probe_distance,
        lease=settings.probe_lease,
        window=settings.cascade_window,
        cascade=CascadeMode(settings.cascade_probes),
    )


def admission_limits(settings: Settings, most: Literal["max_concurrent", "max_background"]) -> AdmissionLimits:
    """How many agents or background commands may work and wait; `most` is the setting that bounds them.

    Raises SettingsError, one sentence.
    """
    try:
        return AdmissionLimits(max_concurrent=getattr(settings, most), max_queue_size=settings.max_queue_size)
    except ValueError as error:
        raise SettingsError(f"Cannot use {most} or max_queue_size: {error}.") from error


def command_limits(settings: Settings, asker: Asker) -> CommandLimits:
    """Limits of shell commands. What continues in the background at its time limit must be able to report its end."""
    waits = isinstance(asker, NoAsker) and asker.waits_for_work and settings.background_wait_s > 0
    continues = settings.background_at_limit
    if continues is None:
        continues = asker.present or waits
    return CommandLimits(time_s=settings.background_timeout_s, continues=continues, ends_hanging=not asker.present)


def memory_limit(settings: Settings, report: Callable[[str], None]) -> "MemoryGroups | None":
    """What limits the memory of commands; None: nothing, and it is reported where the settings ask for it."""
    if settings.bash_memory is None:
        return None
    from harness.processes.memory_groups import memory_groups

    try:
        return memory_groups(settings.bash_memory)
    except HarnessError as error:
        report(f"Commands have no memory limit, so bash_memory has no effect: {error}.")
        return None


def loop_limits(settings: Settings) -> LoopLimits:
    """The numbers of loop detection and interventions. Raises SettingsError, one sentence."""
    try:
        changes = numbers_in(settings.loop_limits or "")
        policy = LoopLimits().with_changes(**changes) if changes else LoopLimits()
    except ValueError as error:
        raise SettingsError(f"Cannot use loop_limits = {settings.loop_limits!r}: {error}.") from error
    return replace(policy, enabled=settings.loop_intervention)


def numbers_in(text: str) -> dict[str, object]:
    """`copies=5 nudges=2` as names and values. Raises ValueError, a clause, for any other form."""
    found: dict[str, object] = {}
    for part in text.replace(",", " ").split():
        name, sign, value = part.partition("=")
        if not sign or not value:
            raise ValueError(f"{part!r} is not understood; write a name and a number, such as copies=5")
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value
    return found


def capabilities_for(
    settings: Settings, toolbox: Toolbox, known: CapabilityMap | None = None, servers: Iterable[str] = ()
) -> CapabilityMap:
    """What each tool provides and what can take its place, by the shipped, user and project files.

    `known` is what an agent with all of these tools has read already; `servers` are the keys of MCP servers.
    Raises SettingsError, with file and line, for an entry that cannot be used.
    """
    names = tuple(dict.fromkeys((*toolbox.breakers, *servers)))
    if known is not None and all(map(known.get, names)):
        return within(known, names)
    tools = {name: toolbox.get(name) for name in names}
    described = {name: tool.description if tool else "the tools of an MCP server" for name, tool in tools.items()}
    return load_capabilities(*capability_files(settings.workspace), names, also=described)


def watch_limits(settings: Settings) -> WatchLimits:
    """The numbers of the watchdog."""
    return WatchLimits(**{field.name: getattr(settings, f"watch_{field.name}") for field in fields(WatchLimits)})


def require_tools_of_hooks(hooks: Iterable[Hook], own_tools: Collection[str] = ()) -> None:
    """Raises SettingsError for a hook whose `tools` match none, since it would guard nothing."""
    for hook in hooks:
        if unknown := unknown_tools(hook.tools, own_tools):
            near = nearest_tool(unknown[0], own_tools)
            raise SettingsError(f"Cannot use the hook {hook.name}: there is no tool {unknown[0]!r}; {near}.")


def outputs_folder(settings: Settings) -> Path:
    """Where long outputs of one agent go when no session is kept; no two agents share it."""
    return session_folder(settings.workspace, settings.state_dir) / "unsaved" / f"{new_session_id()}.outputs"


def prompt_sections(
    settings: Settings,
    *,
    is_subagent: bool = False,
    instructions: Sequence[Instructions] = (),
    skills: str = "",
    memory: str = "",
    role: str = "",
) -> tuple[PromptSection, ...]:
    """The parts of the system prompt, which stay the same for the whole session.

    Args:
        is_subagent: for a subagent.
        instructions: the instruction files as read at the start.
        skills: the catalogue of skills.
        memory: the index of memories.
        role: text of the kind of subagent.
    """
    made = standard_sections(
        settings.workspace,
        sys.platform,
        instructions=instruction_text(instructions),
        skills=skills,
        memory=memory,
        subagent=is_subagent,
    )
    folders = ", ".join(str(folder.resolve()) for folder in settings.add_dirs)
    further = FURTHER_FOLDERS.format(folders) if folders else ""
    last = {"folders": further, "role": role, "appended": settings.append_system_prompt or ""}
    return (*made, *(PromptSection(name, text) for name, text in last.items() if text))


def skills_for(settings: Settings) -> SkillBook:
    """The skills of user and project; none where the setting is off."""
    if not settings.skills:
        return SkillBook(())
    return SkillBook(definition_folders("skills", settings.workspace, settings.user_dir, settings.home_dir))


def commands_for(settings: Settings) -> Commands:
    """The slash commands that files define. Those of a folder choose models only where the user trusts it."""
    found = definition_folders("commands", settings.workspace, settings.user_dir, settings.home_dir)
    return discover_commands(found, trusted=settings.trust_folder is True)


def agents_for(settings: Settings) -> Agents:
    """The kinds of agents that files define; the same holds for their models."""
    found = definition_folders("agents", settings.workspace, settings.user_dir, settings.home_dir)
    return discover_agents(found, trusted=settings.trust_folder is True)


def memory_for(settings: Settings, session: str) -> MemoryBook:
    """The memories of user and project; none where the setting is off. `session` is the author of new ones."""
    folders: dict[MemoryOwner, Path] = {}
    if settings.memory and settings.user_dir is not None:
        folders[MemoryOwner.PERSON] = settings.user_dir / MEMORY
    if settings.memory:
        folders[MemoryOwner.PROJECT] = session_folder(settings.workspace, settings.state_dir) / MEMORY
    secrets = (settings.api_key, settings.auth_token)
    return MemoryBook(MemoryStore(folders, session=session, now=time.time, secrets=secrets))


def mcp_config(settings: Settings) -> McpConfig:
    """The MCP servers of the command line, of the settings, of the user's file, and of the folder where the user trusts
    it."""
    if not settings.mcp:
        return McpConfig()
    if settings.strict_mcp_config:
        return settings.mcp_config
    places = [settings.mcp_config, settings.mcp_servers]
    if settings.user_dir is not None:
        places.append(from_file(settings.user_dir / USER_FILE, own=True))
    places.append(of_folder(from_file(settings.workspace / FOLDER_FILE, own=False), settings.trust_folder))
    return joined(places)


def tools_for(
    settings: Settings,
    background: BackgroundRunner | None = None,
    skills: SkillBook | None = None,
    memories: MemoryBook | None = None,
) -> tuple[Tool, ...]:
    """The standard tools with the limits of the settings.

    Args:
        background: runs background commands.
        skills: add a tool if there were any when the session began, so that its tools stay the same.
        memories: every agent may read them.
    """
    characters = settings.result_characters
    standard = standard_tools(
        bash_timeout_s=settings.bash_timeout_s,
        result_characters=characters,
        background=background,
        workspace=settings.workspace,
    )
    skilled = (skill_tool(skills, characters),) if skills is not None and skills.at_first else ()
    recalling = (recall_tool(memories, characters),) if memories is not None and memories.on else ()
    return (*standard, *skilled, *recalling)


def board_for(settings: Settings, known: str, session: str, report: Callable[[str], None]) -> "TaskBoard | None":
    """The task board of a session: the one that its journal names, else that of the settings; None: none is in use.

    `report` takes sentences for the user, on another thread.
    """
    if not known and settings.board == "off":
        return None
    from harness.tasks import TaskBoard

    if known:
        place = named_board(settings, known)
    elif settings.board == "session":
        place = session_board_place(settings, session)
    else:
        place = project_board_place(settings, settings.board)
    return TaskBoard(place, this_process(session), clock=store_clock(), report=report)


def tools_of_board(work: "TaskWork") -> tuple[Tool, ...]:
    """The tools with which an agent works on a board."""
    from harness.tasks.tools import board_tools

    return board_tools(work)


def with_faults(tools: Iterable[Tool], settings: Settings) -> tuple[Tool, ...]:
    """The tools, failing as the settings ask for. Raises ScriptError or ToolFaultError, one sentence."""
    if settings.tool_faults is None:
        return tuple(tools)
    from harness.practice.faults.tool_faults import ToolFaults

    return ToolFaults.load(settings.tool_faults).applied(tools)
