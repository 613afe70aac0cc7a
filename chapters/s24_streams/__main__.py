"""Run this chapter alone: `python -m chapters.s24_streams`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s24"))
