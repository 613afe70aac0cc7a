"""The decision before a tool call. Pure: no files, no clock, no questions asked here."""

import json
from collections.abc import Callable

from harness.permissions.values import Allow, Answer, Ask, Decision, Deny, Mode, PermissionRequest
from harness.tools.tool import Effect

Rule = Callable[[PermissionRequest], Decision | None]
"""A rule decides a request or passes it on with None. Rules must be pure; they are asked in order and the first
decision counts, before the mode and before what a person once answered. Richer rules (patterns, read-only commands,
paths outside the workspace) are added as further rules, not as branches in `Permissions`."""

SHELL = "bash"


class Permissions:
    """Decides requests by rules, by effect, by remembered answers and by mode, in this order.

    A session that only reads is the exception: there no earlier answer counts.
    """

    def __init__(self, mode: Mode, rules: tuple[Rule, ...] = ()) -> None:
        self.mode = mode
        self.rules = rules
        self._always: set[tuple[str, str]] = set()

    def decide(self, request: PermissionRequest) -> Decision:
        """May this call run?"""
        for rule in self.rules:
            if (decision := rule(request)) is not None:
                return decision
        if request.outside is not None:
            return Deny(f"{request.outside} is outside the workspace", by="rule")
        if request.effect is Effect.READ:
            return Allow("reading inside the workspace is always allowed")
        if request.effect is Effect.DELEGATE:
            return Allow("each call of the agent is decided by itself")
        if self.mode is Mode.DENY:
            why = f"this session only reads, and {request.tool} {_verb(request.effect)}"
            return Deny(f"{why}; only the person can change that, with /mode or --yolo", by="mode")
        if _scope(request) in self._always:
            return Allow("allowed for this session", by="person")
        match self.mode:
            case Mode.YOLO:
                return Allow("everything is allowed in this mode", by="mode")
            case Mode.EDITS if request.effect is Effect.WRITE:
                return Allow("writing inside the workspace is allowed in this mode", by="mode")
            case Mode.ASK | Mode.EDITS:
                return Ask(f"{request.tool} {_verb(request.effect)}", firm=False)

    def remember(self, request: PermissionRequest, answer: Answer) -> Allow | Deny:
        """What an answer means for this request; "always" also counts for later ones of the same scope.

        The scope is the tool for one that writes files, exactly this command line for bash, and exactly this
        input for any other tool that runs things.
        """
        match answer.choice:
            case "no":
                return Deny(answer.why, by=answer.by)
            case "once":
                return Allow(answer.why, by=answer.by)
            case "always":
                self._always.add(_scope(request))
                return Allow(answer.why, by=answer.by)


def _scope(request: PermissionRequest) -> tuple[str, str]:
    if request.effect is Effect.WRITE:
        return request.tool, ""
    if request.tool == SHELL and isinstance(command := request.input.get("command"), str):
        return request.tool, command
    return request.tool, json.dumps(request.input, sort_keys=True)


def _verb(effect: Effect) -> str:
    return _VERBS[effect]


_VERBS = {
    Effect.READ: "reads",
    Effect.WRITE: "writes files",
    Effect.RUN: "runs a program",
    Effect.DELEGATE: "sets an agent to work",
}
