"""The chapter by itself: `python -m chapters.s23_gate`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s23"))
