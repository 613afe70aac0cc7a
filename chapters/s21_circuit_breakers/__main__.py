"""Run this chapter alone: `python -m chapters.s21_circuit_breakers`."""

from harness.ui.lessons.command import run_alone

raise SystemExit(run_alone("s21"))
