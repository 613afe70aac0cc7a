"""Run this chapter alone: `python -m chapters.s24_streams`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s24"))
