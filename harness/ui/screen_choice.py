"""The choice between the screen and plain lines."""

from collections.abc import Iterable, Mapping
from typing import TextIO

DRIVER = "TEXTUAL_DRIVER"
"""Set if the app is not shown on a terminal, such as in a browser."""
TRUE = frozenset({"1", "true", "yes", "on"})


def screen_wanted(plain: bool, environ: Mapping[str, str], streams: Iterable[TextIO | None]) -> bool:
    """Whether to use the screen.

    Args:
        plain: the setting or flag `plain`.
        environ: `HARNESS_PLAIN`, and a missing or dumb `TERM`, choose plain lines.
        streams: standard input, output and error; all must be terminals. Textual draws on standard error.
    """
    if plain or environ.get("HARNESS_PLAIN", "").lower() in TRUE:
        return False
    if environ.get(DRIVER):
        return True
    if environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    return all(stream is not None and stream.isatty() for stream in streams)
