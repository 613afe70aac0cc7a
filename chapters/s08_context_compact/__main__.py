"""The chapter by itself: `python -m chapters.s08_context_compact`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s08"))
