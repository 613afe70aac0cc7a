"""The name under which a memory is kept, which is that of its file: no name leads out of its folder."""

import re
import unicodedata

LONGEST_NAME = 60
"""Characters."""
MOST_NAME_BYTES = 150
"""In UTF-8: with an ending and a number before it, it has to fit into the 255 bytes that file systems allow."""

COMMAND_WORDS = frozenset({"edit", "forget", "undo"})
"""What /memory takes for a command."""
DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{port}{number}" for port in ("com", "lpt") for number in range(10)}
)
"""Names that are no files on Windows, whatever their ending."""


def slug(name: str) -> str:
    """Letters and digits of any writing in small letters, with single hyphens between; "" where nothing is left.

    `slug(slug(name)) == slug(name)`, and names that differ only in case, spaces or signs are one.
    """
    # Making letters small can bring new compositions, so that both are done until nothing changes any more.
    plain = name
    for _ in range(4):
        plain = unicodedata.normalize("NFKC", plain).casefold()
    kept = "".join(one if one.isalnum() or unicodedata.category(one)[0] == "M" else "-" for one in plain)
    words = re.sub("-+", "-", kept).strip("-")[:LONGEST_NAME]
    while len(words.encode("utf-8", "replace")) > MOST_NAME_BYTES:
        words = words[:-1]
    return words.strip("-")


def refusal(name: str) -> str:
    """Why nothing can be kept under this slug, as a whole sentence; "" where it can."""
    if not name:
        return "A name needs a letter or a digit."
    if name in COMMAND_WORDS or name in DEVICES:
        return f"The name {name} is reserved; choose another one."
    return ""
