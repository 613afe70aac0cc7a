"""What the model reads of what hooks say. The hooks are the person's; what they quote may be anybody's."""

import re
from collections.abc import Iterable

_TAG = re.compile(r"<(?=\s*/?\s*hook\b)", re.IGNORECASE)

STOPPED_RESULT = "Not run: a hook of the person ended the turn before this call started."
STOPPED_NOTE = "(A hook of the person ended the turn here. If they ask you to go on, begin with what it did not like.)"


def added(said: Iterable[tuple[str, str]]) -> str:
    """What hooks add to a prompt or a result, each text in a tag with the name of its hook; "" for none.

    None of the texts can close its tag or open another.
    """
    return "\n\n".join(_fenced(name, text) for name, text in said)


def blocked(reason: str) -> str:
    """The result of a call that a hook did not let through."""
    return f"A hook of the person blocked this call: {reason}. Do not try to reach it another way."


def objected(reason: str) -> str:
    """What follows a result that a hook has something against."""
    return f"A hook of the person has something against this result: {reason}"


def objection(reason: str) -> str:
    """Sends the model back to work, because a stop hook does not let the turn end yet."""
    return (
        "The turn does not end yet: a check that the person has set up objects. Do what it asks for, or say why that "
        f"cannot be done.\n\n{reason}"
    )


def _fenced(name: str, text: str) -> str:
    quoted = name.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return f'<hook name="{quoted}">\n{_TAG.sub("&lt;", text.strip())}\n</hook>'
