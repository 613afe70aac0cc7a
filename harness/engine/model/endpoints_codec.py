"""What sessions tell each other about the endpoints of models, as one small text."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pydantic import TypeAdapter, ValidationError

from harness.policies.breakers.breaker import OPEN, Breaker

BELIEVED_S = 600.0
"""What a session wrote longer ago than this says nothing about the endpoint now."""


@dataclass(frozen=True, slots=True)
class Told:
    """One breaker, and the Unix time at which it was moved."""

    at: float
    breaker: Breaker


_TEXT = TypeAdapter(dict[str, Told])


def read(text: str | None, now: float) -> dict[str, Told]:
    """What stands there and may still be believed, by model. A text that nobody of us has written says nothing."""
    try:
        told = _TEXT.validate_json(text or "{}")
    except ValidationError:
        return {}
    return {model: one for model, one in told.items() if abs(now - one.at) <= BELIEVED_S and _possible(one.breaker)}


def written(text: str | None, own: Mapping[str, Breaker], now: float) -> str:
    """The text with these breakers in it, moved now; what is too old is gone."""
    told = read(text, now) | {model: Told(now, breaker) for model, breaker in own.items()}
    return json.dumps({model: asdict(one) for model, one in told.items()})


def _possible(breaker: Breaker) -> bool:
    """A model is never isolated, so that every open breaker says when it may be tried."""
    counted = min(breaker.failures, breaker.generation, breaker.openings) >= 0
    timed = math.isfinite(breaker.opened) and math.isfinite(breaker.due or 0.0) and not math.isnan(breaker.lease_until)
    return counted and timed and (breaker.due is not None) == (breaker.state is OPEN)
