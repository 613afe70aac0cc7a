"""Counts the words of notes.txt."""

from pathlib import Path

words = Path("note.txt").read_text("utf-8").split()
print(len(words), "words")
