"""One text out of an answer that came in pieces."""

MIN_OVERLAP = 20
"""Shorter agreements between the end of one piece and the start of the next are taken for chance."""
MIN_VARIETY = 6
"""So are those of fewer different characters: a rule in a table, a row of blanks."""


def joined(kept: str, more: str) -> str:
    """`kept` followed by `more`, with nothing twice (recovery D2).

    A model that was asked to go on sometimes starts again, or repeats its last words first. A piece
    that begins with everything kept so far replaces it; one that begins with the kept text's last
    words (at least `MIN_OVERLAP` characters) is joined there.
    """
    if not kept or not more:
        return kept or more
    said, lead = kept.strip(), len(more) - len(more.lstrip())
    if _more_than_chance(said) and more.startswith(said, lead):
        return kept[: len(kept) - len(kept.lstrip())] + more[lead:]
    return kept + more[overlap(kept, more) :]


def overlap(kept: str, more: str) -> int:
    """Length of the longest suffix of `kept` that `more` begins with; 0 when it may be chance.

    Linear: the prefix function of `more`, then the end of `kept` run through it.
    """
    pattern = more[: len(kept)]
    failure = [0] * len(pattern)
    length = 0
    for i in range(1, len(pattern)):
        while length and pattern[i] != pattern[length]:
            length = failure[length - 1]
        length += pattern[i] == pattern[length]
        failure[i] = length
    length = 0
    for char in kept[-len(pattern) :] if pattern else "":
        while length and (length == len(pattern) or char != pattern[length]):
            length = failure[length - 1]
        length += char == pattern[length]
    return length if _more_than_chance(more[:length]) else 0


def _more_than_chance(agreement: str) -> bool:
    return len(agreement) >= MIN_OVERLAP and len(set(agreement)) >= MIN_VARIETY
