"""Requests of MCP servers to the model: each after the user's yes, without tools, and within a budget of its server."""

import asyncio
import base64
import binascii
from dataclasses import dataclass
from typing import Any

from harness.base.concurrency import in_thread, shielded
from harness.base.external_text import sendable, visible
from harness.engine.connection import ModelConnection
from harness.engine.conversation import Conversation
from harness.engine.mcp_questions import NO, YES, ServerQuestions
from harness.events import Block, Fault, Message, Notice, Reply
from harness.mcp.server import CHARACTERS_PER_TOKEN
from harness.media.attachment import MediaError, attachment
from harness.model import history
from harness.model.catalogue import Catalogue
from harness.model.client import ModelRequest
from harness.settings import Settings

ALWAYS = "Yes, also later in this session"
SHOWN_CHARACTERS = 2_000
MOST_CHARACTERS = 200_000
REFUSED, INVALID = -1, -32602
"""Codes of the answer to a server; the first is that of the specification for a user who says no."""
STOPS = {"end_turn": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}


@dataclass(slots=True)
class Sampled:
    """What one server has used in this session."""

    requests: int = 0
    tokens: int = 0
    """Of output, those of requests that are under way as the most they can take."""
    agreed: bool = False


class ServerSampling:
    """Answers `sampling/createMessage`."""

    def __init__(
        self,
        settings: Settings,
        conversation: Conversation,
        connection: ModelConnection,
        catalogue: Catalogue,
        questions: ServerQuestions,
    ) -> None:
        self._settings = settings
        self._conversation = conversation
        self._connection = connection
        self._catalogue = catalogue
        self._questions = questions
        self._sampled: dict[str, Sampled] = {}

    async def ask(self, server: str, params: Any) -> Any:
        """The reply as a `CreateMessageResult`, or `ErrorData` with one sentence. A fault of the model is not retried:
        the server hears of it and may ask again, within its budget."""
        from mcp.types import CreateMessageResult, ErrorData, TextContent

        used = self._sampled.setdefault(server, Sampled())
        if problem := self._over(used) or ("Tools are not offered to servers." if params.tools else ""):
            return ErrorData(code=REFUSED, message=problem)
        try:
            messages = await in_thread(lambda: _messages(params))
        except (MediaError, ValueError) as error:
            return ErrorData(code=INVALID, message=str(error))
        model = self._conversation.state.model or self._settings.model
        cap = max(1, min(params.max_tokens, self._settings.mcp_sampling_tokens - used.tokens))
        used.requests += 1
        used.tokens += cap
        taken = 0
        try:
            if not used.agreed and not await self._agrees(server, used, params, messages, cap):
                return ErrorData(code=REFUSED, message="The user rejected the request.")
            system = ({"type": "text", "text": sendable(params.system_prompt)},) if params.system_prompt else ()
            size = sum(len(message.text) for message in messages) // CHARACTERS_PER_TOKEN
            request = ModelRequest(model, cap, system, (), messages, size)
            await self._connection.open()
            taken = cap  # where it is broken off, what it took is not known
            stop = asyncio.Event()
            outcome = await shielded(self._sent(server, used, request, stop), stop.set)
            taken = outcome.usage.output
        finally:
            used.tokens += taken - cap
        if not isinstance(outcome, Reply):
            return ErrorData(code=REFUSED, message=f"The model gave no reply: {outcome.message}"[:300])
        text = TextContent(type="text", text=Message("assistant", outcome.content).text)
        reason = STOPS.get(outcome.stop_reason or "", outcome.stop_reason)
        return CreateMessageResult(role="assistant", content=text, model=outcome.model or model, stop_reason=reason)

    async def _sent(self, server: str, used: Sampled, request: ModelRequest, stop: asyncio.Event) -> Reply | Fault:
        """Its cost is the user's also where it is stopped."""
        outcome = await self._connection.client.send(request, lambda event: None, stop)
        cost = self._catalogue.cost(request.model, outcome.usage)
        self._conversation.add_spend(outcome.usage, cost, wasted=not isinstance(outcome, Reply))
        price = "at an unknown price" if cost is None else f"for ${cost:.4f}"
        took = f"{outcome.usage.output:,} tokens {price} ({used.requests} so far)"
        self._conversation.emit(Notice("info", f"the MCP server {server} asked {request.model}: {took}"))
        return outcome

    def _over(self, used: Sampled) -> str:
        """Why no further request is made; empty: one is."""
        settings, spent = self._settings, self._conversation.spend.cost_usd
        if used.requests >= settings.mcp_sampling_requests:
            return f"The {settings.mcp_sampling_requests} requests of this session are used up (mcp_sampling_requests)."
        if used.tokens >= settings.mcp_sampling_tokens:
            return f"The {settings.mcp_sampling_tokens:,} tokens of this session are used up (mcp_sampling_tokens)."
        if settings.max_budget_usd is not None and spent >= settings.max_budget_usd:
            return "The cost budget of the session is used up."
        return ""

    async def _agrees(self, server: str, used: Sampled, params: Any, messages: tuple[Message, ...], cap: int) -> bool:
        said = [f"system: {params.system_prompt}"] if params.system_prompt else []
        said += [f"{one.role}: {one.text or '(an image)'}" for one in messages]
        shown = visible("\n".join(said))
        shown = shown if len(shown) <= SHOWN_CHARACTERS else f"{shown[:SHOWN_CHARACTERS]}…"
        text = (
            f"The MCP server {server} wants to ask the model, at your cost: request {used.requests} of "
            f"{self._settings.mcp_sampling_requests}, at most {cap:,} tokens. It hears the reply.\n{shown}"
        )
        answer = await self._questions.question(server, text, (YES, ALWAYS, NO))
        used.agreed = used.agreed or (answer is not None and answer.text == ALWAYS)
        return answer is not None and answer.text in (YES, ALWAYS)


def _messages(params: Any) -> tuple[Message, ...]:
    """The messages of a request, as they can be sent. Raises ValueError and MediaError, one sentence."""
    found, characters = [], 0
    for message in params.messages:
        blocks: list[Block] = []
        for part in message.content_as_list:
            if part.type == "text":
                characters += len(part.text)
                blocks.append({"type": "text", "text": sendable(part.text)})
            elif part.type == "image":
                try:
                    data = base64.b64decode(part.data)
                except (binascii.Error, ValueError) as error:
                    raise ValueError("The base64 of an image is damaged.") from error
                blocks.append(attachment(data, "an image of the server").block)
            else:
                raise ValueError(f"Content of the type {part.type} cannot be sent to the model.")
        found.append(Message(message.role, tuple(blocks)))
    if characters > MOST_CHARACTERS:
        raise ValueError(f"The request has more than {MOST_CHARACTERS:,} characters.")
    repaired = history.repaired(found).messages
    if not repaired or repaired[-1].role != "user":
        raise ValueError("The last message has to be one of the user.")
    return repaired
