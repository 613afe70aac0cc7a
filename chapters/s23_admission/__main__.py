"""Run this chapter alone: `python -m chapters.s23_admission`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s23"))
