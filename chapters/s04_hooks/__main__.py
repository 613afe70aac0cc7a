"""Run this chapter alone: `python -m chapters.s04_hooks`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s04"))
