"""The rules of shared slots in the plainest form that can be written down: every question walks over everything."""

from dataclasses import dataclass


@dataclass
class Row:
    """One claim, from when it came until it is gone."""

    id: str
    owner: int
    lease: float
    heard: float
    runs: bool = False


class Oracle:
    """A line of people and a number of chairs."""

    def __init__(self) -> None:
        self.line: list[Row] = []
        self.dead: set[int] = set()

    def live(self, now: float) -> list[Row]:
        """Those that are there for whoever looks now."""
        return [row for row in self.line if row.owner not in self.dead and row.heard + row.lease > now]

    def ask(self, id: str, owner: int, lease: float, limit: int, now: float) -> bool:
        """Whether it sits after that."""
        self.line = self.live(now)
        for row in self.line:
            row.heard = min(row.heard, now)
        if id not in [row.id for row in self.line]:
            self.line.append(Row(id, owner, lease, now))
        taken = 0
        for row in self.line:
            if row.id == id:
                row.heard = now
                break
            taken += 1  # it sits, or a chair is kept for it
        taken += sum(other.runs for other in self.line[self.line.index(row) + 1 :])
        row.runs = row.runs or taken < limit
        return row.runs

    def renew(self, ids: list[str], now: float) -> set[str]:
        """Those whose lease begins anew."""
        for row in self.line:
            if row.id in ids:
                row.heard = now
        return {row.id for row in self.line} & set(ids)

    def release(self, id: str) -> None:
        """Somebody goes."""
        self.line = [row for row in self.line if row.id != id]
