"""Lets work begin as the admission policy decides: subagents and background commands."""
