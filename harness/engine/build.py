"""Settings in, wired agent out: the only place that constructs, and the list of who receives the events."""

import logging
import os
import random
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from harness.base.clock import Clock, SystemClock
from harness.definitions import usable
from harness.engine.background.command import CommandLimits
from harness.engine.background.commands import BackgroundCommands
from harness.engine.compaction.compactor import Compactor
from harness.engine.config import (
    Policies,
    admission_limits,
    agents_for,
    board_for,
    capabilities_for,
    checkpoints_for,
    command_limits,
    dispatch_limits,
    loop_limits,
    memory_for,
    memory_limit,
    outputs_folder,
    prompt_sections,
    recovery_limits,
    require_tools_of_hooks,
    schedule_for,
    secrets_of,
    settings_here,
    skills_for,
    task_work,
    tools_for,
    tools_of_board,
    tools_of_schedule,
    web_access,
    with_faults,
)
from harness.engine.connection import ModelConnection, PracticeFaults, address_of
from harness.engine.conversation import Conversation, ignore
from harness.engine.decision_runner import DecisionRunner
from harness.engine.hooks import HookRunner
from harness.engine.inbox import Inbox
from harness.engine.instruction_files import read_instructions
from harness.engine.loops.event_fold import BehaviourFold, LoopFold
from harness.engine.loops.runner import LoopExperience, LoopRunner, veto
from harness.engine.model.calls import ModelCalls
from harness.engine.model.cost_budget import BudgetNotices, require_prices
from harness.engine.model.selection import ModelSelection
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.engine.model.shared_retries import SharedRetries
from harness.engine.parts import AgentParts, SharedParts
from harness.engine.permissions.asker import Asker, NoAsker, QuestionHandler, SerialAsker
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.rewind.rollback import CheckpointFold, Rollbacks
from harness.engine.subagents.admission import AdmissionRunner
from harness.engine.subagents.background_work import BackgroundWork
from harness.engine.subagents.factory import SubagentFactory
from harness.engine.subagents.fan_out import FanOutQuestions
from harness.engine.subagents.reports import Subagent, SubagentSpec
from harness.engine.subagents.subagents import Subagents
from harness.engine.tools.calls import ToolCalls
from harness.engine.tools.dispatch import ToolDispatcher
from harness.engine.tools.folder_instructions import FolderInstructions
from harness.engine.tools.plan_reminder import PlanReminder
from harness.engine.tools.results import FreshnessLabels
from harness.engine.turn import Signals, ToolRestriction, TurnLock
from harness.engine.turn_lifecycle import skill_news
from harness.events import AdmissionPool, ArrivalKind, Event, Json, PromptListsRead
from harness.hooks import Hook, own_hooks
from harness.journal import state_folder
from harness.memory import RECALL, REMEMBER, keeping_tools
from harness.model.catalogue import Catalogue
from harness.model.prompt import digest_of, system_blocks
from harness.model.tokens import TokenCounter
from harness.permissions.rules import WEB_TOOLS
from harness.policies.admission.controller import AdmissionController
from harness.policies.breakers.registry import BreakerRegistry
from harness.policies.loops.monitor import LoopMonitor
from harness.policies.loops.observations import Poll
from harness.policies.recovery import RecoveryLimits
from harness.policies.recovery.backoff import RetryBudget
from harness.practice.fault_orders import ToolFaultQueue
from harness.processes import Processes
from harness.settings import Settings
from harness.settings.loop_experience_file import experience_file
from harness.skills import SKILL, catalogue_text
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore, slots_file
from harness.tools.agent import agent_tool
from harness.tools.ask_user import ASK_USER, ask_user_tool
from harness.tools.seen_files import SeenFiles
from harness.tools.todo_write import TODO_WRITE
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox, joined, kept_of, own_tools


def build_parts(
    make: Callable[..., Any],
    settings: Settings | None,
    overrides: Mapping[str, object],
    *,
    tools: Iterable[Tool],
    standard: Collection[str] | None,
    asker: Asker | None,
    conversation: Conversation | None,
    outputs: Path | None,
    reread: Callable[[], Settings] | None,
    clock: Clock | None,
    log: logging.Logger | None,
    agents_folder: Path | None,
    hooks: Iterable[Hook],
    policies: Policies | None,
    parent: AgentParts | None,
    role: str,
    answer_format: Json | None,
) -> AgentParts:
    """The parts of an agent; `make` makes its subagents. The other arguments and the errors are those of
    `AgentBase`."""
    own = own_tools(tools)
    if settings is None:
        settings = settings_here(overrides)
        reread = reread or partial(settings_here, overrides)
    conversation = conversation or Conversation(ignore)
    conversation.masking.learn(secrets_of(settings, os.environ))
    reread = partial(_reread, conversation, reread) if reread else None
    clock = clock or (parent.clock if parent else SystemClock())
    log = log or (parent.log if parent else logging.getLogger("harness"))
    asker = asker or NoAsker()
    every_hook = parent.hooks.hooks if parent else (*settings.hooks, *own_hooks(hooks))
    policies = parent.policies if parent else policies or Policies()
    outputs = outputs or outputs_folder(settings)
    is_subagent = parent is not None
    agent = outputs.name if is_subagent else ""

    limits = recovery_limits(settings, interactive=asker.present, given=policies.recovery, is_subagent=is_subagent)
    signals, turns, restriction = Signals(), TurnLock(conversation), ToolRestriction()
    if parent is None:
        require_tools_of_hooks(every_hook, [one.name for one in own])
        shared = shared_parts(settings, conversation, asker, log, reread, session=outputs.stem, own=own)
    else:
        shared = parent.shared
    _require_prices(settings, limits, shared, is_subagent=is_subagent)
    connection, processes = shared.connection, shared.processes
    if not is_subagent:
        asker = shared.asker

    background: BackgroundWork | None = None

    async def ongoing() -> tuple[Json, ...]:
        return () if background is None else await background.ongoing()

    hook_runner = HookRunner(
        every_hook,
        processes,
        conversation,
        signals,
        limits,
        workspace=settings.workspace,
        agent=agent,
        ongoing=ongoing,
    )

    def wake(actor: str, text: str) -> None:
        if parent is not None and parent.board is not None:
            parent.board.tell(actor, text)
        elif background is not None and actor.partition("/")[0] == session_name:  # subagents are led by the session
            background.inbox.arrive(ArrivalKind.TASK_READY, "board", text)

    session_name = parent.outputs.stem if parent else outputs.stem
    board = task_work(
        shared.board,
        session_name,
        agent,
        SystemClock(),  # other processes use it as well
        (parent.conversation if parent else conversation).emit,
        wake,
        hook_runner.refuses_task,
    )
    of_board = () if board is None else tools_of_board(board)
    ours = (*tools_for(settings, None, shared.skills, shared.memory), *of_board)

    @cache
    def factory() -> SubagentFactory:
        return SubagentFactory(make, parts)

    if not is_subagent:
        names = _names_for_subagents(settings, ours, own, standard)
        background = background_work(
            settings,
            conversation,
            shared,
            restriction,
            clock,
            log,
            outputs=outputs,
            tools=names,
            policies=policies,
            kept=agents_folder is not None,
            model=lambda: models.current,
            create=lambda spec: factory().create(spec),
            limits=command_limits(settings, asker),
        )
        ours = (*_tools_of_parent(settings, shared, background), *of_board)
    if settings.ask_user != "off":
        ours = (*ours, ask_user_tool(QuestionHandler(conversation, asker, settings.ask_user)))
    every = joined(kept_of(ours, standard, strict=not is_subagent), own)
    toolbox = Toolbox(shared.tool_orders.applied(with_faults(every, settings)))

    web = web_access(settings, standard if is_subagent else None, shared.rules.kept(WEB_TOOLS))
    sent = (*toolbox.specs(), *web.tools(newest=shared.catalogue.knows(settings.model)))
    lists = _lists(conversation, shared, toolbox, digest_of(sent))
    sections = prompt_sections(
        settings,
        is_subagent=is_subagent,
        instructions=shared.instructions,
        skills=lists.skills,
        memory=lists.memory,
        role=role,
    )

    loop_policy = policies.loops or loop_limits(settings)
    experience = LoopExperience(conversation, experience_file(settings))
    orchestrator = LoopMonitor(loop_policy, experience.preferences)
    poll = Poll(loop_policy.poll_every_s, loop_policy.poll_total_s)
    loop_fold = LoopFold(orchestrator, BehaviourFold(toolbox.get, poll))

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
        answer_format=answer_format,
        web=lambda: web_access(
            settings, standard if is_subagent else None, restriction.only, shared.rules.kept(WEB_TOOLS)
        ),
        watches_text=lambda: orchestrator.policy.enabled,
    )
    priced = limits.max_cost_usd is not None
    models = ModelSelection(conversation, calls, shared.catalogue, settings.model, priced=priced)

    numbers = policies.breakers or dispatch_limits(settings)
    known = parent.breakers.registry.capabilities if parent else None
    registry = BreakerRegistry(toolbox.names, capabilities_for(settings, toolbox, known), numbers)
    breakers = ToolDispatcher(registry, toolbox, conversation, clock, attended=asker.present)
    freshness = FreshnessLabels(strict=settings.strict_freshness)
    tool_calls = ToolCalls(
        toolbox,
        shared.rules.permissions,
        asker,
        conversation,
        breakers,
        freshness,
        hook_runner,
        clock,
        restriction,
        veto=partial(veto, orchestrator, breakers),
        workspace=settings.workspace,
        outputs=outputs,
        processes=processes,
        count_errors=settings.count_errors,
        timeout_s=settings.tool_timeout_s,
        log=log,
        remember=shared.rules.remember,
        agent=agent,
        seen=SeenFiles(shared.file_writes),
    )

    new_compactor = partial(
        Compactor,
        calls,
        conversation,
        toolbox,
        clock,
        workspace=settings.workspace,
        outputs=outputs,
        processes=processes,
        open_tasks=None if board is None else board.open_tasks,
        ongoing=ongoing,
    )
    decisions = DecisionRunner(
        conversation,
        connection,
        calls,
        models,
        new_compactor,
        hook_runner,
        asker,
        limits,
        clock,
        signals,
        decide=policies.decide,
        fallback_models=settings.fallback_models,
    )
    attached: dict[str, str] = {}

    checkpoints = checkpoints_for(settings, outputs, log, processes) if asker.present else None
    checkpoint_fold = CheckpointFold(toolbox.get)
    rollbacks = Rollbacks(conversation, checkpoint_fold, checkpoints)
    loops = LoopRunner(
        loop_fold, rollbacks, tool_calls, conversation, breakers, asker, clock, signals, chance=random.random
    )
    plan_reminder = PlanReminder(conversation, settings.plan_reminder if toolbox.get(TODO_WRITE) else 0)

    parts = AgentParts(
        settings=settings,
        conversation=conversation,
        clock=clock,
        log=log,
        policies=policies,
        limits=limits,
        signals=signals,
        turns=turns,
        shared=shared,
        parent=parent,
        background=background,
        own_tools=own,
        toolbox=toolbox,
        restriction=restriction,
        board=board,
        lists=lists,
        sections=sections,
        attached=attached,
        models=models,
        calls=calls,
        decisions=decisions,
        breakers=breakers,
        freshness=freshness,
        tools=tool_calls,
        hooks=hook_runner,
        loops=loops,
        experience=experience,
        checkpoint_fold=checkpoint_fold,
        checkpoints=checkpoints,
        rollbacks=rollbacks,
        plan_reminder=plan_reminder,
        folder_instructions=FolderInstructions(settings, conversation, shared.instructions),
        faults=PracticeFaults(connection, shared.tool_orders, toolbox.names, conversation.emit),
        outputs=outputs,
        agents_folder=agents_folder,
    )
    if changes := skill_news(parts):
        attached["skills"] = changes

    subscribers: list[Callable[[Event], None]] = []
    if background is not None:
        # A reply that asks for subagents is counted before the first of them is admitted.
        subscribers.append(background.fan_out.on_event)
        # What the model has taken of the schedule is marked; nothing depends on it.
        subscribers.append(background.on_event)
    # Breakers move before anyone else looks at them; what they emit follows the event that moved them.
    subscribers.append(breakers.on_event)
    # Notification hooks start as soon as a question is open, before anything else follows from it.
    subscribers.append(hook_runner.on_event)
    # Checkpoints and what tools did since; `rollbacks` reads it, so it comes before that.
    subscribers.append(checkpoint_fold.on_event)
    if limits.max_cost_usd is not None:
        # Reports 50, 80 and 100 % of the cost budget right behind the spend that reached them.
        subscribers.append(BudgetNotices(conversation, limits.max_cost_usd).on_event)
    # The places that a rollback can go to; `loops` asks for one.
    subscribers.append(rollbacks.on_event)
    # What an intervention achieved is learned from the same events that `loops` reacts to.
    subscribers.append(experience.on_event)
    # Emits loops that it finds, so it comes behind all that the event has changed.
    subscribers.append(loops.on_event)
    # Counts steps since the plan was written; nothing depends on it.
    subscribers.append(plan_reminder.on_event)
    for subscriber in subscribers:
        conversation.subscribe(subscriber)
    return parts


def _reread(conversation: Conversation, reread: Callable[[], Settings]) -> Settings:
    settings = reread()
    conversation.masking.learn(secrets_of(settings, os.environ))
    return settings


def shared_parts(
    settings: Settings,
    conversation: Conversation,
    asker: Asker,
    log: logging.Logger,
    reread: Callable[[], Settings] | None,
    *,
    session: str,
    own: Iterable[Tool] = (),
) -> SharedParts:
    """What the agent of a session shares with its subagents; `session` is its name for other sessions, `own` are tools
    of the program.

    Raises SettingsError for rules that cannot be used.
    """
    counter = TokenCounter()
    rules = SessionRules(settings, log, conversation.emit, [one.name for one in own])
    notices: deque[str] = deque()
    slots = _slots(settings, session, notices.append) if settings.shared_admission else None
    return SharedParts(
        connection=ModelConnection(settings, log, counter, reread),
        rules=rules,
        asker=SerialAsker(asker, rules.permissions.decide),
        processes=Processes(memory=memory_limit(settings, notices.append)),
        catalogue=Catalogue(settings.prices),
        counter=counter,
        endpoints=SharedEndpoints(
            None if settings.practice else slots, address=address_of(settings), clock=SystemClock(), log=log
        ),
        retries=SharedRetries(RetryBudget(settings.retry_share, settings.retry_burst), conversation.emit),
        slots=slots,
        instructions=read_instructions(settings, notices.append),
        skills=skills_for(settings),
        agents=agents_for(settings),
        memory=memory_for(settings, session),
        board=board_for(settings, conversation.board, session, notices.append),
        tool_orders=ToolFaultQueue(),
        notices=notices,
    )


def _slots(settings: Settings, session: str, report: Callable[[str], None]) -> SharedSlots:
    """The slots in the state folder. Nothing is opened before the first subagent starts."""
    store = SqliteSlotStore(slots_file(state_folder(settings.state_dir)), report=report)
    return SharedSlots(
        store,
        owner=session,
        clock=SystemClock(),  # other processes use it as well
        lost=lambda _: report("The slot of an agent was given to another session, because this one did not answer."),
    )


def _names_for_subagents(
    settings: Settings, ours: Sequence[Tool], own: Sequence[Tool], standard: Collection[str] | None
) -> tuple[str, ...]:
    names = (*(one.name for one in ours), *((ASK_USER,) if settings.ask_user != "off" else ()))
    kept = (name for name in names if standard is None or name in standard)
    return (*kept, *(one.name for one in own), *web_access(settings).names)


def background_work(
    settings: Settings,
    conversation: Conversation,
    shared: SharedParts,
    restriction: ToolRestriction,
    clock: Clock,
    log: logging.Logger,
    *,
    outputs: Path,
    tools: tuple[str, ...],
    policies: Policies,
    kept: bool,
    model: Callable[[], str],
    create: Callable[[SubagentSpec], Subagent],
    limits: CommandLimits,
) -> BackgroundWork:
    """The subagents and background commands of a session.

    Args:
        tools: the names that subagents may use.
    """
    emit = conversation.emit
    inbox = Inbox(emit)
    subagent_admission = AdmissionRunner(
        AdmissionController(policies.admission or admission_limits(settings, "max_concurrent"), AdmissionPool.AGENTS),
        emit,
        clock,
        shared=shared.slots,
        existing=lambda: subagents.known,
        log=log,
    )
    command_admission = AdmissionRunner(
        AdmissionController(admission_limits(settings, "max_background"), AdmissionPool.COMMANDS),
        emit,
        clock,
        existing=lambda: commands.ids,
        log=log,
    )
    fan_out = FanOutQuestions(
        conversation,
        shared.asker,
        mode=settings.fan_out,
        free=settings.fan_out_subagents,
        most=settings.max_subagents,
        cost=lambda usage: shared.catalogue.cost(model(), usage),
    )
    subagents = Subagents(
        conversation,
        subagent_admission,
        inbox,
        shared.asker,
        fan_out,
        restriction,
        clock,
        log,
        create=create,
        tools=tools,
        kinds=usable(shared.agents, tools),
        model=model,
        result_characters=settings.result_characters,
        kept=kept,
        most=settings.max_subagents,
    )
    commands = BackgroundCommands(
        shared.processes,
        command_admission,
        inbox,
        emit,
        clock,
        workspace=settings.workspace,
        outputs=outputs,
        limits=limits,
        masking=conversation.masking,
        others=lambda: subagents.running,
    )
    return BackgroundWork(
        conversation,
        inbox,
        fan_out,
        subagents,
        subagent_admission,
        commands,
        command_admission,
        shared.processes,
        outputs,
        # Moments on the clock of the machine, which other sessions read as well.
        lambda: schedule_for(settings, outputs.stem, inbox, SystemClock(), emit, shared.notices.append),
    )


def _tools_of_parent(settings: Settings, shared: SharedParts, background: BackgroundWork) -> tuple[Tool, ...]:
    """The standard tools, those that delegate, run in the background and remember."""
    standard = tools_for(settings, background.commands, shared.skills, shared.memory)
    kinds = {kind.name: kind.description for kind in background.subagents.kinds.agents}
    keeping = keeping_tools(shared.memory) if shared.memory.on else ()
    scheduling = tools_of_schedule(lambda: background.schedule) if settings.schedule and settings.schedule_tools else ()
    return (
        *standard,
        *keeping,
        *scheduling,
        agent_tool(background.subagents, steps=settings.subagent_steps, kinds=kinds),
    )


def _lists(conversation: Conversation, shared: SharedParts, toolbox: Toolbox, tools_digest: str) -> PromptListsRead:
    """What the system prompt lists: as before where the conversation continues with the same tools, else as of now."""
    before, asked = conversation.lists, conversation.asked
    if before is not None and (asked is None or asked.tools_digest == tools_digest):
        shared.memory.resume(before.memories)
        return before
    return PromptListsRead(
        catalogue_text(shared.skills.skills) if toolbox.get(SKILL) else "",
        shared.memory.index(keeps=toolbox.get(REMEMBER) is not None) if toolbox.get(RECALL) else "",
        shared.memory.at_first,
    )


def _require_prices(settings: Settings, limits: RecoveryLimits, shared: SharedParts, *, is_subagent: bool) -> None:
    models = (settings.model, *settings.fallback_models)
    if limits.max_cost_usd is not None:
        require_prices(models, shared.catalogue.price, "subagent_budget_usd" if is_subagent else "max_budget_usd")
    elif settings.subagent_budget_usd is not None:
        require_prices(models, shared.catalogue.price, "subagent_budget_usd")
