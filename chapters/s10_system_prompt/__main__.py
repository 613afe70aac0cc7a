"""Run this chapter alone: `python -m chapters.s10_system_prompt`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s10"))
