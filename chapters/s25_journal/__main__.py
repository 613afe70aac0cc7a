"""Run this chapter alone: `python -m chapters.s25_journal`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s25"))
