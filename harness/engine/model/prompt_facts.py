"""Facts of the moment for the newest prompt. In the cached part of a request each change would cost all of it again."""

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from harness.base.regular_file import read_regular
from harness.events import Message
from harness.model import prompt

MOST_HEAD_BYTES = 1_000
_ON_A_BRANCH = re.compile(r"ref: refs/heads/(?P<name>[^\s~^:?*\[\\\x00-\x20\x7f]{1,200})\n?")


class Facts:
    """Says what is new; what was said stands in the history, so that a resumed session does not say it again."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace

    def new(self, messages: Sequence[Message]) -> str:
        """The facts as text for a prompt; empty when they are the last ones that `messages` hold."""
        today = datetime.now().astimezone().date().isoformat()
        facts = prompt.turn_facts(today=today, branch=_branch(self._workspace))
        return "" if facts == _last_said(messages) else facts


def _last_said(messages: Sequence[Message]) -> str:
    texts = (block.get("text") for message in reversed(messages) for block in reversed(message.content))
    return next((text for text in texts if isinstance(text, str) and text.startswith(prompt.FACTS)), "")


def _branch(workspace: Path) -> str:
    """The branch that is checked out; empty outside a repository, on a detached head, and for what is no branch name.

    The name goes to the model, and a repository brings it along: only what git accepts as the name of a branch passes
    (https://git-scm.com/docs/git-check-ref-format), so that no sentence can be placed there.
    """
    for folder in (workspace, *workspace.parents):
        try:
            head = read_regular(folder / ".git" / "HEAD", MOST_HEAD_BYTES).decode()
        except (OSError, UnicodeDecodeError):
            continue
        found = _ON_A_BRANCH.fullmatch(head)
        return found["name"] if found else ""
    return ""
