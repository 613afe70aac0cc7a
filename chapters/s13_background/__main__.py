"""Run this chapter alone: `python -m chapters.s13_background`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s13"))
