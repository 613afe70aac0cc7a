"""A session: an agent whose every event is kept in a journal. What the front ends use, and all they use."""

from harness.definitions import CommandFile
from harness.engine.admission.runner import AdmissionStatus
from harness.engine.callback_hooks import callback_hooks
from harness.engine.inbox import Inbox
from harness.engine.model.context_report import ContextUse, PromptPart
from harness.engine.permissions.asker import Asker, NoAsker, UserAnswer, WaitChoice
from harness.engine.permissions.session_rules import added_folders
from harness.engine.repository import ChangedFile, Changes
from harness.engine.rewind.rewind import RewindPlan
from harness.engine.steering import SteeringInbox
from harness.engine.subagents.reports import SubagentRow, SubagentState
from harness.engine.tools.attachments import attachment_problem
from harness.engine.worktrees import worktrees_for
from harness.journal import Record, RewindPoint, SessionSummary
from harness.memory import Memory, MemoryBook, MemoryOwner, MemoryProblem
from harness.permissions import PermissionAnswer, PermissionRequest, PermissionRule, RuleScope, rule_in_words
from harness.policies.breakers.health_table import report_lines, table_lines
from harness.policies.breakers.messages import in_words
from harness.policies.loops.messages import LABELS as LOOP_CHOICES
from harness.policies.loops.messages import RUNGS, described
from harness.policies.loops.messages import question as loop_question
from harness.policies.recovery.transitions import exit_code
from harness.processes import ExitCounts
from harness.sandbox import SandboxLevel, SandboxState
from harness.session.opening import Opening, open_session
from harness.session.sandbox import SandboxReport
from harness.session.session import Session, sessions_of
from harness.session.worktrees import listed
from harness.skills import DefinitionProblem as SkillProblem
from harness.skills import Skill
from harness.tools.background_commands import CommandRow
from harness.tools.diff import unified_diff
from harness.tools.tool import Effect, Tool, ToolResult

__all__ = [
    "LOOP_CHOICES",
    "RUNGS",
    "AdmissionStatus",
    "Asker",
    "ChangedFile",
    "Changes",
    "CommandFile",
    "CommandRow",
    "ContextUse",
    "Effect",
    "ExitCounts",
    "Inbox",
    "Memory",
    "MemoryBook",
    "MemoryOwner",
    "MemoryProblem",
    "NoAsker",
    "Opening",
    "PermissionAnswer",
    "PermissionRequest",
    "PermissionRule",
    "PromptPart",
    "Record",
    "RewindPlan",
    "RewindPoint",
    "RuleScope",
    "SandboxLevel",
    "SandboxReport",
    "SandboxState",
    "Session",
    "SessionSummary",
    "Skill",
    "SkillProblem",
    "SteeringInbox",
    "SubagentRow",
    "SubagentState",
    "Tool",
    "ToolResult",
    "UserAnswer",
    "WaitChoice",
    "added_folders",
    "attachment_problem",
    "callback_hooks",
    "described",
    "exit_code",
    "in_words",
    "listed",
    "loop_question",
    "open_session",
    "report_lines",
    "rule_in_words",
    "sessions_of",
    "table_lines",
    "unified_diff",
    "worktrees_for",
]
