"""How the parts of one agent are put together. What each does is said where it is written."""

import logging
import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import Clock
from harness.engine.compaction.compactor import Shortening
from harness.engine.config import (
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
from harness.engine.conversation import Conversation
from harness.engine.decision_runner import Executor
from harness.engine.hooks.hooks import Hooking
from harness.engine.hooks.runner import HookRuns
from harness.engine.loops.behaviour import Behaviour
from harness.engine.loops.event_fold import EscapeFold
from harness.engine.loops.experience import Remembering
from harness.engine.loops.runner import Escaping
from harness.engine.model.calls import ModelCalls
from harness.engine.model.cost_budget import BudgetNotices, require_prices
from harness.engine.permissions.asker import Asker
from harness.engine.permissions.questions import UserQuestions
from harness.engine.policy_set import Policies
from harness.engine.rewind.kept_files import KeptFiles
from harness.engine.rewind.rewind import Rewinding
from harness.engine.rewind.rollback import Rollbacks
from harness.engine.shared import Shared
from harness.engine.signals import Signals
from harness.engine.subagents.team import Crew
from harness.engine.tools.attachments import Attachments
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import Dispatching
from harness.engine.tools.freshness import Labels
from harness.engine.tools.plan_reminder import PlanReminder
from harness.engine.tools.user_commands import OwnCommands
from harness.engine.turn_queue import TurnTaking
from harness.events import PromptListsRead
from harness.hooks import Hook
from harness.memory import RECALL, REMEMBER
from harness.model.digest import digest_of
from harness.model.prompt import Section, system_blocks
from harness.policies.breakers.board import Board
from harness.policies.breakers.capabilities import CapabilityMap
from harness.policies.loops.observations import Poll
from harness.policies.loops.orchestrator import Orchestrator
from harness.policies.recovery import RecoveryLimits
from harness.processes import Processes
from harness.settings import Settings
from harness.settings.loop_experience_file import experience_file
from harness.skills import SKILL, catalogue_text
from harness.tools.ask_user import ask_user_tool
from harness.tools.todo_write import TODO_WRITE
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
