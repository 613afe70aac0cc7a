"""Whether the screen can be used, or lines have to do."""

from collections.abc import Iterable, Mapping
from typing import TextIO

DRIVER = "TEXTUAL_DRIVER"
"""Set where something else than a terminal shows the app, such as a browser."""
TRUE = frozenset({"1", "true", "yes", "on"})


def screen_wanted(plain: bool, environ: Mapping[str, str], streams: Iterable[TextIO | None]) -> bool:
    """Whether to draw: on a terminal that can be drawn on, unless lines are asked for.

    Args:
        plain: asked for by a flag.
        environ: `HARNESS_PLAIN` asks for lines too; so do a missing TERM and a dumb one.
        streams: standard input, output and error. Textual draws on standard error (terminal §4), and a screen whose
            keys or pictures go somewhere else helps nobody.
    """
    if plain or environ.get("HARNESS_PLAIN", "").lower() in TRUE:
        return False
    if environ.get(DRIVER):
        return True
    if environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    return all(stream is not None and stream.isatty() for stream in streams)
