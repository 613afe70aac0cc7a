"""Runs hooks at the fixed points of a session."""
