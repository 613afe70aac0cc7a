"""Run this chapter alone: `python -m chapters.s14_schedule`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s14"))
