"""What files define for a session: slash commands and kinds of agents, those of other programs included.

A project goes before the user, and a folder `.harness` before `.agents` and `.claude`. The files are text for a model:
they allow nothing. What a project's file would make the session spend, its choice of a model or an effort, waits for
the user's trust in the folder.
"""

from harness.definitions.agents import AgentFile, Agents, discover_agents, usable
from harness.definitions.commands import CommandFile, Commands, discover_commands
from harness.definitions.files import (
    CostClaim,
    DefinitionFolder,
    DefinitionOrigin,
    DefinitionProblem,
    cost_claims,
    definition_folders,
)
from harness.definitions.tool_names import tools_named

__all__ = [
    "AgentFile",
    "Agents",
    "CommandFile",
    "Commands",
    "CostClaim",
    "DefinitionFolder",
    "DefinitionOrigin",
    "DefinitionProblem",
    "cost_claims",
    "definition_folders",
    "discover_agents",
    "discover_commands",
    "tools_named",
    "usable",
]
