"""When models end, and the sentence that says so in time.

The models endpoint says it for the models it lists (`retires_at`, `lifecycle`). The table below is for the time before
it was asked; its dates are those of the SDK (`DEPRECATED_MODELS` of 2.12), which has them from
https://platform.claude.com/docs/en/about-claude/model-deprecations.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

NEAR_DAYS = 60
"""Days before its end from which on a model is warned about."""
RETIRES: Mapping[str, date] = {
    "claude-3-opus": date(2026, 1, 5),
    "claude-3-7-sonnet": date(2026, 2, 19),
    "claude-3-5-haiku": date(2026, 2, 19),
    "claude-opus-4": date(2026, 6, 15),
    "claude-opus-4-0": date(2026, 6, 15),
    "claude-sonnet-4": date(2026, 6, 15),
    "claude-sonnet-4-0": date(2026, 6, 15),
    "claude-mythos-preview": date(2026, 6, 30),
    "claude-sonnet-4-5": date(2026, 11, 30),
}
"""By the plain name of a model."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """The end of a model."""

    on: date
    retired: bool = False
    """Requests to it fail already. A date in the past alone does not say so: an end may be late."""


def retirement_in(entry: Mapping[str, object]) -> Retirement | None:
    """The end that an entry of the models endpoint names; None where it names none."""
    at = entry.get("retires_at")
    if not isinstance(at, str):
        return None
    try:
        on = datetime.fromisoformat(at).date()
    except ValueError:
        return None
    return Retirement(on, entry.get("lifecycle") == "retired")


def warning(model: str, retirement: Retirement | None, now: float, successor: str | None) -> str | None:
    """The sentence about a model that ends soon or has ended; None while there is time.

    Args:
        now: Unix time in seconds.
        successor: the model to take instead, where one is known.
    """
    if retirement is None:
        return None
    days = (retirement.on - datetime.fromtimestamp(now, UTC).date()).days
    if retirement.retired:
        what = f"was retired on {retirement.on}, and requests to it fail"
    elif days < 0:
        what = f"was to be retired on {retirement.on} and may stop at any time"
    elif days > NEAR_DAYS:
        return None
    else:
        what = f"will be retired on {retirement.on}, {_in_days(days)}"
    return f"{model} {what}; " + (f"use -m {successor}." if successor else "choose another model with -m.")


def _in_days(days: int) -> str:
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
