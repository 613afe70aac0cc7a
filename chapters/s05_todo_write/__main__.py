"""Run this chapter alone: `python -m chapters.s05_todo_write`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s05"))
