"""The chapter by itself: `python -m chapters.s22_escape`."""

from harness.ui.learning.alone import run_alone

raise SystemExit(run_alone("s22"))
