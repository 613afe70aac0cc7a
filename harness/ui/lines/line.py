"""A line for the user, and the formats of amounts, outputs and columns in lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from textwrap import wrap

from harness.base.external_text import CUT, counted


class Tone(Enum):
    """How much attention a line deserves."""

    QUIET = "quiet"
    TROUBLE = "trouble"
    """Something failed and is being handled."""
    BAD = "bad"
    """Something failed for good."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line for the user. The text repeats the mark in words, so nothing is lost without it."""

    mark: str
    """One character, or a number in brackets; may be empty."""
    text: str
    tone: Tone = Tone.QUIET

    def __str__(self) -> str:
        return f"{self.mark} {self.text}" if self.mark else self.text


# ── amounts ─────────────────────────────────────────────────────────────────────────────────────

SHORTEST_S = 0.05
"""Seconds; shorter thinking is shown without a duration."""


def seconds(value: float) -> str:
    """A duration: "0.4 s", "12 s", "3 min 20 s"."""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"


def thought(duration_s: float = 0.0, tokens: int = 0) -> str:
    """Thinking in one line: "thought for 12 s · 1.2k tokens"; 0 is unknown and left out."""
    size = f"{tokens} tokens" if tokens < 1_000 else f"{tokens / 1_000:.1f}k tokens"
    return "thought" + f" for {seconds(duration_s)}" * (duration_s >= SHORTEST_S) + f" · {size}" * bool(tokens)


def priced(cost_usd: float, unpriced: int) -> str:
    """The cost of requests: "$1.25"; "cost unknown" or "at least $1.25" if `unpriced` of them have no known price."""
    if not unpriced:
        return dollars(cost_usd)
    return f"at least {dollars(cost_usd)}" if cost_usd else "cost unknown"


def dollars(value: float) -> str:
    """An amount: "$0.0012" below ten cents, "$1.25" above."""
    return f"${value:.2f}" if value >= 0.1 else f"${value:.4f}"


# ── outputs ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class OutputExcerpt:
    """The shown lines of an output, and notes on the rest."""

    lines: Sequence[str]
    """The first lines."""
    notes: Sequence[str]
    """One sentence each; empty if everything is shown."""
    hidden: int = 0
    """Lines between the first and the last ones that are not shown; if there are any, the first note counts them."""
    last: Sequence[str] = ()
    """The last lines, behind the first note."""


def output_excerpt(
    detail: str, most: int, last: int = 0, *, end: str = "", detail_of: int = 0, full_output: str | None = None
) -> OutputExcerpt:
    """The first and the last lines of an output. Those that are shown and those that are hidden are all lines.

    Args:
        detail: the output, or its beginning.
        most: first lines to show at most.
        last: last lines to show at most; where they are not known, so many more of the first ones.
        end: the last lines of the output, where `detail` is only its beginning; empty: unknown.
        detail_of: lines of the whole output; 0: `detail` is all of it.
        full_output: file with the whole output, if the model received only parts of it.
    """
    source = _lines_of(detail)
    total = max(detail_of, len(source))
    ending = _lines_of(end)[len(source) - total :] if total > len(source) else source
    if not ending or len(source) == total <= most + last + 1:
        most, last = most + last + (total == most + last + 1), 0  # instead of a note that there is one more
    lines = source[:most]
    shown = ending[len(ending) - min(last, total - len(lines), len(ending)) :]
    hidden = total - len(lines) - len(shown)
    notes = [counted(hidden, "more line")] if hidden else []
    if full_output:
        notes.append(f"the model was given the beginning and the end; the whole output is in {full_output}")
    return OutputExcerpt(lines, notes, hidden, shown)


def _lines_of(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def whole_text(summary: str, detail: str) -> str:
    """The text of an error: its summary, or the detail where the summary is only its beginning."""
    return detail if summary.endswith(CUT) and detail.startswith(summary.removesuffix(CUT)) else summary


# ── columns ─────────────────────────────────────────────────────────────────────────────────────

Groups = Sequence[tuple[str, Sequence[tuple[str, str]]]]
"""Titles, and below each its rows: a name and its meaning."""
NARROW = 56
"""Columns below which a meaning has a line of its own."""
INDENT, GAP = 2, 2
WIDTH = 100
"""Columns where there is no terminal."""


def laid_out(groups: Groups, width: int) -> Iterator[tuple[str, str]]:
    """Lines of at most `width` columns, each in two parts: the title or name, and the rest."""
    names = max((len(name) for _, rows in groups for name, _ in rows), default=0)
    column = 2 * INDENT if width < NARROW else INDENT + names + GAP
    for number, (title, rows) in enumerate(groups):
        if number:
            yield "", ""
        yield title, ""
        for name, meaning in rows:
            first = " " * INDENT + name
            lines = wrap(meaning, max(1, width - column)) or [""]
            if width >= NARROW:
                yield first.ljust(column), lines.pop(0)
            else:
                yield first, ""
            for line in lines:
                yield " " * column, line


def in_columns(groups: Groups, width: int = WIDTH) -> str:
    """The same as one text."""
    return "\n".join(name + text for name, text in laid_out(groups, width))
