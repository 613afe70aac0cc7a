"""The chapter by itself: `python -m chapters.s11_error_recovery`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s11"))
