"""Run this chapter alone: `python -m chapters.s25_journal`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s25"))
