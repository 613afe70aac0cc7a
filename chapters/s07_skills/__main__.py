"""The chapter by itself: `python -m chapters.s07_skills`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s07"))
