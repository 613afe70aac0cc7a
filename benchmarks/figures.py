"""What a benchmark found, and how it is printed."""

from collections.abc import Iterable
from dataclasses import dataclass

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of ours, beside another of the same unit where there is one."""

    name: str
    ours: float
    unit: str
    other: float | None = None
    at_most: float | None = None
    """The bar: ours divided by the other."""
    times_faster: float | None = None
    """The bar: the other divided by ours."""
    limit: float | None = None
    """The bar: ours, in its unit."""
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is met; None where there is none. Of two bars, one is enough."""
        if self.limit is not None and self.ours <= self.limit:
            return True
        if self.other is None or (self.at_most is None and self.times_faster is None):
            return None if self.limit is None else False
        return self._holds_beside(self.other)

    def _holds_beside(self, other: float) -> bool:
        if self.at_most is not None:
            return self.ours <= self.at_most * other
        return self.times_faster is not None and other >= self.times_faster * self.ours

    def __str__(self) -> str:
        other = "" if self.other is None else _number(self.other)
        line = f"  {self.name:44} {_number(self.ours):>9} {other:>9} {self.unit:8} {self._ratio:>12} {self._bar:>10}"
        verdict = {True: "holds", False: "MISSES", None: ""}[self.holds]
        return "  ".join(filter(None, (f"{line}  {verdict}".rstrip(), self.note)))

    @property
    def _ratio(self) -> str:
        if self.other is None or not self.ours or not self.other:
            return ""
        if self.times_faster is not None:
            return f"{self.other / self.ours:,.1f}× faster"
        return f"{self.ours / self.other:.2f}"

    @property
    def _bar(self) -> str:
        if self.times_faster is not None:
            return f"≥ {self.times_faster:g}×"
        bars = [f"≤ {self.limit:g} {self.unit}"] if self.limit is not None else []
        return " or ".join(bars + ([f"≤ {self.at_most:g}×"] if self.at_most is not None else []))


HEADING = f"  {'':44} {'ours':>9} {'other':>9} {'':8} {'ratio':>12} {'bar':>10}"


def show(title: str, found: Iterable["Figure | str"]) -> None:
    """Print one part of the table; a text among the figures is a line of its own."""
    print(f"\n{title}\n{HEADING}")
    for one in found:
        print(one if isinstance(one, Figure) else f"  {one}", flush=True)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
