"""Run the chapter by itself: `python -m chapters.s05_todo_write`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s05"))
