"""Run this chapter alone: `python -m chapters.s15_teams`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s15"))
