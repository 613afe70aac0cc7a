"""Every child process of the program, and its end."""

from harness.processes.processes import Processes
from harness.processes.values import ExitCounts, Finished, LeftOver, Limits

__all__ = ["ExitCounts", "Finished", "LeftOver", "Limits", "Processes"]
