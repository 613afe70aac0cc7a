"""Folds from events to the state of one subject, shared by the panel, lines, transcript, replay and export."""
