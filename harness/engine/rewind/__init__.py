"""Returns to an earlier turn: its history, its files, or both."""
