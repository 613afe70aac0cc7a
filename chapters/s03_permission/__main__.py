"""Run this chapter alone: `python -m chapters.s03_permission`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s03"))
