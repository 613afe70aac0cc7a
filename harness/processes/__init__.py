"""Every child process of the program, and its end."""

from harness.processes.outcome import ExitCounts, Finished, LeftOver, Limits
from harness.processes.processes import Processes

__all__ = ["ExitCounts", "Finished", "LeftOver", "Limits", "Processes"]
