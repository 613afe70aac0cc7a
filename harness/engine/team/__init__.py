"""Members: subagents with a name and a mailbox, which go on after a task (docs/team.md)."""
