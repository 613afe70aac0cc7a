"""Run this chapter alone: `python -m chapters.s16_protocols`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s16"))
