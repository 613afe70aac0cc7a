"""Run this chapter alone: `python -m chapters.s03_permission`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s03"))
