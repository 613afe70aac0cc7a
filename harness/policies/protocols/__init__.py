"""Requests between agents that have an answer, pure: one table says what may follow from what (docs/protocols.md)."""
