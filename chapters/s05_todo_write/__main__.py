"""Run this chapter alone: `python -m chapters.s05_todo_write`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s05"))
