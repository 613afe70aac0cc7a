"""Run this chapter alone: `python -m chapters.s19_mcp`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s19"))
