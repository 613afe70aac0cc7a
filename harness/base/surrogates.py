"""Text from outside, made fit to be kept and sent."""

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sendable(text: str) -> str:
    """`text` with each lone surrogate, which JSON and the SDK cannot carry, replaced by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)
