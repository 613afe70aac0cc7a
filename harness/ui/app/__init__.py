"""The Textual app: a conversation on the left, recovery live on the right."""
