"""The parts of an agent, made one after another, and the list of who receives its events.

`build_parts` is the order of construction. Each step takes the core and the parts that it needs, and nothing is
connected afterwards.
"""

import logging
import os
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.base.clock import SystemClock
from harness.checkpoints import CheckpointLimits, Checkpoints
from harness.engine.background.commands import BackgroundCommands
from harness.engine.build.from_settings import (
    admission_limits,
    capabilities_for,
    command_limits,
    dispatch_limits,
    loop_limits,
    outputs_folder,
    prompt_sections,
    recovery_limits,
    require_tools_of_hooks,
    secrets_of,
    tools_for,
    tools_of_board,
    with_faults,
)
from harness.engine.build.options import AgentOptions, Policies
from harness.engine.build.shared import shared_parts
from harness.engine.compaction.compactor import Compactor
from harness.engine.connection import PracticeFaults
from harness.engine.conversation import Conversation, TurnLock, ignore
from harness.engine.core import AgentCore, ModelChoice, SharedParts, Signals, ToolRestriction, web_access
from harness.engine.decision_runner import DecisionRunner
from harness.engine.hooks import HookRunner
from harness.engine.inbox import Inbox
from harness.engine.instruction_files import read_instructions
from harness.engine.loops.event_fold import BehaviourFold, LoopFold
from harness.engine.loops.runner import LoopRunner, veto
from harness.engine.model.calls import ModelCalls
from harness.engine.model.chosen_model import ModelSelection
from harness.engine.model.cost_budget import BudgetNotices, require_prices
from harness.engine.parts import AgentParts, Parent
from harness.engine.permissions.asker import NoAsker, QuestionHandler
from harness.engine.plan_mode import PlanMode
from harness.engine.rewind.rollback import CheckpointFold, Rollbacks
from harness.engine.steering import SteeringInbox
from harness.engine.subagents.background_work import BackgroundWork
from harness.engine.subagents.factory import ParentAgent, SubagentFactory
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.reports import Subagent, SubagentSpec
from harness.engine.subagents.subagents import Subagents
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.folder_instructions import FolderInstructions
from harness.engine.tools.plan_reminder import PlanReminder
from harness.engine.turn_lifecycle import skill_changes
from harness.events import AdmissionPool, ArrivalKind, Event, Json, PromptListsRead
from harness.hooks import Hook
from harness.journal import slug_of_tree, state_folder, workspace_slug
from harness.memory import RECALL, REMEMBER, keeping_tools
from harness.model.prompt import PromptSection, digest_of, system_blocks
from harness.policies.admission.controller import AdmissionController
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import Poll
from harness.settings import Settings
from harness.skills import SKILL, catalogue_text
from harness.tools.agent import agent_tool
from harness.tools.ask_user import ASK_USER, ask_user_tool
from harness.tools.propose_plan import propose_plan_tool
from harness.tools.todo_write import TODO_WRITE
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox, joined, kept_of

if TYPE_CHECKING:
    from harness.engine.mcp import McpTools
    from harness.tasks.work import TaskWork


def build_parts(agent: ParentAgent, settings: Settings, options: AgentOptions, parent: Parent | None) -> AgentParts:
    """The parts of `agent`; `parent`: it is a subagent. Raises what `harness.agent.Agent` raises."""
    options = options.checked()
    core = core_of(settings, options, parent)
    names = _names_for_subagents(core, options)
    background = None if core.is_subagent else background_of(core, SubagentFactory(agent).create, names)
    ongoing = background.ongoing if background else None
    hooks = _hooks(core, options, parent, ongoing)
    board = _board(core, parent, hooks, background)
    plan_mode = PlanMode(core)
    mcp = _mcp(core)
    toolbox = Toolbox(_tools(core, options, background, board, plan_mode, mcp), mcp)
    lists, sections = _prompt(core, options, parent, toolbox)
    attached: dict[str, str] = {}

    monitor = LoopMonitor(core.policies.loops or loop_limits(core.settings))
    system = system_blocks(sections, core.settings.cache_ttl)
    calls = ModelCalls(core, system, toolbox.specs(), answer_format=options.answer_format, monitor=monitor)
    models = ModelSelection(core, calls)
    breakers = ToolDispatcher(core, _registry(core, parent, toolbox), toolbox)
    tools = ToolCalls(
        core, toolbox, breakers, hooks, lambda call, tool: plan_mode.veto(call, tool) or veto(monitor, breakers, call)
    )
    compactor = partial(Compactor, core, calls, toolbox, board.open_tasks if board else None, ongoing)
    decisions = DecisionRunner(core, calls, models, hooks, compactor)

    checkpoints, checkpoint_fold = _checkpoints(core), CheckpointFold(toolbox.get)
    rollbacks = Rollbacks(core.conversation, checkpoint_fold, checkpoints)
    poll = Poll(monitor.policy.poll_every_s, monitor.policy.poll_total_s)
    loop_fold = LoopFold(monitor, BehaviourFold(toolbox.get, poll))
    parts = AgentParts(
        core=core,
        background=background,
        steering=None if core.is_subagent else SteeringInbox(core.conversation.emit, core.signals),
        hooks=hooks,
        board=board,
        mcp=mcp,
        toolbox=toolbox,
        lists=lists,
        sections=sections,
        attached=attached,
        calls=calls,
        models=models,
        breakers=breakers,
        tools=tools,
        decisions=decisions,
        checkpoints=checkpoints,
        checkpoint_fold=checkpoint_fold,
        rollbacks=rollbacks,
        loops=LoopRunner(core, loop_fold, rollbacks, tools, breakers, chance=random.random),
        plan_reminder=PlanReminder(core.conversation, core.settings.plan_reminder if toolbox.get(TODO_WRITE) else 0),
        plan_mode=plan_mode,
        folder_instructions=FolderInstructions(core.settings, core.conversation, core.shared.instructions),
        faults=PracticeFaults(core.shared.connection, core.shared.tool_faults, toolbox, core.conversation.emit),
    )
    if changes := skill_changes(parts):
        attached["skills"] = changes
    for subscriber in _subscribers(parts):
        core.conversation.subscribe(subscriber)
    return parts


def _subscribers(parts: AgentParts) -> Iterator[Callable[[Event], None]]:
    """Who receives the events, in this order."""
    core = parts.core
    if parts.background is not None:
        # A reply that asks for subagents is counted before the first of them is admitted.
        yield parts.background.fan_out.on_event
        # What the model has taken of the schedule is marked; nothing depends on it.
        yield parts.background.on_event
    # Breakers move before anyone else looks at them; what they emit follows the event that moved them.
    yield parts.breakers.on_event
    if parts.hooks is not None:
        # Notification hooks start as soon as a question is open, before anything else follows from it.
        yield parts.hooks.on_event
    # Checkpoints and what tools did since; `rollbacks` reads it, so it comes before that.
    yield parts.checkpoint_fold.on_event
    if core.limits.max_cost_usd is not None:
        # Reports 50, 80 and 100 % of the cost budget right behind the spend that reached them.
        yield BudgetNotices(core.conversation, core.limits.max_cost_usd).on_event
    # The places that a rollback can go to; `loops` asks for one.
    yield parts.rollbacks.on_event
    # Emits loops that it finds, so it comes behind all that the event has changed.
    yield parts.loops.on_event
    # Counts steps since the plan was written; nothing depends on it.
    yield parts.plan_reminder.on_event
    if core.seat is not None:
        # What shows that a task is done; nothing depends on it before the next call.
        yield core.seat.on_event


# ── steps ───────────────────────────────────────────────────────────────────────────────────────────


def core_of(settings: Settings, options: AgentOptions, begun_by: Parent | None = None) -> AgentCore:
    """What the parts work with; `begun_by`: the agent is a subagent.

    The options are checked (`AgentOptions.checked`). Raises SettingsError.
    """
    parent = begun_by.parts.core if begun_by else None
    conversation = options.conversation or Conversation(ignore)
    conversation.masking.learn(secrets_of(settings, os.environ))
    asker = options.asker or NoAsker()
    if parent is None:
        require_tools_of_hooks((*settings.hooks, *options.hooks), [tool.name for tool in options.tools])
    policies = parent.policies if parent else options.policies or Policies()
    outputs = options.outputs or outputs_folder(settings)
    log = options.log or (parent.log if parent else logging.getLogger("harness"))
    limits = recovery_limits(
        settings, interactive=asker.present, given=policies.recovery, is_subagent=parent is not None
    )
    if parent is None:
        shared = shared_parts(settings, options, conversation, asker, log, session=outputs.stem)
    else:
        shared = _shared_in(settings, parent)
    core = AgentCore(
        settings=settings,
        conversation=conversation,
        shared=shared,
        parent=parent,
        asker=asker if parent else shared.asker,
        clock=options.clock or (parent.clock if parent else SystemClock()),
        log=log,
        policies=policies,
        limits=limits,
        choice=ModelChoice(settings.model, settings.effort),
        signals=Signals(),
        turns=TurnLock(conversation),
        restriction=ToolRestriction(),
        standard=options.standard if parent else None,
        own_tools=tuple(options.tools),
        outputs=outputs,
        agents_folder=options.agents,
        seat=begun_by.seat if begun_by else None,
    )
    _require_prices(core)
    return core


def _shared_in(settings: Settings, parent: AgentCore) -> SharedParts:
    """What a subagent shares with its parent. In another working tree it has the instruction files there, and its
    calls are decided by the rules of the session."""
    shared = parent.shared
    if settings.workspace == parent.settings.workspace:
        return shared
    shared.rules.add_tree(settings.workspace)
    return replace(shared, instructions=read_instructions(settings, shared.notices.append))


def _require_prices(core: AgentCore) -> None:
    settings, price = core.settings, core.shared.catalogue.price
    models = (settings.model, *settings.fallback_models)
    if core.limits.max_cost_usd is not None:
        require_prices(models, price, "subagent_budget_usd" if core.is_subagent else "max_budget_usd")
    elif settings.subagent_budget_usd is not None:
        require_prices(models, price, "subagent_budget_usd")


def _hooks(
    core: AgentCore,
    options: AgentOptions,
    parent: Parent | None,
    ongoing: Callable[[], Awaitable[tuple[Json, ...]]] | None,
) -> HookRunner | None:
    """The hooks of the session; None: there are none."""
    if parent is None:
        hooks: tuple[Hook, ...] = (*core.settings.hooks, *options.hooks)
    else:
        hooks = parent.parts.hooks.hooks if parent.parts.hooks is not None else ()
    return HookRunner(core, hooks, ongoing) if hooks else None


def background_of(
    core: AgentCore, create: Callable[[SubagentSpec], Subagent], tools: tuple[str, ...]
) -> BackgroundWork:
    """The subagents and background commands of a session. `create` makes a subagent, which may use `tools`."""
    settings, inbox = core.settings, Inbox(core.conversation.emit)
    limits = core.policies.admission or admission_limits(settings, "max_concurrent")
    fan_out = FanOutQuestions(core)
    subagents = Subagents(core, AdmissionController(limits, AdmissionPool.AGENTS), inbox, fan_out, create, tools=tools)
    commands = BackgroundCommands(
        core,
        AdmissionController(admission_limits(settings, "max_background"), AdmissionPool.COMMANDS),
        inbox,
        command_limits(settings, core.asker),
        others=lambda: subagents.running,
    )
    return BackgroundWork(core, inbox, fan_out, subagents, commands)


def _names_for_subagents(core: AgentCore, options: AgentOptions) -> tuple[str, ...]:
    """Names of the tools that subagents may use."""
    settings, standard = core.settings, options.standard
    names = [tool.name for tool in tools_for(settings, None, core.shared.skills, core.shared.memory)]
    if core.shared.board is not None:
        from harness.tasks.tools import BOARD_TOOLS

        names += BOARD_TOOLS
    if settings.ask_user != "off":
        names.append(ASK_USER)
    if (servers := core.shared.mcp) is not None:
        from harness.mcp.tools import CALL, FIND, READ

        names += (FIND, CALL, READ, *servers.tools, *servers.keys)
    kept = (name for name in names if standard is None or name in standard)
    return (*kept, *(tool.name for tool in core.own_tools), *web_access(settings).names)


def _board(
    core: AgentCore, parent: Parent | None, hooks: HookRunner | None, background: BackgroundWork | None
) -> "TaskWork | None":
    """The work of this agent on the task board of the session; None: there is none."""
    if core.shared.board is None:
        return None
    from harness.policies.tasks.task import Actor, Role
    from harness.tasks.work import TaskWork

    # Other processes use the board as well, so its moments are those of the machine.
    refuses = hooks.refuses_task if hooks is not None else None
    if core.seat is not None and (work := core.seat.board(refuses)) is not None:
        return work
    lead = Actor(core.session, Role.LEAD, frozenset({"lead"}))
    actor = Actor(f"{core.session}/{core.id}") if core.is_subagent else lead
    wake: Callable[[str, str], None]
    if background is not None:
        wake = partial(_wake, core, background)
    else:
        assert parent is not None, "the agent of a session has its background"
        assert parent.parts.board is not None, "a subagent shares the board of its parent"
        wake = parent.parts.board.notify
    emit = (core.parent or core).conversation.emit
    return TaskWork(core.shared.board, actor, SystemClock(), emit=emit, wake=wake, refuses=refuses)


def _mcp(core: AgentCore) -> "McpTools | None":
    """The tools of MCP servers that this agent may call; None: the session has no servers."""
    if core.shared.mcp is None:
        return None
    from harness.engine.mcp import McpTools

    return McpTools(core, core.shared.mcp)


def _wake(core: AgentCore, background: BackgroundWork, actor: str, text: str) -> None:
    """Let the model of the session read that a task is ready; its subagents are led by it. What members claim is not
    its concern."""
    if actor == "lead" or (actor.partition("/")[0] == core.session and not background.members_claim):
        background.inbox.arrive(ArrivalKind.TASK_READY, "board", text)


def _tools(
    core: AgentCore,
    options: AgentOptions,
    background: BackgroundWork | None,
    board: "TaskWork | None",
    plan_mode: PlanMode,
    mcp: "McpTools | None",
) -> tuple[Tool, ...]:
    """The tools of an agent: standard tools, those of its session, and its own."""
    settings, shared = core.settings, core.shared
    commands = background.commands if background else None
    ours = [*tools_for(settings, commands, shared.skills, shared.memory)]
    if background is not None:
        ours += keeping_tools(shared.memory) if shared.memory.on else ()
        if settings.schedule and settings.schedule_tools:
            from harness.engine.schedule.tools import schedule_tools

            ours += schedule_tools(lambda: background.schedule)
        kinds = {kind.name: kind.description for kind in background.subagents.kinds.agents}
        ours.append(agent_tool(background.subagents, steps=settings.subagent_steps, kinds=kinds))
    if board is not None:
        ours += tools_of_board(board)
    if background is not None and background.has_team:
        from harness.team.tools import lead_tools

        ours += lead_tools(lambda: background.team.lead)
    if core.seat is not None:
        ours += core.seat.tools
    if settings.ask_user != "off":
        ours.append(ask_user_tool(QuestionHandler(core.conversation, core.asker, settings.ask_user)))
    if plan_mode.proposes:
        ours.append(propose_plan_tool(plan_mode))
    if mcp is not None:
        ours += mcp.reaching()
    standard = options.standard
    if mcp is not None and standard is not None and any(name.startswith("mcp__") for name in standard):
        standard = (*standard, *mcp.finding)  # its servers may be so large that no request lists their tools
    every = joined(kept_of(ours, standard, strict=not core.is_subagent), core.own_tools)
    return shared.tool_faults.applied(with_faults(every, settings))


def _prompt(
    core: AgentCore, options: AgentOptions, parent: Parent | None, toolbox: Toolbox
) -> tuple[PromptListsRead, tuple[PromptSection, ...]]:
    """What the system prompt lists, and its sections.

    A conversation that continues with the same tools keeps its lists, so that the prompt cache holds.
    """
    settings, shared, conversation = core.settings, core.shared, core.conversation
    web = core.web().tools(newest=shared.catalogue.knows(settings.model))
    lists, asked = conversation.state.lists, conversation.state.asked
    if lists is not None and (asked is None or asked.tools_digest == digest_of((*toolbox.specs(), *web))):
        shared.memory.resume(lists.memories)
    else:
        lists = PromptListsRead(
            catalogue_text(shared.skills.skills) if toolbox.get(SKILL) else "",
            shared.memory.index(keeps=toolbox.get(REMEMBER) is not None) if toolbox.get(RECALL) else "",
            shared.memory.at_first,
        )
    sections = prompt_sections(
        settings,
        is_subagent=core.is_subagent,
        instructions=shared.instructions,
        skills=lists.skills,
        memory=lists.memory,
        role=parent.role if parent else "",
    )
    return lists, sections


def _registry(core: AgentCore, parent: Parent | None, toolbox: Toolbox) -> BreakerRegistry:
    known = parent.parts.breakers.registry.capabilities if parent else None
    servers = core.shared.mcp.keys if core.shared.mcp is not None else ()
    capabilities = capabilities_for(core.settings, toolbox, known, servers)
    names = dict.fromkeys((*toolbox.breakers, *servers))
    return BreakerRegistry(names, capabilities, core.policies.breakers or dispatch_limits(core.settings))


def _checkpoints(core: AgentCore) -> Checkpoints | None:
    """What keeps the files of the workspace; None: it is switched off, or no user is present to go back. Nothing is
    written before it is used. The files that a subagent changes are kept before the call that started it."""
    wanted = core.settings.checkpoints
    if core.is_subagent or not (core.asker.present if wanted is None else wanted):
        return None
    folder, limits = core.outputs.with_suffix(".files"), CheckpointLimits(time_s=10.0)
    workspace = core.settings.workspace.resolve()
    if slug_of_tree(workspace, state_folder(core.settings.state_dir)):
        folder /= workspace_slug(workspace)  # a session may go on in another tree, whose files are others
    return Checkpoints(workspace, folder, limits=limits)
