"""The Textual app: a conversation on the left, recovery live on the right."""

import os

FRAMES_PER_SECOND = "120"
"""Textual draws a change at the next tick of a clock. Its 60 ticks a second delay a key by up to 17 ms."""

if "TEXTUAL_FPS" not in os.environ:
    os.environ["TEXTUAL_FPS"] = FRAMES_PER_SECOND
    import textual.constants  # noqa: F401 (reads the variable, once)

    del os.environ["TEXTUAL_FPS"]  # not meant for the commands that run in the app
