"""Every child process of the program, and its end."""

from harness.processes.outcome import ExitCounts, ProcessLimits, ProcessResult, SurvivingProcess
from harness.processes.processes import Processes

__all__ = ["ExitCounts", "ProcessLimits", "ProcessResult", "Processes", "SurvivingProcess"]
