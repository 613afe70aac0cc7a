"""Run this chapter alone: `python -m chapters.s17_autonomy`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s17"))
