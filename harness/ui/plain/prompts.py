"""Where prompts come from when no turn runs: a person at a terminal, or a pipe."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TextIO

from harness.base.regular_file import open_regular
from harness.ui.plain.plain import Plain

SIGN = "> "
MORE = "… "
REMEMBERED = 1_000
"""Lines of history that are kept."""


class Prompts(Protocol):
    """Gives one prompt after the other."""

    def read(self, begun: str = "") -> str:
        """The next prompt, lines that end with a backslash joined to what follows.

        `begun` was typed already and is its beginning. Raises EOFError at the end of input and KeyboardInterrupt on
        Ctrl-C.
        """
        ...


class TypedPrompts:
    """Prompts typed at a terminal, with line editing and a history where the terminal can do that."""

    def __init__(self, history: Path, *, editing: bool) -> None:
        """`editing` False: the terminal is dumb, and only its own line mode is used."""
        self._history = history
        self._editing = editing and _readline(history)

    def read(self, begun: str = "") -> str:
        """The next prompt; see `Prompts`."""
        if begun and self._editing:
            _begin_with(begun)
            begun = ""
        prompt = begun + joined(input)
        if self._editing:
            _remember(self._history)
        return prompt


class PipedPrompts:
    """Prompts from a pipe or a file, one a line; each is shown, so that what is printed reads as a conversation."""

    def __init__(self, source: TextIO, plain: Plain) -> None:
        self._source = source
        self._plain = plain

    def read(self, begun: str = "") -> str:
        """The next prompt; see `Prompts`."""
        return begun + joined(self._line)

    def _line(self, sign: str) -> str:
        line = self._source.readline()
        if not line:
            raise EOFError
        line = line.removesuffix("\n")
        if line.strip():
            self._plain.say(sign + line)
        return line


def joined(read: Callable[[str], str]) -> str:
    """Lines from `read` until one does not end with a backslash. Raises EOFError when there is none at all."""
    line = read(SIGN)
    while line.endswith("\\"):
        try:
            line = line[:-1] + "\n" + read(MORE)
        except EOFError:
            return line[:-1]
    return line


def _readline(history: Path) -> bool:
    try:
        import readline
    except ImportError:  # not part of every Python
        return False
    readline.set_history_length(REMEMBERED)
    with suppress(OSError), open_regular(history):  # none yet, or not readable: editing works without
        readline.read_history_file(history)
    return True


def _begin_with(text: str) -> None:
    """Let the next line that is edited begin with this."""
    import readline

    def insert() -> None:
        readline.insert_text(text)
        readline.set_startup_hook()

    readline.set_startup_hook(insert)


def _remember(history: Path) -> None:
    import readline

    with suppress(OSError):  # a history that cannot be kept is no reason to stop
        history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        history.touch(mode=0o600)
        readline.write_history_file(history)
