"""The mailboxes of members, and their tools. Imported only where the setting `team` is on (docs/team.md)."""
