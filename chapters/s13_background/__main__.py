"""Run this chapter alone: `python -m chapters.s13_background`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s13"))
