"""Run the chapter by itself: `python -m chapters.s04_hooks`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s04"))
