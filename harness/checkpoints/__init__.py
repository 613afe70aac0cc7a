"""Keep the contents of a workspace and restore them later: for the rung ROLLBACK and for /rewind.

Which files: those that git does not ignore, or without a repository those that no .gitignore file names. Their contents
go into a folder of the session. The user's own repository is read for the list of files and never written. Skipped
files (limits, pipes, nested repositories, ignored files) are reported, and no restore touches them.
"""

from harness.checkpoints.checkpoints import Checkpoints
from harness.checkpoints.manifest import (
    ChangeKind,
    CheckpointError,
    CheckpointLimits,
    CheckpointRecord,
    FileChange,
    RestoreResult,
)

__all__ = [
    "ChangeKind",
    "CheckpointError",
    "CheckpointLimits",
    "CheckpointRecord",
    "Checkpoints",
    "FileChange",
    "RestoreResult",
]
