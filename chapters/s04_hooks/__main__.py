"""Run this chapter alone: `python -m chapters.s04_hooks`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s04"))
