"""The chapter by itself: `python -m chapters.s21_circuit_breakers`."""

from harness.ui.lessons.alone import run_alone

raise SystemExit(run_alone("s21"))
