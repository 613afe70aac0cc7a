"""Fires scheduled prompts into a session."""
