"""What the practice model answers, entry by entry: the form (SCRIPTS.md), its reader, and its playback."""

from harness.practice.script.script import Script

__all__ = ["Script"]
