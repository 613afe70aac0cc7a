"""Run this chapter alone: `python -m chapters.s09_memory`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s09"))
