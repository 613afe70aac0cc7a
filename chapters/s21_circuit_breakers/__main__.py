"""Run this chapter alone: `python -m chapters.s21_circuit_breakers`."""

from chapters.course.learn import run_alone

raise SystemExit(run_alone("s21"))
