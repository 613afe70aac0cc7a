"""Run this chapter alone: `python -m chapters.s11_error_recovery`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s11"))
