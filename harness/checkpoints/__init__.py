"""Keep what the workspace's files hold, and restore it later: for the rung ROLLBACK and for /rewind.

Which files: those that git does not ignore, or without a repository those that no .gitignore file names. Where they
go: into a folder of the session, as a private git repository or as plain copies. The person's own repository is
read for the list of files and never written. What is left out (limits, pipes, nested repositories, what is ignored)
is said when it is left out, and no restore touches it.
"""

from harness.checkpoints.checkpoints import Checkpoints
from harness.checkpoints.results import Change, ChangeKind, CheckpointError, CheckpointLimits, How, Kept, Restored

__all__ = [
    "Change",
    "ChangeKind",
    "CheckpointError",
    "CheckpointLimits",
    "Checkpoints",
    "How",
    "Kept",
    "Restored",
]
