"""What the lead does with its tools: it starts members, ends them, and writes to them."""

from typing import Protocol

from harness.base.concurrency import shielded
from harness.base.errors import HarnessError
from harness.engine.subagents.subagents import Subagents
from harness.engine.team.member import Member, MemberDraft
from harness.engine.team.requests import LEAD_BOX
from harness.engine.team.seat import SeatedTeam, TeamTools
from harness.events import ToolOutcome
from harness.policies.protocols.table import RequestMessage
from harness.policies.team.members import MemberRow
from harness.team.mail import MailError
from harness.team.tools import StartArguments, StopArguments
from harness.tools.tool import ToolContext, ToolResult, invalid, shorten_line
from harness.worktrees import WorktreeError


class LedTeam(SeatedTeam, Protocol):
    """What the tools of the lead need of the team besides."""

    starting: set[str]
    """Names of members that are about to start."""

    def check(self, name: str) -> None:
        """Raise HarnessError where no other member may join, or none with this name."""
        ...

    async def started(self, draft: MemberDraft, task: str, description: str) -> Member:
        """Let a member join and begin its first task. Raises MailError and WorktreeError."""
        ...

    def row(self, member: Member) -> MemberRow:
        """The row of a member."""
        ...


class LeadTools(TeamTools):
    """The tools of the agent of the session."""

    def __init__(self, team: LedTeam, subagents: Subagents) -> None:
        super().__init__(team, LEAD_BOX)
        self._team: LedTeam = team
        self._subagents = subagents

    async def start(self, context: ToolContext, arguments: StartArguments) -> ToolResult:
        """Start a member with its first task."""
        try:
            await self._team.open()
            self._team.check(arguments.name)
            tools = self._subagents.tools_for(arguments.kind, arguments.tools)
        except HarnessError as error:
            return invalid(str(error))
        self._team.starting.add(arguments.name)
        try:
            if (refused := await self._subagents.may_start(context)) is not None:
                return refused
            more = arguments.role, arguments.kind, arguments.worktree, arguments.plan, context.call_id
            draft = MemberDraft(arguments.name, tools, *more)
            member = await shielded(self._team.started(draft, arguments.task, arguments.description))
        except (MailError, WorktreeError) as error:
            return ToolResult(f"Not started. {error}", ToolOutcome.ERROR, "not started")
        finally:
            self._team.starting.discard(arguments.name)
        text = (
            f"{member.name} ({member.agent}) has its task and works in the background. Its answer arrives as mail; "
            "continue with other work, or end your turn."
        )
        return ToolResult(text, summary=f"{member.name} ({member.agent}) works in the background")

    async def stop(self, context: ToolContext, arguments: StopArguments) -> ToolResult:
        """Ask a member to end; an idle one, and one that is forced, ends at once."""
        try:
            await self._team.open()
            member, why = self._team.member(arguments.name), shorten_line(arguments.why) or "the lead ended it"
            at_once = RequestMessage.FORCE if arguments.force else RequestMessage.IDLE if self._idle(member) else None
            request = await self._team.requests.shutdown(LEAD_BOX, member.address, why, at_once)
        except HarnessError as error:
            return invalid(str(error))
        if at_once is None:
            text = (
                f"{request.id} asks {member.name} to end. You are told if it declines; without an answer it is ended."
            )
            return ToolResult(text, summary=f"{request.id} asks {member.name} to end")
        await member.ended.wait()
        return ToolResult(f"{arguments.name} has ended; its history is kept in its journal.", summary="ended")

    def _idle(self, member: Member) -> bool:
        """It has nothing to finish."""
        asks = self._team.requests.fold.asked_by(member.address)
        return not (member.busy or member.reasons or asks or self._team.row(member).owes)
