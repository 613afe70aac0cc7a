"""Run this chapter alone: `python -m chapters.s12_tasks`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s12"))
