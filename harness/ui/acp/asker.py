"""Asks the user in the editor on behalf of the agent."""

from collections.abc import Sequence

from harness.events import Json, LoopAsked, LoopChoice, PauseReport, PermissionAsked, QuestionAsked, WaitOffered
from harness.session import LOOP_CHOICES, PermissionAnswer, PermissionRequest, UserAnswer, WaitChoice, loop_question
from harness.ui.acp.client import Client
from harness.ui.acp.updates import UpdateFold, kind_of
from harness.ui.lines.line import seconds
from harness.ui.permission_choices import asked_by, permission_answer, permission_choices, permission_title

KEPT = {"always", "exact", "family", "edits"}
"""Answers that hold for later calls, too."""
NO = "no"
HOST_KINDS = ["allow_once", "allow_always", "allow_always", "reject_once"]
"""Of the options of a question about hosts: this command, this session, always, no."""
OTHER = "other"
"""The field of a form for an answer in the user's own words."""


class AcpAsker:
    """An asker whose user sits at an editor. A request that the editor takes back, or cannot show, is a no."""

    present = True

    def __init__(self, client: Client) -> None:
        self._client = client
        self.session_id = ""
        """Set when the session is open, before anything can be asked."""
        self.fold: UpdateFold | None = None

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """Ask for a permission, showing the command or the diff."""
        options = [
            (choice.value, "no" if choice.asks else " ".join([choice.label, *choice.lines]), _kind(choice.value))
            for choice in permission_choices(request)
        ]
        detail = request.detail if request.detail.strip() != asked.summary.strip() else ""
        content = [*(self.fold.contents(detail) if self.fold else ())]
        call: Json = {"title": permission_title(asked, request), "kind": kind_of(request.tool)}
        call |= {"status": "pending", "rawInput": request.input, "content": [*content, _reason(asked.why)]}
        value = await self._choice(asked.call_id, call, options)
        return permission_answer(value, "", request) if value else PermissionAnswer("no", "it was not answered")

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Ask what to do about a long wait."""
        options = [("wait", f"wait {seconds(offered.seconds)}", "allow_once")]
        options += [("switch", "use the fallback model", "allow_once")] if offered.can_switch else []
        title = f"The server requests a wait of {seconds(offered.seconds)}: {offered.detail}"
        value = await self._choice("wait", {"title": title}, [*options, ("stop", "stop", "reject_once")])
        return "wait" if value == "wait" else "switch" if value == "switch" else "stop"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Ask what to do about a loop."""
        kinds = {LoopChoice.STOP: "reject_once"}
        options = [(one.value, LOOP_CHOICES[one], kinds.get(one, "allow_once")) for one in asked.choices]
        value = await self._choice("loop", {"title": loop_question(asked.loop)}, options)
        return next((one for one in asked.choices if one.value == value), LoopChoice.STOP)

    async def pause(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        """Ask how to continue after a pause. Returns the tool to reset first, "all", or "" for none; None: stop."""
        resets = [(f"reset {tool}", f"reset {tool} and continue", "allow_once") for tool in (*open_tools[:5], "all")]
        options = [("continue", "continue with a fresh failure budget", "allow_once"), *(resets if open_tools else [])]
        title = {"title": f"Paused: {report.reason}"}
        value = await self._choice("pause", title, [*options, ("stop", "stop", "reject_once")])
        return "" if value == "continue" else value.removeprefix("reset ") if value.startswith("reset ") else None

    async def question(self, asked: QuestionAsked) -> UserAnswer:
        """Ask a question of the model or of the program."""
        title = f"{asked_by(asked)}{asked.question}"
        if asked.plan is not None:
            plan = "\n".join([asked.plan.text, "", *(f"- {step}" for step in asked.plan.steps)])
            return await self._option(asked, {"title": title, "kind": "switch_mode", "content": [_reason(plan)]})
        if asked.hosts or asked.fan_out is not None:
            return await self._option(asked, {"title": title, "kind": "fetch" if asked.hosts else "think"})
        if self._client.shows_forms:
            return await self._form(asked, title)
        return await self._option(asked, {"title": title}) if asked.options else UserAnswer("declined")

    async def _option(self, asked: QuestionAsked, call: Json) -> UserAnswer:
        """Let the user choose one of the options, or none. A new conversation for a plan is not among them: the
        editor keeps to this session."""
        given = [one.label for one in asked.options]
        if asked.plan is not None:
            given.pop(-2)
        kinds = HOST_KINDS if asked.hosts else ["allow_once"] * len(given)
        options = [(label, label, kind) for label, kind in zip(given, kinds, strict=True)]
        if not asked.hosts:
            options.append((NO, "no answer", "reject_once"))
        value = await self._choice(asked.call_id, call, options)
        if value in given:
            return UserAnswer("option", value)
        return UserAnswer("text") if asked.plan is not None or asked.hosts else UserAnswer("declined")

    async def _form(self, asked: QuestionAsked, title: str) -> UserAnswer:
        """Let the user fill in a form: one of the options, or words of their own."""
        options = [{"const": one.label, "title": one.label, "description": one.description} for one in asked.options]
        fields: Json = {"answer": {"type": "string", "title": "Answer", "oneOf": options}} if options else {}
        fields |= {OTHER: {"type": "string", "title": "Another answer" if options else "Answer"}}
        answer = await self._client.request(
            "elicitation/create",
            {
                "sessionId": self.session_id,
                "toolCallId": asked.call_id,
                "mode": "form",
                "message": title,
                "requestedSchema": {"type": "object", "properties": fields},
            },
        )
        content = answer.get("content") if answer.get("action") == "accept" else None
        given = content if isinstance(content, dict) else {}
        if isinstance(words := given.get(OTHER), str) and words.strip():
            return UserAnswer("text", words.strip())
        chosen = given.get("answer")
        return (
            UserAnswer("option", chosen) if chosen in [one.label for one in asked.options] else UserAnswer("declined")
        )

    async def _choice(self, call_id: str, call: Json, options: Sequence[tuple[str, str, str]]) -> str:
        """The value of the option that the user chose; empty: none."""
        offered = [{"optionId": value, "name": name, "kind": kind} for value, name, kind in options]
        answer = await self._client.request(
            "session/request_permission",
            {"sessionId": self.session_id, "toolCall": {"toolCallId": call_id, **call}, "options": offered},
        )
        match answer.get("outcome"):
            case {"outcome": "selected", "optionId": str(value)} if value in [one[0] for one in options]:
                return value
            case _:
                return ""


def _kind(value: str) -> str:
    return "reject_once" if value == "no" else "allow_always" if value in KEPT else "allow_once"


def _reason(text: str) -> Json:
    return {"type": "content", "content": {"type": "text", "text": text}}
