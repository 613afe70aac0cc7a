"""What the agent of a session shares with its subagents."""

import logging
import os
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.base.clock import SystemClock
from harness.engine.build.from_settings import (
    admission_limits,
    agents_for,
    board_for,
    mcp_config,
    memory_for,
    memory_limit,
    secrets_of,
    skills_for,
)
from harness.engine.build.options import AgentOptions
from harness.engine.build.sandbox import sandbox_for
from harness.engine.connection import ModelConnection, OrderedToolFaults, address_of
from harness.engine.conversation import Conversation
from harness.engine.core import SharedParts
from harness.engine.instruction_files import read_instructions
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.engine.model.shared_retries import SharedRetries
from harness.engine.permissions.asker import Asker, SerialAsker
from harness.engine.permissions.hosts import asked_hosts
from harness.engine.permissions.session_rules import SessionRules
from harness.engine.store_places import slots_place, store_clock
from harness.model.catalogue import Catalogue
from harness.model.tokens import TokenCounter
from harness.policies.recovery.backoff import RetryBudget
from harness.processes import Processes
from harness.settings import Settings
from harness.slots.client import SharedSlots
from harness.slots.store import SqliteSlotStore

if TYPE_CHECKING:
    from harness.mcp.servers import McpServers


def shared_parts(
    settings: Settings,
    options: AgentOptions,
    conversation: Conversation,
    asker: Asker,
    log: logging.Logger,
    *,
    session: str,
) -> SharedParts:
    """Create the shared parts of a session; other sessions see it under the name `session`.

    Raises SettingsError for rules that cannot be used, and where the sandbox that the settings require is missing.
    """
    counter = TokenCounter()
    rules = SessionRules(settings, log, conversation.emit, [tool.name for tool in options.tools])
    notices: deque[str] = deque()
    reread = partial(_reread, conversation, options.reread) if options.reread else None
    slots = _slots(settings, session, notices.append) if settings.shared_admission else None
    sandbox = sandbox_for(settings, rules, asked_hosts(rules))
    shared = SharedParts(
        connection=ModelConnection(settings, log, counter, reread),
        rules=rules,
        asker=SerialAsker(asker, rules.permissions.decide, rules.changed, options.clock or SystemClock()),
        processes=Processes(memory=memory_limit(settings, notices.append), sandbox=sandbox),
        catalogue=Catalogue(settings.prices),
        counter=counter,
        endpoints=_endpoints(settings, options, slots, conversation, log),
        retries=SharedRetries(RetryBudget(settings.retry_share, settings.retry_burst), conversation.emit),
        slots=slots,
        instructions=read_instructions(settings, notices.append),
        skills=skills_for(settings),
        agents=agents_for(settings),
        memory=memory_for(settings, session),
        board=board_for(settings, conversation.state.board, session, notices.append),
        mcp=None,
        tool_faults=OrderedToolFaults(),
        notices=notices,
    )
    return replace(shared, mcp=_servers(settings, conversation, shared))


def _reread(conversation: Conversation, reread: Callable[[], Settings]) -> Settings:
    settings = reread()
    conversation.masking.learn(secrets_of(settings, os.environ))
    return settings


def _servers(settings: Settings, conversation: Conversation, shared: SharedParts) -> "McpServers | None":
    """The MCP servers of the session, not started yet; None: it has none, and no request has listed tools of any."""
    config = mcp_config(settings)
    shared.notices.extend(config.problems)
    if not config.servers and conversation.state.server_tools is None:
        return None
    from harness.engine.mcp import SessionLinks, servers_for
    from harness.engine.mcp_questions import ServerQuestions
    from harness.engine.mcp_sampling import ServerSampling

    questions = ServerQuestions(conversation, shared.asker)
    sampling = ServerSampling(settings, conversation, shared.connection, shared.catalogue, questions)
    links = SessionLinks(shared.rules, sampling, shared.tool_faults.applied)
    return servers_for(config, settings, shared.processes, conversation, questions, links)


def _endpoints(
    settings: Settings,
    options: AgentOptions,
    slots: SharedSlots | None,
    conversation: Conversation,
    log: logging.Logger,
) -> SharedEndpoints:
    """The endpoints of the models. `slots` shares them with others, unless this session has its own model or time."""
    alone = slots is None or settings.practice or options.clock is not None
    limits = (options.policies and options.policies.admission) or admission_limits(settings, "max_concurrent")
    return SharedEndpoints(
        slots,
        address=address_of(settings),
        clock=None if alone else store_clock(),
        limit=max(1, limits.max_concurrent),
        emit=conversation.emit,
        log=log,
    )


def _slots(settings: Settings, session: str, report: Callable[[str], None]) -> SharedSlots:
    """The slots that sessions share. Nothing is opened before the first subagent starts."""
    store = SqliteSlotStore(slots_place(settings), report=report)
    return SharedSlots(
        store,
        owner=session,
        clock=SystemClock(),  # other processes use it as well
        lost=lambda _: report("The slot of an agent was given to another session, because this one did not answer."),
    )
