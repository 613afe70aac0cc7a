"""Run this chapter alone: `python -m chapters.s02_tool_use`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s02"))
