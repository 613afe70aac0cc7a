"""Plan scripts: ordinary Python that holds the plan, and subagents that do the work (docs/plans.md)."""

from harness.plan_script.plan import AgentFailed, Plan

__all__ = ["AgentFailed", "Plan"]
