"""Background commands whose output the user follows: reported once a second, until their end or the next turn."""

from collections.abc import Callable
from dataclasses import dataclass, field

from harness.engine.background.background_command import BackgroundCommand
from harness.engine.background.output import bytes_from, size_of
from harness.engine.conversation import Conversation
from harness.tools.live_output import OutputLines

LOOK_BYTES = 262_144
"""Most bytes that one look reads, and the first one; of more only the last are read."""


@dataclass(slots=True)
class _Followed:
    command: BackgroundCommand
    turn: int
    """Number of the turn when the user asked."""
    read_to: int = 0
    """Byte of its output where the next look begins."""
    lines: OutputLines = field(default_factory=OutputLines)


class FollowedCommands:
    """All followed commands of one session."""

    def __init__(self, conversation: Conversation, mask: Callable[[BackgroundCommand], None]) -> None:
        """`mask` takes known keys out of the output of a command."""
        self._conversation, self._mask = conversation, mask
        self._followed: dict[str, _Followed] = {}

    def toggle(self, command: BackgroundCommand) -> bool:
        """Follow a command, or end that; returns whether it is followed now."""
        if self._followed.pop(command.id, None) is not None:
            return False
        self._followed[command.id] = one = _Followed(command, self._conversation.turn)
        self._report(one)
        return True

    def look(self) -> None:
        """Report new output. A new turn ends following: its entries come below the output."""
        for id, one in tuple(self._followed.items()):
            if one.turn == self._conversation.turn:
                self._report(one)
            else:
                del self._followed[id]

    def close(self, command: BackgroundCommand) -> None:
        """A command has ended."""
        if (one := self._followed.pop(command.id, None)) is not None and one.turn == self._conversation.turn:
            self._report(one)

    def _report(self, one: _Followed) -> None:
        self._mask(one.command)
        start = max(one.read_to, size_of(one.command.output) - LOOK_BYTES)
        if start > one.read_to:
            one.lines.feed(b"\n")  # what is left out may have ended the last line
        try:
            data = bytes_from(one.command.output, start, LOOK_BYTES)
        except OSError:
            return  # it has not begun
        one.read_to = start + len(data)
        one.lines.feed(data)
        if (delta := one.lines.take(one.command.id)) is not None:
            self._conversation.emit(delta)
