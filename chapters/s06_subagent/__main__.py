"""The chapter by itself: `python -m chapters.s06_subagent`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s06"))
