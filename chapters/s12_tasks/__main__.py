"""Run this chapter alone: `python -m chapters.s12_tasks`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s12"))
