"""Sets of names, written as a person reads them."""


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())
