"""The chapter by itself: `python -m chapters.s09_memory`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s09"))
