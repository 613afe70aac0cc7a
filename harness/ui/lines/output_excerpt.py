"""How much of an output is shown, and what is said of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """The lines to show, and below them what is said."""

    lines: Sequence[str]
    notes: Sequence[str]
    """One sentence each; empty when everything is shown."""


def shown_output(detail: str, most: int, *, detail_of: int = 0, full_output: str | None = None) -> ShownOutput:
    """The first lines of an output.

    Args:
        detail: the output, or its beginning.
        most: lines to show at most.
        detail_of: lines of the whole output; 0: `detail` is all of it.
        full_output: file with the whole output, where the model was not given all of it.
    """
    source = detail.removesuffix("\n").split("\n") if detail else []
    lines = source[:most]
    left = max(detail_of, len(source)) - len(lines)
    notes = [f"{left:,} more line{'' if left == 1 else 's'}"] if left else []
    if full_output:
        notes.append(f"the model was given the beginning and the end; the whole output is in {full_output}")
    return ShownOutput(lines, notes)
