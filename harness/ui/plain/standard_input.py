"""The prompt of a headless run: what stands after -p, what is piped in, or both."""

import os
import select
import stat
from typing import TextIO

from harness.base.errors import SettingsError

PATIENCE_S = 3.0
"""Seconds of an open pipe without data after which a person is told what is waited for."""


def prompt_from(given: str, source: TextIO, err: TextIO) -> str:
    """The prompt; piped text comes after the given one. Raises SettingsError when there is neither."""
    piped = _piped(source, err)
    prompt = "\n\n".join(part for part in (given, piped.strip("\n")) if part.strip())
    if not prompt:
        raise SettingsError('There is no prompt; give one in quotes, as in harness -p "what is here?", or pipe it in.')
    return prompt


def _piped(source: TextIO, err: TextIO) -> str:
    try:
        descriptor = source.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):  # closed, or none at all
        return ""
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        if not select.select([descriptor], [], [], PATIENCE_S)[0]:
            print("waiting for the end of standard input; `< /dev/null` goes without it", file=err)
    elif not stat.S_ISREG(kind):
        return ""
    return source.buffer.read().decode("utf-8", "replace")
