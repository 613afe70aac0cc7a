"""What the readers of sed, awk and jq share.

They accept a part of each language that every implementation reads alike: GNU, BSD, mawk, busybox. What they do not
accept is not harmless, whatever it means.
"""

import re

TWO_READINGS = re.compile(r"[^\x00-\x7f]\\|\x00|\r")
"""A backslash that is the second half of a character in some encodings of East Asia."""
CLASS = r"\[:[a-z]+:\]"
"""A class of characters inside the brackets of a regular expression."""


class NotHarmless(Exception):  # noqa: N818  it says what the script is
    """The script is not in the part of the language that is understood."""
