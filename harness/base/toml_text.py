"""TOML that somebody else may have written, read in a time that grows with its length."""

import re
import tomllib
from typing import Any

MOST_PARTS = 64
"""Of a dotted key. `tomllib` takes the square of their number: minutes for a key of 50,000."""
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
_LONG_KEY = re.compile(rf"(?:^|[{{,])[ \t\[]*+(?:{_PART}){{{MOST_PARTS}}}", re.MULTILINE)


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises what `tomllib.loads` does, TOMLDecodeError also for a key of too many parts."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.end()) + 1
        raise tomllib.TOMLDecodeError(f"A key has more than {MOST_PARTS} parts (at line {line}, column 1)")
    return tomllib.loads(text)
