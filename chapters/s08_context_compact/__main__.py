"""Run this chapter alone: `python -m chapters.s08_context_compact`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s08"))
