"""The chapter by itself: `python -m chapters.s22_escape`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s22"))
