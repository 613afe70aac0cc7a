"""A session: an agent whose every event is kept in a journal. What the front ends use, and all they use."""

from harness.breakers.printed import report_lines, table_lines
from harness.breakers.wording import in_words
from harness.context_use import ContextUse
from harness.definitions import CommandFile
from harness.escape.wording import LABELS as LOOP_CHOICES
from harness.escape.wording import RUNGS, described
from harness.escape.wording import question as loop_question
from harness.executor.agent_rows import AgentRow
from harness.executor.asker import Asker, Nobody, UserAnswer, WaitChoice
from harness.executor.attachments import attachment_problem
from harness.executor.gating import GateStatus
from harness.executor.incoming import Incoming
from harness.executor.rewinding import FilesBack
from harness.journal import Record, RewindPoint, SessionSummary
from harness.memory import Memory, MemoryBook
from harness.memory import Place as MemoryPlace
from harness.memory import Problem as MemoryProblem
from harness.permissions import Answer, PermissionRequest, PermissionRule
from harness.practice.order_words import MODEL_KINDS as FAULT_KINDS
from harness.practice.order_words import TOOL_KINDS as TOOL_FAULT_KINDS
from harness.processes import ExitCounts
from harness.prompt_parts import PromptPart
from harness.recovery.transitions import exit_code
from harness.session.opening import Opening, open_session
from harness.session.session import Session, sessions_of
from harness.skills import Problem as SkillProblem
from harness.skills import Skill
from harness.tools.background import CommandRow

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
