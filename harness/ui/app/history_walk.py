"""Going back and forth in what was submitted."""

from collections.abc import Sequence


class HistoryWalk:
    """Where the person stands among earlier prompts. Behind the newest one waits the draft."""

    def __init__(self) -> None:
        self._draft = ""
        self._back = 0

    def older(self, prompts: Sequence[str], shown: str) -> str | None:
        """The prompt before the one that is shown; None when there is none.

        What is shown becomes the draft when it is no prompt of the history, or one that was changed.
        """
        self._see(prompts, shown)
        if self._back >= len(prompts):
            return None
        self._back += 1
        return prompts[-self._back]

    def newer(self, prompts: Sequence[str], shown: str) -> str | None:
        """The prompt after the one that is shown, at last the draft; None when the draft is shown already."""
        self._see(prompts, shown)
        if self._back == 0:
            return None
        self._back -= 1
        return prompts[-self._back] if self._back else self._draft

    def leave(self) -> None:
        """Begin anew, without a draft."""
        self._draft, self._back = "", 0

    def _see(self, prompts: Sequence[str], shown: str) -> None:
        if not 0 < self._back <= len(prompts) or shown != prompts[-self._back]:
            self._draft, self._back = shown, 0


def matching(prompts: Sequence[str], needle: str, most: int = 100) -> list[str]:
    """Prompts that hold the needle in whatever case, the newest first, each once."""
    folded = needle.casefold()
    found = (prompt for prompt in reversed(prompts) if folded in prompt.casefold())
    return list(dict.fromkeys(found))[:most]
