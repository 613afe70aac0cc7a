"""How the parts of one agent are put together. What each does is said where it is written."""

import logging
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.assembly import (
    capabilities_for,
    checkpoints_for,
    dispatch_limits,
    escape_policy,
    outputs_folder,
    prompt_sections,
    recovery_limits,
    tools_for,
    web_access,
    with_faults,
)
from harness.breakers.board import Board
from harness.breakers.capabilities import CapabilityMap
from harness.clock import Clock
from harness.conversation import Conversation
from harness.crew import Crew
from harness.escape.observations import Poll
from harness.escape.orchestrator import Orchestrator
from harness.events import PromptListsRead
from harness.executor.asker import Asker
from harness.executor.attachments import Attachments
from harness.executor.behaviour import Behaviour
from harness.executor.carrying import Executor
from harness.executor.cost_budget import BudgetNotices, require_prices
from harness.executor.dispatching import Dispatching
from harness.executor.escape_fold import EscapeFold
from harness.executor.escaping import Escaping
from harness.executor.hook_runs import HookRuns
from harness.executor.hooking import Hooking
from harness.executor.kept_files import KeptFiles
from harness.executor.labels import Labels
from harness.executor.model_calls import ModelCalls
from harness.executor.own_commands import OwnCommands
from harness.executor.plan_reminder import PlanReminder
from harness.executor.questions import UserQuestions
from harness.executor.remembering import Remembering
from harness.executor.rewinding import Rewinding
from harness.executor.rollbacks import Rollbacks
from harness.executor.shortening import Shortening
from harness.executor.tool_calls import ToolCalls
from harness.executor.turn_taking import TurnTaking
from harness.executor.waiting import Signals
from harness.experience_file import experience_file
from harness.hooks import Hook
from harness.memory import RECALL, REMEMBER
from harness.model.digest import digest_of
from harness.model.prompt import Section, system_blocks
from harness.policies import Policies
from harness.processes import Processes
from harness.recovery import RecoveryLimits
from harness.settings import Settings
from harness.sharing import Shared
from harness.skills import SKILL, catalogue_text
from harness.tools.ask_user import ask_user_tool
from harness.tools.planning import TODO_WRITE
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox, joined, kept_of


@dataclass(frozen=True, slots=True)
class Parts:
    """What an agent works with. All of them share one conversation."""

    limits: RecoveryLimits
    signals: Signals
    turns: TurnTaking
    shared: Shared
    crew: Crew | None
    """Who works for this agent; None: it works for another one."""
    toolbox: Toolbox
    lists: PromptListsRead
    """What the system prompt lists."""
    sections: tuple[Section, ...]
    """Of the system prompt."""
    calls: ModelCalls
    dispatching: Dispatching
    labels: Labels
    tools: ToolCalls
    hooking: Hooking
    attachments: Attachments
    own_commands: OwnCommands
    executor: Executor
    escaping: Escaping
    rollbacks: Rollbacks
    rewinding: Rewinding
    remembering: Remembering
    plan_reminder: PlanReminder
    processes: Processes
    outputs: Path
    """Folder for results too long for the history."""


def wired(
    settings: Settings,
    conversation: Conversation,
    asker: Asker,
    clock: Clock,
    log: logging.Logger,
    *,
    tools: Sequence[Tool],
    standard: Collection[str] | None,
    policies: Policies,
    outputs: Path | None,
    reread: Callable[[], Settings] | None,
    hooks: Sequence[Hook],
    shared: Shared | None,
    crew: Callable[[Shared, Path], Crew],
    capabilities: CapabilityMap | None = None,
    role: str = "",
) -> Parts:
    """The parts of an agent with these settings; what may be None is as for `Agent`.

    `shared` is that of the agent it works for, if it does; `crew` makes those who work for it, if it does not.
    `capabilities` are those of the agent it works for, `role` is what the file of its kind of agent says.
    Raises SettingsError when a setting cannot be used, ValueError for tools that do not go together.
    """
    outputs = outputs or outputs_folder(settings)
    hired = shared is not None
    limits = recovery_limits(settings, interactive=asker.present, given=policies.recovery, hired=hired)
    signals = Signals()
    turns = TurnTaking(conversation)
    shared = shared or Shared.made(settings, asker, log, reread, session=outputs.stem, emit=conversation.emit)
    _require_prices(settings, limits, shared, hired=hired)
    connection, processes = shared.connection, shared.processes
    if not hired:
        asker = shared.asker
    company = None if hired else crew(shared, outputs)
    ours = tools_for(settings, None, shared.skills, shared.memory) if company is None else company.tools()
    if settings.ask_user != "off":
        ours = (*ours, ask_user_tool(UserQuestions(conversation, asker, settings.ask_user)))
    every = joined(kept_of(ours, standard, strict=not hired), tools)
    toolbox = Toolbox(shared.tool_orders.applied(with_faults(every, settings)))
    web = web_access(settings, standard if hired else None)
    sent = (*toolbox.specs(), *web.tools(newest=shared.catalogue.knows(settings.model)))
    lists = _lists(conversation, shared, toolbox, digest_of(sent))
    sections = prompt_sections(
        settings, hired=hired, instructions=shared.instructions, skills=lists.skills, memory=lists.memory, role=role
    )
    calls = ModelCalls(
        lambda: connection.client,
        conversation,
        shared.catalogue,
        shared.counter,
        clock,
        system=system_blocks(sections, settings.cache_ttl),
        tools=toolbox.specs(),
        endpoints=shared.endpoints,
        retries=shared.retries,
        effort=settings.effort,
        web=lambda: web_access(settings, standard if hired else None, tool_calls.only),
    )
    numbers = policies.breakers or dispatch_limits(settings)
    board = Board(toolbox.names, capabilities_for(settings, toolbox, capabilities), numbers)
    dispatching = Dispatching(board, conversation, clock, attended=asker.present)
    labels = Labels(strict=settings.strict_freshness)
    hooking = Hooking(
        hooks,
        HookRuns(processes, settings.workspace),
        conversation,
        signals,
        limits,
        workspace=str(settings.workspace),
        agent=outputs.name if hired else "",
    )
    tool_calls = ToolCalls(
        toolbox,
        shared.granting.permissions,
        asker,
        conversation,
        dispatching,
        labels,
        hooking,
        clock,
        workspace=settings.workspace,
        outputs=outputs,
        processes=processes,
        count_errors=settings.count_errors,
        timeout_s=settings.tool_timeout_s,
        log=log,
        remember=shared.granting.remember,
    )
    attachments = Attachments(tool_calls, conversation, settings.workspace)
    own_commands = OwnCommands(
        conversation,
        signals,
        workspace=settings.workspace,
        outputs=outputs,
        processes=processes,
        time_s=settings.bash_timeout_s,
        result_characters=settings.result_characters,
    )
    shortening = Shortening(
        calls, conversation, toolbox, clock, workspace=settings.workspace, outputs=outputs, processes=processes
    )
    executor = Executor(
        conversation, connection, calls, shortening, hooking, asker, limits, clock, signals, model=settings.model
    )
    checkpoints = checkpoints_for(settings, outputs, log, processes) if asker.present else None
    kept = KeptFiles(toolbox.get)
    conversation.observe(kept.see)
    if limits.max_cost_usd is not None:
        conversation.observe(BudgetNotices(conversation, limits.max_cost_usd).see)
    rollbacks = Rollbacks(conversation, kept, checkpoints)
    rewinding = Rewinding(conversation, turns, kept, checkpoints, asker, signals, calls.forget_sizes)
    policy = policies.loops or escape_policy(settings)
    remembering = Remembering(conversation, experience_file(settings))
    orchestrator = Orchestrator(policy, remembering.preferences)
    escaping = Escaping(
        EscapeFold(orchestrator, Behaviour(toolbox.get, Poll(policy.poll_every_s, policy.poll_total_s))),
        rollbacks,
        *(tool_calls, conversation, dispatching, asker, clock, signals, calls),
        chance=random.random,
    )
    plan_reminder = PlanReminder(conversation, settings.plan_reminder if toolbox.get(TODO_WRITE) else 0)
    return Parts(
        limits=limits,
        signals=signals,
        turns=turns,
        shared=shared,
        crew=company,
        toolbox=toolbox,
        lists=lists,
        sections=sections,
        calls=calls,
        dispatching=dispatching,
        labels=labels,
        tools=tool_calls,
        hooking=hooking,
        attachments=attachments,
        own_commands=own_commands,
        executor=executor,
        escaping=escaping,
        rollbacks=rollbacks,
        rewinding=rewinding,
        remembering=remembering,
        plan_reminder=plan_reminder,
        processes=processes,
        outputs=outputs,
    )


def _lists(conversation: Conversation, shared: Shared, toolbox: Toolbox, tools_digest: str) -> PromptListsRead:
    """What the system prompt lists: as it was where the conversation goes on with the same tools, else as it is now."""
    before, asked = conversation.lists, conversation.asked
    if before is not None and (asked is None or asked.tools_digest == tools_digest):
        shared.memory.resume(before.memories)
        return before
    return PromptListsRead(
        catalogue_text(shared.skills.skills) if toolbox.get(SKILL) else "",
        shared.memory.index(keeps=toolbox.get(REMEMBER) is not None) if toolbox.get(RECALL) else "",
        shared.memory.at_first,
    )


def _require_prices(settings: Settings, limits: RecoveryLimits, shared: Shared, *, hired: bool) -> None:
    models = (settings.model, *settings.fallback_models)
    if limits.max_cost_usd is not None:
        require_prices(models, shared.catalogue.price, "agent_budget_usd" if hired else "max_budget_usd")
    elif settings.agent_budget_usd is not None:
        require_prices(models, shared.catalogue.price, "agent_budget_usd")
