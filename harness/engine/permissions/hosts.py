"""Which hosts a command in the sandbox reaches: those of a list, and those that the user allows on the way."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.base.errors import HarnessError
from harness.base.files import read_regular
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker
from harness.engine.permissions.session_rules import SessionRules
from harness.events import (
    Denial,
    Json,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    QuestionOption,
    SandboxRefused,
)
from harness.permissions.registries import hosts_of_folder
from harness.sandbox import Allowance
from harness.sandbox.hosts import allows, entry_for, local_ports, named
from harness.sandbox.sandbox import Hosts
from harness.tools.tool import shorten_line

if TYPE_CHECKING:
    from harness.sandbox.proxy import CommandNetwork

MOST_CONFIG_BYTES = 200_000
MOST_REFUSED = 20
"""Hosts that one command is refused with a question or a report of their own."""
MOST_OF_A_LINE = 60
"""Characters of the command in a question; the call above it shows more."""
_TOO_MANY = f"it was refused {MOST_REFUSED} others before"
ONCE, SESSION, ALWAYS, NO = "yes, for this command", "yes, in this session", "yes, always in this folder", "no"


@dataclass(frozen=True, slots=True)
class CommandCaller:
    """Whose command it is."""

    call_id: str
    tool: str
    input: Json
    summary: str
    conversation: Conversation
    asker: Asker


def asked_hosts(rules: SessionRules) -> Hosts:
    """Makes the way of each command into the network, from whom to ask (a `CommandCaller`) and what the user has
    allowed it; shared by all agents, so that no host is asked about twice."""
    turn = asyncio.Lock()

    def link(environment: Mapping[str, str], caller: object, allowance: Allowance) -> "CommandNetwork":
        from harness.sandbox.proxy import CommandNetwork

        known = caller if isinstance(caller, CommandCaller) else None
        return CommandNetwork(CommandHosts(rules, turn, known, allowance.hosts), environment)

    return link


class CommandHosts:
    """The hosts of one command. Implements `harness.sandbox.proxy.HostAccess`."""

    def __init__(
        self, rules: SessionRules, turn: asyncio.Lock, caller: CommandCaller | None, hosts: Sequence[str]
    ) -> None:
        """
        Args:
            turn: held while a question about hosts is open.
            caller: whom to ask; None: no user can be asked.
        """
        self._rules, self._turn, self._caller = rules, turn, caller
        self._own = tuple(hosts)
        self._refused = 0

    @property
    def local_ports(self) -> tuple[int, ...]:
        """The ports of this machine that it may reach."""
        return local_ports(self._list)

    @property
    def _list(self) -> tuple[str, ...]:
        return (*self._rules.hosts, *self._own)

    async def reach(self, host: str, port: int, *, near: bool) -> str:
        """Empty: it may; otherwise why not, in one sentence."""
        if allows(self._list, host, port):
            return ""
        entry = entry_for(host, port)
        if self._refused >= MOST_REFUSED:
            return _TOO_MANY
        if near:
            why = f'it is this machine or in its network; only sandbox_hosts = ["{entry}"] in the settings allows it'
        elif self._caller is None:
            why = _no_user(entry)
        else:
            async with self._turn:
                if self._refused >= MOST_REFUSED:  # while this one waited
                    return _TOO_MANY
                why = "" if allows(self._list, host, port) else await self._asked(self._caller, host, port)
        self._refused += bool(why)
        if why and self._caller is not None:
            _report(self._caller, named(host, port), why)
        return why

    async def _asked(self, caller: CommandCaller, host: str, port: int) -> str:
        entry = entry_for(host, port)
        source, group = _related(self._rules.workspace.root, host) if entry == host else ("", ())
        hosts = (entry, *(one for one in group if one != host and not allows(self._list, one, 443)))
        asked = QuestionAsked(
            caller.call_id,
            _question(caller.summary, hosts, source),
            tuple(map(QuestionOption, (ONCE, SESSION, ALWAYS, NO))),
            hosts=hosts,
        )
        caller.conversation.emit(asked)
        try:
            given = await caller.asker.question(asked)
        except asyncio.CancelledError:
            caller.conversation.emit(QuestionAnswered(caller.call_id, "withdrawn", ""))
            raise
        if given is None:
            caller.conversation.emit(QuestionAnswered(caller.call_id, "declined", "", "setting"))
            return _no_user(entry)
        caller.conversation.emit(QuestionAnswered(caller.call_id, given.how, given.text))
        chosen = given.text if given.how == "option" else ""
        if chosen == ONCE:
            self._own += hosts
        elif chosen in (SESSION, ALWAYS):
            try:
                self._rules.allow_hosts(hosts, keep=chosen == ALWAYS)
            except HarnessError as error:
                caller.conversation.emit(Notice("warning", f"{entry} is allowed in this session only: {error}"))
        else:
            reason = " ".join(given.text.split()) if given.how == "text" else ""
            return f"the user does not allow it{f': {reason}' if reason else ''}"
        return ""


def _question(summary: str, hosts: Sequence[str], source: str) -> str:
    more = ", ".join(hosts[1:])
    named_by = f"{source} of this folder {'name' if source.endswith('s') else 'names'} it" if source else ""
    rest = f"\n{named_by}{f', and with it: {more}' if more else ''}." if named_by else ""
    return f"May this command reach {hosts[0]}?\n`{shorten_line(summary, MOST_OF_A_LINE)}`{rest}"


def _related(folder: Path, host: str) -> tuple[str, tuple[str, ...]]:
    """The file of the workspace that names a host, and all hosts that it names; empty: none does."""
    with suppress(OSError):
        names, config = [one.name for one in folder.iterdir()], b""
        with suppress(OSError):
            config = read_regular(folder / ".git" / "config", MOST_CONFIG_BYTES)
        for source, hosts in hosts_of_folder(names, config.decode("utf-8", "replace")).items():
            if host in hosts:
                return source, hosts
    return "", ()


def _no_user(entry: str) -> str:
    return f'no user is present to ask; allow it with sandbox_hosts = ["{entry}"]'


def _report(caller: CommandCaller, subject: str, why: str) -> None:
    conversation = caller.conversation
    conversation.emit(SandboxRefused(caller.call_id, "host", subject, "work", why))
    refusal = f"the sandbox refused {subject}: {why}"
    denials = conversation.denials
    if denials and denials[-1].call_id == caller.call_id:  # one for each call
        refusal = f"{denials.pop().why}; {subject}: {why}"
    denials.append(conversation.masking.value(Denial(caller.call_id, caller.tool, caller.input, refusal)))
