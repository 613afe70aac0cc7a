"""Run this chapter alone: `python -m chapters.s07_skills`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s07"))
