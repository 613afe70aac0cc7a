"""A session: an agent whose every event is kept in a journal. What the front ends use, and all they use."""

from harness.definitions import CommandFile
from harness.engine.inbox import Incoming
from harness.engine.model.context_usage import ContextUse
from harness.engine.model.prompt_parts import PromptPart
from harness.engine.permissions.asker import Asker, Nobody, UserAnswer, WaitChoice
from harness.engine.rewind.rewind import FilesBack
from harness.engine.subagents.admission import GateStatus
from harness.engine.subagents.rows import AgentRow
from harness.engine.tools.attachments import attachment_problem
from harness.journal import Record, RewindPoint, SessionSummary
from harness.memory import Memory, MemoryBook
from harness.memory import Place as MemoryPlace
from harness.memory import Problem as MemoryProblem
from harness.permissions import Answer, PermissionRequest, PermissionRule
from harness.policies.breakers.messages import in_words
from harness.policies.breakers.text_table import report_lines, table_lines
from harness.policies.loops.messages import LABELS as LOOP_CHOICES
from harness.policies.loops.messages import RUNGS, described
from harness.policies.loops.messages import question as loop_question
from harness.policies.recovery.transitions import exit_code
from harness.practice.fault_words import MODEL_KINDS as FAULT_KINDS
from harness.practice.fault_words import TOOL_KINDS as TOOL_FAULT_KINDS
from harness.processes import ExitCounts
from harness.session.open import Opening, open_session
from harness.session.session import Session, sessions_of
from harness.skills import Problem as SkillProblem
from harness.skills import Skill
from harness.tools.background_commands import CommandRow

__all__ = [
    "FAULT_KINDS",
    "LOOP_CHOICES",
    "RUNGS",
    "TOOL_FAULT_KINDS",
    "AgentRow",
    "Answer",
    "Asker",
    "CommandFile",
    "CommandRow",
    "ContextUse",
    "ExitCounts",
    "FilesBack",
    "GateStatus",
    "Incoming",
    "Memory",
    "MemoryBook",
    "MemoryPlace",
    "MemoryProblem",
    "Nobody",
    "Opening",
    "PermissionRequest",
    "PermissionRule",
    "PromptPart",
    "Record",
    "RewindPoint",
    "Session",
    "SessionSummary",
    "Skill",
    "SkillProblem",
    "UserAnswer",
    "WaitChoice",
    "attachment_problem",
    "described",
    "exit_code",
    "in_words",
    "loop_question",
    "open_session",
    "report_lines",
    "sessions_of",
    "table_lines",
]
