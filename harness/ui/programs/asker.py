"""Puts questions to the program that drives the session, each as the request `can_use_tool`."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.events import (
    Json,
    LoopAsked,
    LoopChoice,
    PermissionAsked,
    QuestionAsked,
    QuestionOption,
    WaitOffered,
)
from harness.session import LOOP_CHOICES, PermissionAnswer, PermissionRequest, UserAnswer, WaitChoice, loop_question
from harness.ui.permission_choices import (
    permission_answer,
    permission_choices,
    permission_reasons,
    permission_title,
)
from harness.ui.programs.control import ControlChannel, NoAnswerError

QUESTION = "AskUserQuestion"
PLAN = "ExitPlanMode"
HOST = "SandboxNetworkAccess"
"""Names of questions that are about no tool of this program; programs know them from Claude Code."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the program answered."""

    allows: bool
    message: str = ""
    """The reason for a no."""
    input: Json | None = None
    """The input with which the call is allowed; None: unchanged."""
    updates: tuple[object, ...] = ()
    """Changes of the permissions that come with a yes."""


class ProgramAsker:
    """An asker whose user is a program."""

    present = True

    def __init__(self, channel: ControlChannel, interrupt: Callable[[], object]) -> None:
        """`interrupt` ends the turn: a no may ask for that."""
        self._channel = channel
        self._interrupt = interrupt

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Ask for a permission; whatever is no clear yes is a no."""
        suggested = dict(_suggestions(request))
        answer = await self._asked(
            request.tool,
            request.input,
            asked,
            title=permission_title(asked, request),
            description=request.detail,
            decision_reason="\n".join(permission_reasons(asked, request)),
            permission_suggestions=list(suggested.values()),
        )
        if not answer.allows:
            return PermissionAnswer("no", answer.message)
        if answer.input not in (None, request.input):
            return PermissionAnswer("no", "the program allows it with another input; make that call instead")
        chosen = next((value for value, one in suggested.items() if one in answer.updates), "once")
        if unknown := [one for one in answer.updates if one not in suggested.values() and not _only_allows(one)]:
            return PermissionAnswer("no", f"the program allows it with a rule that is not supported: {unknown[0]}")
        return permission_answer(chosen, "", request)

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Stop: a program that can wait says so with --max-wait."""
        return "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask what to do about a loop; no answer is stop."""
        labels = {LOOP_CHOICES[one]: one for one in asked.choices}
        question = QuestionAsked("", loop_question(asked.loop), tuple(map(QuestionOption, labels)))
        return labels.get((await self._question(question)).text, LoopChoice.STOP)

    async def question(self, asked: QuestionAsked) -> UserAnswer:
        """Put a question of the model or of the program."""
        if asked.plan is not None:
            plan: Json = {"plan": asked.plan.text, "steps": list(asked.plan.steps)}
            return _first_or_why(await self._asked(PLAN, plan, asked), asked)
        if asked.hosts:
            hosts: Json = {"host": asked.hosts[0], "hosts": list(asked.hosts)}
            return _first_or_why(await self._asked(HOST, hosts, asked, title=asked.question), asked)
        return await self._question(asked)

    async def _question(self, asked: QuestionAsked) -> UserAnswer:
        options = [{"label": one.label, "description": one.description} for one in asked.options]
        question = {"question": asked.question, "header": "", "options": options, "multiSelect": False}
        answer = await self._asked(QUESTION, {"questions": [question]}, asked)
        answers = (answer.input or {}).get("answers")
        given = answers.get(asked.question) if answer.allows and isinstance(answers, dict) else None
        if not isinstance(given, str) or not given.strip():
            return UserAnswer("declined")
        is_option = any(given == one.label for one in asked.options)
        return UserAnswer("option" if is_option else "text", given)

    async def _asked(self, tool: str, input: Json, asked: PermissionAsked | QuestionAsked, **beside: object) -> _Answer:
        request = {"subtype": "can_use_tool", "tool_name": tool, "input": input, "tool_use_id": asked.call_id, **beside}
        if asked.agent:
            request["agent_id"] = asked.agent
        try:
            answer = await self._channel.ask(request)
        except NoAnswerError as error:
            return _Answer(allows=False, message=str(error))
        if answer.get("behavior") == "allow":
            changed, updates = answer.get("updatedInput"), answer.get("updatedPermissions")
            given = changed if isinstance(changed, dict) else None
            return _Answer(allows=True, input=given, updates=tuple(updates) if isinstance(updates, list) else ())
        if answer.get("interrupt") is True:
            self._interrupt()
        return _Answer(allows=False, message=str(answer.get("message") or ""))


def _first_or_why(answer: _Answer, asked: QuestionAsked) -> UserAnswer:
    """The first option for a yes; for a no, its reason."""
    return UserAnswer("option", asked.options[0].label) if answer.allows else UserAnswer("text", answer.message)


def _suggestions(request: PermissionRequest) -> Iterator[tuple[str, Json]]:
    """The lasting answers on offer, as changes of the permissions that the program may send back."""
    for choice in permission_choices(request):
        match choice.value:
            case "edits":
                yield choice.value, {"type": "setMode", "mode": "acceptEdits", "destination": "session"}
            case "exact":
                yield choice.value, _added(request.offers, "localSettings")
            case "family":
                yield choice.value, _added((request.family,), "localSettings")
            case "always":
                yield choice.value, _added((f"{request.tool}({request.summary})",), "session")


def _added(rules: Sequence[str], destination: str) -> Json:
    return {
        "type": "addRules",
        "rules": [_rule(text) for text in rules],
        "behavior": "allow",
        "destination": destination,
    }


def _rule(text: str) -> Json:
    tool, bracket, content = text.partition("(")
    return {"toolName": tool, "ruleContent": content.removesuffix(")")} if bracket else {"toolName": tool}


def _only_allows(update: object) -> bool:
    """A change that is safe to leave out, because more is asked without it."""
    fields = update if isinstance(update, dict) else {}
    return fields.get("behavior") == "allow" or fields.get("mode") in ("acceptEdits", "bypassPermissions")
