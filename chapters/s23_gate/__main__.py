"""Run this chapter alone: `python -m chapters.s23_gate`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s23"))
