"""The question, the answers and the decisions."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from harness.events import Json
from harness.permissions.disk import UNKNOWN, Disk
from harness.tools.tool import Effect


class Mode(StrEnum):
    """What happens to a call that writes or runs, where no rule and no earlier answer decides."""

    ASK = "ask"
    """A person is asked."""
    EDITS = "edits"
    """What writes files is allowed; about what runs programs a person is asked."""
    YOLO = "yolo"
    """It is allowed."""
    DENY = "deny"
    """It is refused: the session only reads."""


By = Literal["person", "rule", "mode", "default", "hook"]
"""Who decided, or wants a person to."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A call that wants to run."""

    call_id: str
    tool: str
    effect: Effect
    summary: str
    """The call in one line."""
    detail: str
    """What a person should see before answering: the command, the diff."""
    input: Json
    outside: Path | None = None
    """The file outside the workspace that the call would read. Only a file that the user has named is asked about."""
    disk: Disk = UNKNOWN
    """The answers to `Permissions.questions`."""
    offers: tuple[str, ...] = ()
    """Rules that a person may keep, which together would have allowed the call; none where there are no such rules."""
    dangers: tuple[str, ...] = ()
    """Each dangerous part of the call and why. With any, only this one call can be allowed, and "no" comes first."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered to a question."""

    choice: Literal["once", "always", "no"]
    why: str = ""
    """The reason, which also goes back to the model."""
    by: Literal["person", "rule", "mode", "default"] = "person"
    rules: tuple[str, ...] = ()
    """With "always": what is allowed from now on, as rules; none: this very call."""
    keep: bool = False
    """With rules: they are kept for later sessions, too."""


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""

    why: str
    by: By = "default"
    dangerous: str = ""
    """What a person would have been asked about, and was not; empty where there is nothing."""
    not_kept: str = ""
    """A sentence about a rule that was to be kept and is not; empty where nothing went wrong."""
    only_looks: bool = False
    """It runs without a question because it changes nothing, and is held to that where the system can."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run."""

    why: str
    by: By = "default"

    @property
    def message(self) -> str:
        """The tool result for the model."""
        if self.by == "person":
            return (
                f"The user did not allow this: {self.why or 'no reason was given'}. Do not try to reach it another way."
            )
        return f"This was not allowed: {self.why}."


@dataclass(frozen=True, slots=True)
class Ask:
    """A person has to decide."""

    why: str
    offers: tuple[str, ...] = ()
    """Rules that would have allowed it."""
    firm: bool = True
    """False: only the mode wants to know, and a hook may answer in the person's place."""
    dangers: tuple[str, ...] = ()
    """Each dangerous part of the call and why; none where nothing is known to be dangerous."""


Decision = Allow | Deny | Ask
