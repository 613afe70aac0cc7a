"""The output of a reply: how many tokens a request asks for, and how the pieces of an answer are joined.

Thinking is part of the output. A model that thinks is asked for its maximum from the first request on: a cap is neither
in the key of the prompt cache nor in the rate limit. One that does not think starts at 8,000, and a cut reply raises
that for the rest of the session (docs/design/recovery.md#output-cap).

A model that continues a cut answer sometimes starts again, or repeats its last words. `repeated` measures how much of
the new piece is repeated; `Continuation` finds it while the piece arrives, before any of it is shown
(docs/design/recovery.md#joined-answers).
"""

from dataclasses import replace

from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState

MARGIN = 1_000
"""Tokens kept free between prompt, answer and window, because the size of the prompt is an estimate."""
LOWERINGS = 2
"""A cap can exceed two limits, the model's maximum and the window; the request is not repaired a third time."""
FLOOR = 3_000
"""Below this an answer is not worth asking for; the history is shortened instead
(docs/design/recovery.md#output-cap-too-large)."""
SUMMARY_CAP = 16_000
"""First output cap of a summary, also if the user wants shorter replies."""


def cap_for(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request, in tokens: the wanted cap, at most the model's maximum and the room in the
    window, at least 1."""
    wanted = state.lowered_cap or wanted_cap(state, limits, situation)
    return max(1, min(wanted, situation.max_output, max(room(situation), FLOOR)))


def wanted_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The cap if the window had room: the user's own, else the maximum of a model that thinks, else a raised one, else
    the default."""
    if limits.user_cap is not None:
        return limits.user_cap
    if situation.thinks:
        return situation.max_output
    return state.raises.get(state.model, limits.default_cap)


def full_window(state: TurnState, limits: RecoveryLimits, situation: Situation) -> bool:
    """Whether the window sets the cap, and not the wanted cap or the model's maximum."""
    wanted = min(wanted_cap(state, limits, situation), situation.max_output)
    return cap_for(replace(state, lowered_cap=None), limits, situation) < wanted


def room(situation: Situation) -> int:
    """Tokens that the prompt leaves free in the window, less the margin."""
    return situation.window - situation.prompt_tokens - MARGIN


def raised(state: TurnState, limits: RecoveryLimits, situation: Situation, *, to_maximum: bool = False) -> int | None:
    """The larger cap after a cut reply; None: there is none.

    None if the user set the cap, the server refused a larger one, or the model's maximum or the window leaves no more
    room: the same cap is never requested twice for the same history.

    Args:
        to_maximum: nothing of the reply could be kept, so ask for the maximum.
    """
    if limits.user_cap is not None or state.lowered_cap is not None:
        return None
    larger = situation.max_output if to_maximum else min(limits.raised_cap, situation.max_output)
    current = cap_for(state, limits, situation)
    return larger if cap_for(state.raised_to(larger), limits, situation) > current else None


def summary_limits(limits: RecoveryLimits) -> RecoveryLimits:
    """The limits of a request for a summary: the same rules with a larger first cap."""
    if limits.user_cap is not None:
        return replace(limits, user_cap=max(SUMMARY_CAP, limits.user_cap))
    return replace(limits, default_cap=max(SUMMARY_CAP, limits.default_cap))


def summary_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request for a summary, in tokens."""
    return cap_for(replace(state, lowered_cap=None), summary_limits(limits), situation)


def lowered(current: int, input_tokens: int | None, limit: int | None) -> int | None:
    """The smaller cap after a 400 about max_tokens; None: shrinking cannot help.

    Args:
        current: the cap that was refused.
        input_tokens: the size of the prompt, if the error names it ("188059 + 20000 > 200000").
        limit: the window in that form, or the model's maximum ("128001 > 128000").
    """
    if limit is None:
        return None
    smaller = limit if input_tokens is None else limit - input_tokens - MARGIN
    return smaller if (FLOOR if input_tokens is not None else 1) <= smaller < current else None


MIN_OVERLAP = 20
"""Shorter overlaps of the end of one piece and the start of the next are taken as chance."""
MIN_VARIETY = 6
"""So are overlaps of fewer different characters, such as a rule in a table."""


def repeated(kept: str, more: str, *, broke_off: bool = False) -> int:
    """Characters at the beginning of `more` that repeat `kept`, so that `kept + more[n:]` is the whole text.

    A piece that starts with all of `kept` starts again; one that starts with its last words (at least `MIN_OVERLAP`
    characters) overlaps. `broke_off`: `kept` ended between two blocks because the connection broke; then a piece that
    starts with all of it does not do so by chance, however short it is.
    """
    said, lead = kept.strip(), len(more) - len(more.lstrip())
    if said and more.startswith(said, lead) and (broke_off or _more_than_chance(said) or more.strip() == said):
        behind = lead + len(said)
        return behind + _common(kept[len(kept.rstrip()) :], more[behind:])
    return overlap(kept, more)


class Continuation:
    """The rest of an answer as it arrives: returns new text as soon as it is known to be new."""

    def __init__(self, kept: str, *, broke_off: bool = False) -> None:
        self._kept = kept
        self._stripped = kept.lstrip()
        self._broke_off = broke_off
        self._held: list[str] = []
        """Text that may still turn out to be a repetition."""
        self._length = 0
        self._where, self._at = kept, 0
        """A text, and the place in it where all that is held stands."""
        self._decided = not kept
        self.repeated = 0
        """Characters at the beginning of the piece that were repeated."""

    def add(self, text: str) -> str:
        """Add text; returns the part to show."""
        if self._decided:
            return text
        follows = self._where.startswith(text, self._at + self._length)
        self._held.append(text)
        self._length += len(text)
        return "" if follows or self._found() else self._decide()

    def end(self, *, whole: bool) -> str:
        """End the piece; returns the rest to show. `whole`: it did not break off, so an incomplete repetition counts as
        new."""
        if self._decided:
            return ""
        if whole:
            return self._decide()
        self._decided, self.repeated = True, self._length
        return ""

    def _found(self) -> bool:
        """Whether the held text occurs elsewhere in `kept`, or at its beginning apart from blanks."""
        held = "".join(self._held)
        begin = held.lstrip()
        if (at := self._kept.find(held)) >= 0:
            self._where, self._at = self._kept, at
        elif self._stripped.startswith(begin):
            self._where, self._at = self._stripped, len(begin) - len(held)
        else:
            return False
        return True

    def _decide(self) -> str:
        held, self._decided = "".join(self._held), True
        self.repeated = repeated(self._kept, held, broke_off=self._broke_off)
        return held[self.repeated :]


def overlap(kept: str, more: str) -> int:
    """Length of the longest suffix of `kept` that `more` starts with; 0: it may be chance.

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


def _common(one: str, other: str) -> int:
    """Length of the longest common beginning."""
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def _more_than_chance(agreement: str) -> bool:
    return len(agreement) >= MIN_OVERLAP and len(set(agreement)) >= MIN_VARIETY
