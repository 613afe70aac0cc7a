"""The list of completions while somebody types: when it is open, and what is taken from it."""

from harness.ui.app.candidate_list import CandidateList
from harness.ui.app.completion import Completer, Completion


class Completing:
    """A completer and the list that shows what it finds.

    A list that the person closed stays closed for the word it was about.
    """

    def __init__(self, completer: Completer, shown: CandidateList) -> None:
        self._completer = completer
        self._list = shown
        self._completion: Completion | None = None
        self._dismissed: int | None = None
        self._wanted = False

    @property
    def open(self) -> bool:
        """Whether there is a list to take something from."""
        return self._completion is not None

    def look(self, text: str, cursor: int) -> None:
        """Show what can be completed at the index `cursor`, or nothing."""
        self._wanted = True
        completion = self._completer.complete(text, cursor)
        if completion is None or completion.start != self._dismissed:
            self._dismissed = None
            self._completion = completion
        if self._completion is None:
            self._list.close()
        else:
            self._list.open(self._completion.candidates)

    def look_again(self, text: str, cursor: int) -> None:
        """The same for a text that was looked at before; what is selected stays selected."""
        if self._wanted:
            chosen = self._list.chosen
            self.look(text, cursor)
            if chosen in self._list.candidates:
                self._list.selected = self._list.candidates.index(chosen)

    def reopen(self, text: str, cursor: int) -> bool:
        """Show a list that was closed. Returns whether there is one."""
        self._dismissed = None
        self.look(text, cursor)
        return self.open

    def move(self, by: int) -> None:
        """Select another candidate."""
        self._list.move(by)

    def dismiss(self) -> None:
        """Close the list because the person does not want it."""
        dismissed = self._completion.start if self._completion else None
        self.close()
        self._dismissed, self._wanted = dismissed, True

    def close(self) -> None:
        """Close the list because there is another text."""
        self._completion = self._dismissed = None
        self._wanted = False
        self._list.close()

    def take(self, text: str) -> tuple[str, int, int] | None:
        """Close the list; what to put between two indices of the text, or None when it stands there already."""
        completion, candidate = self._completion, self._list.chosen
        self.close()
        if completion is None or candidate is None or not completion.changes(text, candidate):
            return None
        after, cursor = completion.apply(text, candidate)
        return after[completion.start : cursor], completion.start, len(text) - (len(after) - cursor)
