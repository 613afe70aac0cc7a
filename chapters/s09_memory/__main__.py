"""Run this chapter alone: `python -m chapters.s09_memory`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s09"))
