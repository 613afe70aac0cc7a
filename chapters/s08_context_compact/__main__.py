"""Run this chapter alone: `python -m chapters.s08_context_compact`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s08"))
