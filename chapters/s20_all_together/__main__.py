"""Run this chapter alone: `python -m chapters.s20_all_together`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s20"))
