"""The chapter by itself: `python -m chapters.s10_system_prompt`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s10"))
