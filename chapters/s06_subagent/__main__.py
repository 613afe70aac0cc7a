"""Run this chapter alone: `python -m chapters.s06_subagent`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s06"))
