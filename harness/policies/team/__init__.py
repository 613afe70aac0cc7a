"""Members and their mail, pure: names, what may be sent, what begins work, who may start (docs/team.md)."""
