"""Run the chapter by itself: `python -m chapters.s02_tool_use`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s02"))
