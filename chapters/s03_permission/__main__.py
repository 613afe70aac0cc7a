"""Run the chapter by itself: `python -m chapters.s03_permission`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s03"))
