"""A script: what the practice model answers, entry by entry. The TOML form is described in SCRIPTS.md.

A script is a value. Tests may build one from `Step`s; people write TOML, which `script_toml` reads.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from harness.practice.chance import Chance
from harness.practice.conditions import When
from harness.practice.faults import StatusFault, StreamFault
from harness.practice.replies import ScriptedReply
from harness.practice.rules import ServerRules


@dataclass(frozen=True, slots=True)
class Play:
    """Answer with a reply, whole or with a fault in it."""

    reply: ScriptedReply | None = None
    """None: the model behind answers, that is the improviser, or the upstream server of a proxy."""
    fault: StreamFault | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a script."""

    action: Play | StatusFault
    times: int | None = 1
    """How many requests it answers; None: any number."""
    when: When | None = None
    """None: the entry takes its turn in the list. Otherwise it waits aside for a request that fits."""


class After(StrEnum):
    """What happens when the list is used up."""

    IMPROVISE = "improvise"
    """The improviser answers, or the upstream server of a proxy."""
    REPEAT = "repeat"
    """The list starts again."""
    ERROR = "error"
    """Status 400, and the client stops."""


@dataclass(frozen=True, slots=True)
class Script:
    """Replies and faults, one for each POST to /v1/messages."""

    steps: Sequence[Step] = ()
    after: After = After.IMPROVISE
    rules: ServerRules = field(default_factory=ServerRules)
    chance: Chance | None = None
    """Faults thrown in at random, on top of the list."""
    name: str = "script"

    @staticmethod
    def load(source: Path | str) -> "Script":
        """Read a script file, or one that is shipped, by its name (`Script.shipped()`).

        Raises ScriptError, which names the file, the entry and the remedy.
        """
        from harness.practice.script_toml import load

        return load(source)

    @staticmethod
    def parse(text: str, name: str = "script") -> "Script":
        """Read a script from TOML text. Raises ScriptError, which calls it by `name`."""
        from harness.practice.script_toml import parse

        return parse(text, name)

    @staticmethod
    def shipped() -> tuple[str, ...]:
        """Names of the scripts that come with the program."""
        from harness.practice.script_toml import shipped

        return shipped()
