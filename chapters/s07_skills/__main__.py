"""Run this chapter alone: `python -m chapters.s07_skills`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s07"))
