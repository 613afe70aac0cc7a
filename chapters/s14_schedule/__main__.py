"""Run this chapter alone: `python -m chapters.s14_schedule`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s14"))
