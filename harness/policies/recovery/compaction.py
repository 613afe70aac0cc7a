"""When to compact a history, how much to keep, and when to stop (docs/design/recovery.md#compaction-thresholds)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

RESERVE = 20_000
"""Tokens kept for the answer, at most."""
COMPACT_MARGIN = 13_000
BLOCK_MARGIN = 3_000
FULL_WINDOW = 200_000
"""Windows from this size on have the margins above; smaller ones have smaller margins."""
DRAIN_TARGET = 0.8
"""Share of the threshold that a drain must reach. The room above it keeps the next steps from draining again, which
would lose the prompt cache each time."""
TAIL_SHARE = 0.2
"""Share of the history, or of the window if that is smaller, that may stay verbatim behind a summary."""
TAIL_TOKENS = 20_000
"""At most this many tokens, also in a large window."""
SUMMARY_TRIES = 3
"""Requests for one summary that may be refused as too long."""
MIN_GAIN = 0.10
"""A compaction that saves less than this share has failed."""
FAILURES_UNTIL_OFF = 3
REFILL_STEPS = 3
"""An overflow within this many steps of a compaction counts as caused by it."""
REFILLS_UNTIL_THRASH = 3


@dataclass(frozen=True, slots=True)
class CompactAt:
    """The prompt size that triggers compaction, set by the user; by default, a full window does."""

    tokens: int | None = None
    share: float | None = None
    """Of the window."""

    def applied(self, levels: "CompactionThresholds", window: int) -> "CompactionThresholds":
        """The thresholds with this size as `compact`; never above what the window of so many tokens allows."""
        wanted = (self.tokens, None if self.share is None else int(window * self.share))
        return replace(levels, compact=min((levels.compact, *(size for size in wanted if size is not None))))


WHEN_FULL = CompactAt()


@dataclass(frozen=True, slots=True)
class CompactionThresholds:
    """Sizes of the prompt at which something happens, in tokens."""

    usable: int
    """The window less the reserve for the answer."""
    compact: int
    block: int

    @property
    def drained(self) -> int:
        """What a drain before a request has to bring the prompt down to; otherwise there is none."""
        return int(self.compact * DRAIN_TARGET)


def thresholds(window: int, max_output: int) -> CompactionThresholds:
    """The thresholds of a model: at a window of 200,000 these are 180,000, 167,000 and 177,000.

    All margins shrink in proportion below that, so that a small window is still usable.
    """
    scaled = min(window, FULL_WINDOW)
    reserve = min(max_output * FULL_WINDOW, RESERVE * scaled)

    def below(margin: int) -> int:
        return window - (reserve + margin * scaled) // FULL_WINDOW

    return CompactionThresholds(below(0), below(COMPACT_MARGIN), below(BLOCK_MARGIN))


@dataclass(frozen=True, slots=True)
class CompactionHealth:
    """Whether automatic compaction still helps in this session. Frozen; each method gives the next one."""

    failures: int = 0
    """Compactions in a row that failed."""
    last_step: int | None = None
    """Step of the last automatic compaction."""
    refills: int = 0
    """Automatic compactions in a row that came within `REFILL_STEPS` of the one before."""

    @property
    def off(self) -> bool:
        """Three failures in a row: no automatic compaction until one by hand succeeds."""
        return self.failures >= FAILURES_UNTIL_OFF

    def thrashing(self, step: int) -> bool:
        """Three automatic compactions were each followed by an overflow within three steps."""
        return (
            self.last_step is not None
            and step - self.last_step <= REFILL_STEPS
            and self.refills >= REFILLS_UNTIL_THRASH - 1
        )

    def compacting(self, step: int) -> "CompactionHealth":
        """An automatic compaction begins at `step`."""
        soon = self.last_step is not None and step - self.last_step <= REFILL_STEPS
        return replace(self, last_step=step, refills=self.refills + 1 if soon else 0)

    def ended(self, tokens_before: int, tokens_after: int) -> "CompactionHealth":
        """A compaction ended with these sizes. One that saved under 10 % has failed."""
        saved_enough = tokens_after <= tokens_before * (1 - MIN_GAIN)
        return replace(self, failures=0 if saved_enough else self.failures + 1)

    def failed(self) -> "CompactionHealth":
        """No summary came back, and the deterministic cut had to do."""
        return replace(self, failures=self.failures + 1)

    def rearmed(self) -> "CompactionHealth":
        """A compaction by hand succeeded."""
        return CompactionHealth()


def tail_length(sizes: Sequence[int], budget: int) -> int:
    """How many of the last rounds stay verbatim behind a summary.

    Args:
        sizes: tokens of each round, oldest first.
        budget: tokens that may be kept.

    Returns:
        The largest n whose last n rounds fit the budget; at least 1 where there are rounds, because the
        newest one holds what the model has not answered yet.
    """
    kept = total = 0
    for size in reversed(sizes):
        total += size
        if total > budget:
            break
        kept += 1
    return max(kept, min(1, len(sizes)))


def summary_budget(limit: int, refused: int | None, estimated: int, attempt: int) -> int:
    """Tokens, as we estimate them, that the request for a summary may have.

    Args:
        limit: the window in the server's own count.
        refused: the size that the server named when it refused the prompt, in its own count.
        estimated: our estimate of that same prompt; the ratio of the two corrects our estimates.
        attempt: 1 for the first try; each further one aims a fifth lower.
    """
    ratio = estimated / refused if refused else 1.0
    return max(1, int((limit - min(RESERVE, limit // 10)) * min(ratio, 1.0) * 0.8 ** (attempt - 1)))
