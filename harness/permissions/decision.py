"""Permission requests, answers and decisions, and what hooks may change about a decision."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Literal

from harness.events import Json
from harness.hooks import Verdict
from harness.permissions.disk import UNKNOWN, Disk
from harness.sandbox import NOTHING_MORE, Allowance, Profile, ProfileName
from harness.tools.tool import Effect


class Mode(StrEnum):
    """How a call that writes or runs is decided when no rule and no earlier answer applies."""

    ASK = "ask"
    """The user is asked."""
    EDITS = "edits"
    """Writing files is allowed; before running programs the user is asked."""
    YOLO = "yolo"
    """It is allowed."""
    DENY = "deny"
    """It is refused: the session only reads."""
    PLAN = "plan"
    """It is refused, apart from read-only command lines, until the user approves a plan of the model or leaves."""


DecidedBy = Literal["user", "rule", "mode", "default", "hook"]
"""Who decided or requires a question."""


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """A call that wants to run."""

    call_id: str
    tool: str
    effect: Effect
    summary: str
    """The call in one line."""
    detail: str
    """Shown before answering: the command, the diff."""
    input: Json
    outside: Path | None = None
    """The file outside the workspace that the call would read. A question is asked only for a file that the user
    named."""
    opens: str | None = None
    """The file that the call opens, where it is not the argument `path`."""
    changes: bool = False
    """It changes something even if its effect is that of reading, such as a task board."""
    destructive: bool = False
    """The server of the tool says that it may destroy something."""
    disk: Disk = UNKNOWN
    """The answers to `Permissions.questions`."""
    sandbox: Profile | None = None
    """What the profile WORK grants, where a sandbox enforces all of it; None: none does."""
    refused: Allowance = NOTHING_MORE
    """What the sandbox refused this command line before."""
    offers: tuple[str, ...] = ()
    """Rules that the user may save and that together would have allowed exactly this call."""
    family: str = ""
    """One wider rule that would have allowed the call; empty: none."""
    edits: bool = False
    """The mode that allows edits would have allowed it."""
    dangers: tuple[str, ...] = ()
    """Each dangerous part of the call and why. If any, only this one call can be allowed, and "no" is the first
    choice."""
    profile: ProfileName = ProfileName.FREE
    """What its command may read, write and reach if it is allowed."""
    allowance: Allowance = NOTHING_MORE
    """What the answer yes adds to that."""
    workspace: str = ""
    """The folder in which the calling agent works, links resolved; empty: that of the session."""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """The answer to a permission question."""

    choice: Literal["once", "always", "edits", "no"]
    """With "edits" all edits are allowed from now on: the mode changes."""
    why: str = ""
    """The reason, which also goes back to the model."""
    by: Literal["user", "rule", "mode", "default"] = "user"
    rules: tuple[str, ...] = ()
    """With "always": the rules that apply from now on; none: exactly this call."""
    keep: bool = False
    """With rules: they are saved for later sessions in this folder."""


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may run."""

    why: str
    by: DecidedBy = "default"
    dangerous: str = ""
    """The dangers that no question was asked about; empty: none."""
    not_kept: str = ""
    """Why a rule could not be saved; empty: no problem."""
    profile: ProfileName = ProfileName.FREE
    """What its command may read, write and reach; LOOK: it runs without a question because it is read-only."""
    allowance: Allowance = NOTHING_MORE
    """What the user allowed the command beyond that."""
    looks: bool = False
    """It is read-only, in whatever mode."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call must not run."""

    why: str
    by: DecidedBy = "default"

    @property
    def message(self) -> str:
        """The tool result for the model."""
        if self.by == "user":
            return (
                f"The user did not allow this: {self.why or 'no reason was given'}. Do not try to reach it another way."
            )
        return f"This was not allowed: {self.why}."


@dataclass(frozen=True, slots=True)
class Ask:
    """The user has to decide."""

    why: str
    offers: tuple[str, ...] = ()
    """Rules that together would have allowed exactly this."""
    family: str = ""
    """One wider rule that would have allowed it."""
    edits: bool = False
    """The mode that allows edits would have allowed it."""
    firm: bool = True
    """False: only the mode requires the question, and a hook may answer it."""
    dangers: tuple[str, ...] = ()
    """Each dangerous part of the call and why."""
    profile: ProfileName = ProfileName.FREE
    """What its command may read, write and reach if it is allowed."""
    allowance: Allowance = NOTHING_MORE
    """What the user would add to that."""


Decision = Allow | Deny | Ask


def with_verdict(decision: Decision, verdict: Verdict | None, why: str) -> Decision:
    """The decision after the hooks have spoken. Their allow never beats a no, nor a rule that asks; it frees a line
    that the sandbox holds."""
    match decision, verdict:
        case Deny(), _:
            return decision
        case _, Verdict.DENY:
            return Deny(why, by="hook")
        case Ask(firm=True), _:
            return decision
        case _, Verdict.ASK:
            return Ask(why)
        case Ask() | Allow(profile=ProfileName.WORK), Verdict.ALLOW:
            return Allow(why, by="hook")
        case _:
            return decision
