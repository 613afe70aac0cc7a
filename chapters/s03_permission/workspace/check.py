"""Says whether the notes have a heading."""

from pathlib import Path

print("ok" if Path("notes.md").read_text("utf-8").startswith("# ") else "no heading")
