"""Run the chapter by itself: `python -m chapters.s01_agent_loop`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s01"))
