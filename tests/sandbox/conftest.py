"""Commands in a sandbox are started as all others are."""

from tests.processes.conftest import limits, processes, root, shell, trace

__all__ = ["limits", "processes", "root", "shell", "trace"]
