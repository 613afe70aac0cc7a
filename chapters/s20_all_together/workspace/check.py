"""The check of the project: no page of the festival is empty."""

from pathlib import Path

for page in sorted(Path().glob("*.txt")):
    if not page.read_text().strip():
        raise SystemExit(f"{page} is empty")
