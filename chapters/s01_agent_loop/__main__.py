"""Run this chapter alone: `python -m chapters.s01_agent_loop`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s01"))
