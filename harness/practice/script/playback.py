"""Which entry of a script answers which request.

A script is played against a client that we do not control: it may ask for a summary in between, or try
a fault again more often than expected. Four rules keep a script robust.

1. An entry with `when` waits aside. Each request goes first to the entries aside, in the order of the
   file, and the first that fits and is not used up answers. No entry of the list is used.
2. A request for a summary that no entry aside takes is answered by the model behind. It uses no entry.
3. A fault thrown in by chance uses no entry either: the entry is there for the next request.
4. So it is with an entry whose reply was cut because it needs more tokens than the request allows.
"""

from collections.abc import Sequence

from harness.events import Json
from harness.practice.faults.model_faults import Fault, StatusFault
from harness.practice.requests import Purpose, purpose
from harness.practice.rule_model.reply_form import is_cut
from harness.practice.script.entries import PlayReply, ScriptEntry
from harness.practice.script.script import After, Script
from harness.practice.wire.replies import ApiError


class Playback:
    """Plays a script once."""

    def __init__(self, script: Script) -> None:
        self.script = script
        numbered = [_Counted(step, number) for number, step in enumerate(script.steps, 1)]
        self._aside = [entry for entry in numbered if entry.step.when is not None]
        self._list: Sequence[_Counted] = [entry for entry in numbered if entry.step.when is None]
        self._position = 0
        self._current = self._counted()
        self._chance = script.chance
        self.last: tuple[int, int] | None = None
        """Number of the entry that answered the last request, from 1, and of all entries; None: no entry did."""
        self._dice = script.chance.dice() if script.chance else None

    def next(self, body: Json) -> PlayReply | StatusFault | ApiError:
        """What answers this request. An ApiError means that the script is used up and says so."""
        self.last = None
        match self._thrown(body):
            case None:
                return self._take(body)
            case StatusFault() as fault:
                return fault
            case fault:
                reply = self.coming(body)
                return (
                    PlayReply(reply.reply, fault)
                    if isinstance(reply, PlayReply) and reply.fault is None
                    else self._take(body)
                )

    def _thrown(self, body: Json) -> Fault | None:
        """The fault that chance throws in; a request that it is not for does not move the dice."""
        if self._dice is None or self._chance is None:
            return None
        when = self._chance.when
        return self._dice.throw() if when is None or when.fits(body) else None

    def _take(self, body: Json) -> PlayReply | StatusFault | ApiError:
        entry = self._entry(body)
        if entry is None:
            return self._nothing_left()
        action = entry.step.action
        self.last = (entry.number, len(self.script.steps)) if entry.number else None
        if (
            isinstance(action, PlayReply)
            and action.reply is not None
            and is_cut(action.reply, self.script.rules.profile, body)
        ):
            return action  # asked for again with a larger cap, or for the rest of it, this entry answers again
        entry.use()
        if entry is self._current and entry.used_up:
            self._advance()
        return entry.step.action

    def coming(self, body: Json) -> PlayReply | StatusFault | ApiError:
        """What would answer this request, chance left aside; nothing is used up by asking."""
        entry = self._entry(body)
        return entry.step.action if entry is not None else self._nothing_left()

    def _entry(self, body: Json) -> "_Counted | None":
        for entry in self._aside:
            if not entry.used_up and entry.step.when is not None and entry.step.when.fits(body):
                return entry
        if purpose(body) is Purpose.SUMMARY:
            return _Counted(ScriptEntry(PlayReply()), 0)
        return self._current

    def _advance(self) -> None:
        self._position += 1
        if self._position == len(self._list) and self.script.after is After.REPEAT:
            self._position = 0
        self._current = self._counted()

    def _counted(self) -> "_Counted | None":
        return self._list[self._position].fresh() if self._position < len(self._list) else None

    def _nothing_left(self) -> PlayReply | ApiError:
        if self.script.after is After.IMPROVISE:
            return PlayReply()
        count = len(self._list)
        played = "its one entry is" if count == 1 else f"all {count} entries are"
        return ApiError(400, f'{self.script.name}: {played} played; add one, or set after = "repeat".')


class _Counted:
    """An entry and how often it has answered."""

    def __init__(self, step: ScriptEntry, number: int) -> None:
        """`number` is its place in the file, from 1; 0: it is not of the file."""
        self.step = step
        self.number = number
        self._used = 0

    @property
    def used_up(self) -> bool:
        return self.step.times is not None and self._used >= self.step.times

    def fresh(self) -> "_Counted":
        """The same entry, not used yet."""
        return _Counted(self.step, self.number)

    def use(self) -> None:
        self._used += 1
