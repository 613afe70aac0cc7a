"""A store that sessions share, and that may be away: it is asked again only after a pause, and said once."""

import math

AGAIN_S = 5.0
"""Pause after a failed attempt, in seconds: a store that is away delays little of what could share."""

ALONE = "For now limits and breakers count this session alone."
TOGETHER = "Limits and breakers count all sessions again."


class StorePause:
    """Whether a store is away, by what the attempts to use it have led to."""

    def __init__(self) -> None:
        self._away = False
        self._again = -math.inf

    def lasts(self, now: float) -> bool:
        """The store is not asked yet."""
        return now < self._again

    def failed(self, now: float) -> bool:
        """An attempt failed. True: the first one, so it is to be said."""
        first, self._away, self._again = not self._away, True, now + AGAIN_S
        return first

    def answered(self) -> bool:
        """An attempt succeeded. True: the store was away until now."""
        was_away, self._away, self._again = self._away, False, -math.inf
        return was_away
