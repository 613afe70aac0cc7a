"""Standard output, as programs read it."""

from typing import TextIO

from harness.base.errors import HarnessError


def write_line(text: str, out: TextIO) -> None:
    """Write text with a newline at its end, at once.

    Raises BrokenPipeError when nobody reads any more, HarnessError when the output cannot take it.
    """
    try:
        out.write(text if text.endswith("\n") else text + "\n")
        out.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = f"Standard output cannot be written: {error.strerror}; `harness export latest` shows what was said."
        raise HarnessError(reason) from error
