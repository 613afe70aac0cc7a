"""Task boards on disk, shared by sessions, subagents and processes of one user.

`board` stores what `harness.policies.tasks` decides. A board belongs to a session, or has a name and belongs to a
repository with all its worktrees; `places` says where it is.
"""

from harness.slots.store import this_process
from harness.tasks.board import BoardError, HistoryLine, TaskBoard
from harness.tasks.places import board_file, project_board, session_board

__all__ = ["BoardError", "HistoryLine", "TaskBoard", "board_file", "project_board", "session_board", "this_process"]
