"""Watches the agent for loops and carries out the interventions."""
