"""Sets of names, written as one text."""


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
