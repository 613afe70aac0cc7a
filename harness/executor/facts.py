"""Facts of the moment for the newest prompt. They never go into the cached part of a request (api R25)."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from harness.events import Message
from harness.model import prompt


class Facts:
    """Remembers what was said, so that only news is said again."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._said = ""

    def new(self, messages: Sequence[Message]) -> str:
        """The facts as text for a prompt; empty when they were the last ones said and `messages` still hold them."""
        today = datetime.now().astimezone().date().isoformat()
        facts = prompt.turn_facts(today=today, branch=_branch(self._workspace))
        if facts == self._said and _stand_in(messages, facts):
            return ""
        self._said = facts
        return facts


def _stand_in(messages: Sequence[Message], facts: str) -> bool:
    return any(block.get("text") == facts for message in reversed(messages) for block in message.content)


def _branch(workspace: Path) -> str:
    """The branch that is checked out; empty outside a repository and on a detached head."""
    for folder in (workspace, *workspace.parents):
        head = folder / ".git" / "HEAD"
        try:
            reference = head.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        return reference.removeprefix("ref: refs/heads/") if reference.startswith("ref: ") else ""
    return ""
