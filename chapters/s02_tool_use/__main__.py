"""Run this chapter alone: `python -m chapters.s02_tool_use`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s02"))
