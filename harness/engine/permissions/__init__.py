"""Asks the user about tool calls, and looks at the disk before a decision."""
