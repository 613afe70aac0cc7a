"""Run this chapter alone: `python -m chapters.s06_subagent`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s06"))
