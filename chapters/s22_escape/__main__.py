"""Run this chapter alone: `python -m chapters.s22_escape`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s22"))
