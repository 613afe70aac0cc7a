"""What a program hands in when it makes an agent or opens a session."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

from harness.base.arguments import check_parts, check_types
from harness.base.clock import Clock
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker
from harness.events import DispatchLimits, Json, Outcome
from harness.hooks import Hook, own_hooks
from harness.policies import recovery
from harness.policies.admission.controller import AdmissionLimits
from harness.policies.loops.limits import LoopLimits
from harness.policies.recovery import Decision, RecoveryLimits, Situation, TurnState
from harness.settings import Settings
from harness.tools.tool import Tool
from harness.tools.toolbox import own_tools

Decide = Callable[[TurnState, Outcome, RecoveryLimits, Situation], Decision]
"""Maps the outcome of a model call to the next decision. Pure: time and chance are in the `Situation`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """What an agent decides by. Its subagents use the same.

    Breakers, loops and admission keep state between calls, so a program hands in their numbers, not their code.
    Raises TypeError for a value of the wrong kind.
    """

    decide: Decide = recovery.decide
    """Replaces or wraps `harness.policies.recovery.decide` for the model calls of a turn, summaries excepted."""
    recovery: RecoveryLimits | None = None
    """Numbers of the recovery policy. `interactive` follows from the asker; a subagent has its own limits of steps and
    money."""
    breakers: DispatchLimits | None = None
    """Numbers of the circuit breakers and the failure budget."""
    loops: LoopLimits | None = None
    """Numbers of loop detection and the interventions."""
    admission: AdmissionLimits | None = None
    """How many subagents work at the same time and how many may wait."""

    def __post_init__(self) -> None:
        if not callable(self.decide):
            raise TypeError(f"Policies(decide=…) takes a function like policies.recovery.decide, not {self.decide!r}.")
        for name, kind in _NUMBERS.items():
            value = getattr(self, name)
            if value is not None and not isinstance(value, kind):
                given = type(value).__name__
                raise TypeError(
                    f"Policies({name}=…) takes {kind.__name__}, not {given}: of this policy only the numbers can be "
                    f"handed in."
                )


_NUMBERS: dict[str, type] = {
    "recovery": RecoveryLimits,
    "breakers": DispatchLimits,
    "loops": LoopLimits,
    "admission": AdmissionLimits,
}


ASKER = ("present", "permission", "wait", "loop", "question")
"""The attributes of an `Asker`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Everything that is not a setting. Every field may also be given to `Agent` and `open_session` by its name.

    Raises TypeError and ValueError for tools, hooks and policies that cannot be used.
    """

    tools: Iterable[Tool] = ()
    """Your own tools, added to the standard ones; subagents may use them too."""
    standard: Collection[str] | None = None
    """Names of the standard tools to keep; None: all, `()`: none."""
    asker: Asker | None = None
    """Answers questions; None: whatever would ask is refused."""
    hooks: Iterable[Hook] = ()
    """Called at fixed points, after the hooks of the settings; `hook` makes one from a function."""
    policies: Policies | None = None
    """Replace those that follow from the settings."""
    answer_format: Json | None = None
    """The `output_config.format` of answers, for models that take one; None: any text."""
    reread: Callable[[], Settings] | None = None
    """Reads the settings again after a key was refused; None: not for settings that were given."""
    clock: Clock | None = None
    """Time for waits."""
    log: logging.Logger | None = None
    """Receives details for developers."""
    conversation: Conversation | None = None
    """A conversation to continue; None: an empty one that is not recorded. A session brings its own."""
    outputs: Path | None = None
    """Folder for results too long for the history; None: one in the state folder. A session brings its own."""
    agents: Path | None = None
    """Folder for the journals of subagents; None: they have none. A session brings its own."""

    def __post_init__(self) -> None:
        check_types(
            {
                "standard": (self.standard, Collection, 'a list of names, such as ["read_file"]'),
                "policies": (self.policies, Policies, "Policies(…)"),
                "answer_format": (self.answer_format, dict, "the format as a dict"),
                "reread": (self.reread, Callable, "a function that returns Settings"),  # type: ignore[dict-item]
                "log": (self.log, logging.Logger, "a logging.Logger"),
                "conversation": (self.conversation, Conversation, "a Conversation"),
                "outputs": (self.outputs, Path, "a Path"),
                "agents": (self.agents, Path, "a Path"),
            }
        )
        methods = f"an object with the methods of harness.session.Asker ({', '.join(ASKER)})"
        check_parts("asker", self.asker, ASKER, methods)
        check_parts("clock", self.clock, ("now", "sleep"), "an object with the methods now and sleep")

    def checked(self) -> Self:
        """The same with tools and hooks that can be used. Raises TypeError and ValueError for others."""
        return replace(self, tools=own_tools(self.tools), hooks=own_hooks(self.hooks))

    def changed(self, by_name: Mapping[str, object]) -> tuple[Self, dict[str, object]]:
        """Returns the options with the values of this name, and the remaining values, which are settings."""
        known = {field.name for field in fields(self)}
        options: dict[str, Any] = {name: value for name, value in by_name.items() if name in known}
        return replace(self, **options), {name: value for name, value in by_name.items() if name not in known}
