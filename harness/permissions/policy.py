"""The decision before a tool call. Pure: no files, no clock, no questions asked here.

In this order: rules in code, deny rules, reading, read-only sessions, earlier answers of the user, the mode that allows
everything, ask rules, dangers, allow rules and read-only commands, and finally the mode. So deny beats ask, ask beats
allow, and dangerous calls need confirmation in every mode that asks.
"""

import json
from collections.abc import Callable

from harness.hooks import Verdict
from harness.permissions.decision import Allow, Ask, Decision, Deny, Mode, PermissionAnswer, PermissionRequest
from harness.permissions.disk import DiskQuestions
from harness.permissions.rulebook import RuleBook, RuleVerdict
from harness.permissions.rules import RuleError, RuleScope
from harness.tools.tool import Effect

Rule = Callable[[PermissionRequest], Decision | None]
"""A rule in code decides a request or passes it on with None. Such rules must be pure; they run in order before
everything else, and the first decision counts."""

SHELL = "bash"


class Permissions:
    """Decides requests by rules, by effect, by remembered answers and by mode.

    In a read-only session earlier answers do not count.
    """

    def __init__(self, mode: Mode, rules: tuple[Rule, ...] = (), book: RuleBook | None = None) -> None:
        """`book`: written rules and the knowledge about commands and places; None: modes only."""
        self.mode = mode
        self.rules = rules
        self.book = book
        self._always: set[tuple[str, str]] = set()

    def questions(self, request: PermissionRequest) -> DiskQuestions:
        """The facts that `decide` needs from the disk."""
        return DiskQuestions() if self.book is None else self.book.questions(request)

    def matters(self, path: str) -> bool:
        """Whether a file found in a folder is relevant to `decide`; takes its real absolute path."""
        return self.book is not None and self.book.matters(path)

    def withholds(self, path: str, *, content: bool) -> bool:
        """Whether a tool's search skips this file: a rule names it, or its `content` may be keys."""
        if self.book is None:
            return False
        keys = content and self.mode is not Mode.YOLO and self.book.around.key_inside(path)
        return keys or self.book.withholds(path)

    def decide(self, request: PermissionRequest) -> Decision:
        """May this call run?"""
        for rule in self.rules:
            if (decision := rule(request)) is not None:
                return decision
        if request.outside is not None and (self.book is None or request.effect is not Effect.READ):
            return Deny(f"{request.outside} is outside the workspace", by="rule")
        judgement = None if self.book is None else self.book.judge(request)
        if judgement is not None and judgement.denied:
            return Deny(judgement.denied, by="rule")
        match request.effect:
            case Effect.READ:
                return self._looking(request, judgement, "reading inside the workspace is always allowed")
            case Effect.DELEGATE:
                return self._looking(request, judgement, "each call of the subagent is decided separately")
            case Effect.WRITE | Effect.RUN if self.mode is Mode.DENY:
                why = f"this session is read-only, and {request.tool} {_VERBS[request.effect]}"
                return Deny(f"{why}; only the user can change its permission mode", by="mode")
            case _ if judgement is None:
                return self._by_answer(request) or self._by_mode(request)
            case _:
                return self._judged(request, judgement)

    def _looking(self, request: PermissionRequest, judgement: RuleVerdict | None, why: str) -> Decision:
        if judgement is None:
            return Allow(why)
        if self.mode is Mode.YOLO:
            return self._everything(request, judgement)
        if asked := _firm(request, judgement, judgement.perhaps_denied or judgement.asked):
            return asked
        if request.outside is not None and judgement.missing:
            why = f"{request.outside} is outside the workspace"
            return self._by_answer(request) or Ask(why, judgement.offers, firm=False)
        return Allow(why)

    def _judged(self, request: PermissionRequest, judgement: RuleVerdict) -> Decision:
        # An answer for this session covered exactly this call, so it counts even if the call is dangerous.
        if request.effect is not Effect.WRITE and (answered := self._by_answer(request)) is not None:
            return answered
        if self.mode is Mode.YOLO:
            return self._everything(request, judgement)
        if asked := _firm(request, judgement, judgement.perhaps_denied or judgement.asked):
            return asked
        if not judgement.missing:
            only_looks = request.tool == SHELL and not judgement.by_rule
            return Allow(judgement.allowed, by="rule" if judgement.by_rule else "default", only_looks=only_looks)
        decision = self._by_answer(request) or self._by_mode(request)
        if isinstance(decision, Ask):
            about = "" if judgement.missing == "the call" else f", and no rule allows {judgement.missing}"
            return Ask(decision.why + (about if request.tool == SHELL else ""), judgement.offers, firm=False)
        return decision

    def _everything(self, request: PermissionRequest, judgement: RuleVerdict) -> Decision:
        """The decision in mode yolo, where only deny rules count, including possible matches."""
        if judgement.perhaps_denied and (asked := _firm(request, judgement, judgement.perhaps_denied)):
            return asked
        return Allow("everything is allowed in this mode", by="mode", dangerous="; ".join(judgement.dangers))

    def _by_answer(self, request: PermissionRequest) -> Allow | None:
        return Allow("allowed for this session", by="user") if _scope(request) in self._always else None

    def _by_mode(self, request: PermissionRequest) -> Decision:
        match self.mode:
            case Mode.YOLO:
                return Allow("everything is allowed in this mode", by="mode")
            case Mode.EDITS if request.effect is Effect.WRITE:
                return Allow("writing inside the workspace is allowed in this mode", by="mode")
            case _:
                return Ask(f"{request.tool} {_VERBS[request.effect]}", firm=False)

    def remember(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow | Deny:
        """Apply an answer to this request; "always" also counts for later requests of the same scope.

        Without rules in the answer the scope is the tool for one that writes files, exactly this command line for
        bash, and exactly this input for any other tool that runs things. With rules it is what they allow, for this
        session; a rule that is not understood then allows nothing but this call.
        """
        match answer.choice:
            case "no":
                return Deny(answer.why, by=answer.by)
            case "once":
                return Allow(answer.why, by=answer.by)
            case "always" if answer.rules and self.book is not None:
                scope = RuleScope.ALWAYS if answer.keep else RuleScope.SESSION
                try:
                    for rule in [self.book.parse(Verdict.ALLOW, text, scope) for text in answer.rules]:
                        self.book.add(rule)
                except RuleError as error:
                    return Allow(answer.why, by=answer.by, not_kept=f"no rule was made of it, because it {error}")
                return Allow(answer.why, by=answer.by)
            case "always":
                self._always.add(_scope(request))
                return Allow(answer.why, by=answer.by)


def _firm(request: PermissionRequest, judgement: RuleVerdict, reason: str) -> Ask | None:
    """The question that a rule or a danger requires; None: neither."""
    danger = f"{request.tool} does something dangerous, {'; '.join(judgement.dangers)}" if judgement.dangers else ""
    why = "; ".join(filter(None, (reason, danger)))
    return Ask(why, dangers=judgement.dangers) if why else None


def _scope(request: PermissionRequest) -> tuple[str, str]:
    if request.effect is Effect.WRITE:
        return request.tool, ""
    if request.tool == SHELL and isinstance(command := request.input.get("command"), str):
        return request.tool, command
    return request.tool, json.dumps(request.input, sort_keys=True)


_VERBS = {
    Effect.READ: "reads",
    Effect.WRITE: "writes files",
    Effect.RUN: "runs a program",
    Effect.DELEGATE: "starts a subagent",
}
