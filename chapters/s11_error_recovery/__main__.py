"""Run this chapter alone: `python -m chapters.s11_error_recovery`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s11"))
