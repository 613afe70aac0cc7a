"""The answers that a question offers, for every front end."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible answer."""

    key: str
    """The letter that selects it; its number does, too. Empty: only its number."""
    label: str
    value: str
    asks: str = ""
    """Placeholder of a text field that follows, such as a reason. Empty: none."""
    text: str = ""
    """Initial text of that field."""
    note: str = ""
    """Explanation after the label."""
    lines: tuple[str, ...] = ()
    """Shown below the label, such as the rules that it saves."""
