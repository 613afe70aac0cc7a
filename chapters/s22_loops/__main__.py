"""Run this chapter alone: `python -m chapters.s22_loops`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s22"))
