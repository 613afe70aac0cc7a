"""Questions of MCP servers to the user, in the one queue of questions: forms field by field, addresses to open."""

from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from harness.base.external_text import visible
from harness.engine.conversation import Conversation
from harness.engine.permissions.asker import Asker, UserAnswer
from harness.events import Notice, QuestionAnswered, QuestionAsked, QuestionOption

MOST_FIELDS = 20
"""Of one form that a server asks the user to fill in."""
TRIES = 3
DEFAULT, YES, NO = "default", "Yes", "No"


class ServerQuestions:
    """Asks the user on behalf of servers, in the one queue of questions."""

    def __init__(self, conversation: Conversation, asker: Asker) -> None:
        self._conversation = conversation
        self._asker = asker
        self._asked = 0
        self.present = asker.present
        """A user is present to answer."""
        self.open = 0
        """Questions that wait for the user."""

    async def ask(self, server: str, params: Any) -> Any:
        """The answer to `elicitation/create`: an `ElicitResult`. Without a user it is declined."""
        from mcp.types import ElicitResult

        if not self.present:
            said = visible(str(params.message))[:200]
            text = f"the MCP server {server} asked and was declined, because no user is present: {said}"
            self._conversation.emit(Notice("warning", text))
            return ElicitResult(action="decline")
        action, content = await self._answered(server, params)
        return ElicitResult(action=action, content=content)

    async def _answered(
        self, server: str, params: Any
    ) -> tuple[Literal["accept", "decline", "cancel"], dict[str, Any] | None]:
        says = f"The MCP server {server} asks: {visible(str(params.message)[:2_000])}"
        if params.mode == "url":
            host = urlsplit(params.url).hostname if urlsplit(params.url).scheme in ("http", "https") else None
            if host is None:
                return "decline", None
            address = f"Open this address of {visible(host)} in a browser and answer yes:\n{visible(params.url)}"
            answer = await self.question(server, f"{says}\n{address}", (YES, NO))
            return ("accept", None) if _agrees(answer) else ("decline", None)
        schema = params.requested_schema
        fields = list((schema.get("properties") or {}).items())[:MOST_FIELDS]
        if not fields:
            return ("accept", {}) if _agrees(await self.question(server, says, (YES, NO))) else ("decline", None)
        content: dict[str, Any] = {}
        for name, field in fields:
            required = name in (schema.get("required") or ())
            for _ in range(TRIES):
                answer = await self.question(server, *_about(says, name, field, required=required))
                if answer is None or answer.how == "declined":
                    return "decline", None
                try:
                    value = value_of(answer.text, field, required=required)
                except ValueError as error:
                    says = f"{error} {says}"
                    continue
                if value is not None:
                    content[name] = value
                break
            else:
                return "cancel", None
        return "accept", content

    async def question(self, server: str, text: str, labels: tuple[str, ...]) -> UserAnswer | None:
        """Ask one question; None: no user is present. A cancellation takes it back."""
        self._asked += 1
        asked = QuestionAsked(f"mcp-{server}-{self._asked}", text, tuple(map(QuestionOption, labels)))
        self._conversation.emit(asked)
        answer: UserAnswer | None = None
        self.open += 1
        try:
            answer = await self._asker.question(asked)
        finally:
            self.open -= 1
            how, said = (answer.how, answer.text) if answer else ("declined", "")
            self._conversation.emit(QuestionAnswered(asked.call_id, how, said))
        return answer


def _agrees(answer: UserAnswer | None) -> bool:
    return answer is not None and answer.text == YES


def _about(says: str, name: str, field: Mapping[str, Any], *, required: bool) -> tuple[str, tuple[str, ...]]:
    """The question about one field, and its options."""
    labels = tuple(map(str, choices_of(field)))
    if field.get("type") == "boolean":
        labels = (YES, NO)
    if "default" in field:
        labels = (f"{DEFAULT}: {field['default']}", *labels)
    elif not required:
        labels = (*labels, "leave out")
    about = ": ".join(filter(None, (str(field.get("title") or name), str(field.get("description") or ""))))
    return f"{says}\n{about}", labels


def choices_of(field: Mapping[str, Any]) -> list[Any]:
    """The values of a field that has only a few."""
    items = field.get("items") if field.get("type") == "array" else field
    items = items if isinstance(items, dict) else {}
    titled = items.get("oneOf") or items.get("anyOf") or ()
    return [*(items.get("enum") or ()), *(one["const"] for one in titled if isinstance(one, dict) and "const" in one)]


def value_of(text: str, field: Mapping[str, Any], *, required: bool) -> Any:
    """A field's value by the words of the user; None: it is left out. Raises ValueError, one sentence."""
    text = text.strip()
    if "default" in field and (text == f"{DEFAULT}: {field['default']}" or not text):
        return field["default"]
    if not required and text in ("", "leave out"):
        return None
    kind, choices = field.get("type"), [str(one) for one in choices_of(field)]
    if choices:
        chosen = [one.strip() for one in text.split(",")] if kind == "array" else [text]
        if unknown := [one for one in chosen if one not in choices]:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(choices)}.")
        return chosen if kind == "array" else text
    match kind:
        case "boolean":
            if text.lower() not in ("yes", "no", "true", "false"):
                raise ValueError("Answer yes or no.")
            return text.lower() in ("yes", "true")
        case "integer" | "number":
            try:
                number = float(text)
            except ValueError as error:
                raise ValueError(f"{text!r} is no number.") from error
            least, most = field.get("minimum", number), field.get("maximum", number)
            if not least <= number <= most or (kind == "integer" and number != int(number)):
                raise ValueError(f"{text} does not fit: a {kind} from {least} to {most}.")
            return int(number) if kind == "integer" else number
        case _:
            if not field.get("minLength", 0) <= len(text) <= field.get("maxLength", len(text)):
                raise ValueError("That text is too short or too long.")
            return text
