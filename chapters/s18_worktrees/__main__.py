"""Run this chapter alone: `python -m chapters.s18_worktrees`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s18"))
