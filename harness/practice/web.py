"""Web search and fetch of the practice server: a few made-up pages, found by their words, always the same.

Nothing is looked up anywhere. The names of the pages end in `.example`, and every page says that it is made up. What
the API seals (`encrypted_content`, `encrypted_index`) is sealed here as well: it holds the address of a page and is
signed, so that a client that changed it is refused.
"""

import base64
import json
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from harness.events import Block, Json
from harness.practice.checks.api_tools import server_result
from harness.practice.requests import blocks
from harness.practice.wire.replies import Part, RawBlock, ScriptedReply, TextPart, ToolUse

MOST_RESULTS = 3
LONGEST_QUERY = 1_000
"""Characters; a longer query is answered with the error `query_too_long`."""
USES_IN_A_REQUEST = 1
"""Calls that are answered in one request; at the next one the reply pauses (`pause_turn`). The API pauses after ten."""
_MARK = "practice."
_SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "do",
        "does",
        "for",
        "from",
        "how",
        "in",
        "is",
        "it",
        "of",
        "on",
        "or",
        "the",
        "to",
        "what",
    ]
)


@dataclass(frozen=True, slots=True)
class WebPage:
    """A made-up page."""

    url: str
    title: str
    text: str


PAGES = (
    WebPage(
        "https://wiki.practice.example/harbour-seal",
        "Harbour seal (made-up page)",
        "Harbour seals rest on sandbanks at low tide. A grown one weighs 100 kg and dives for up to half an hour.",
    ),
    WebPage(
        "https://docs.practice.example/retry-after",
        "Retry-After explained (made-up page)",
        "Retry-After says how many seconds a client should wait after a 429 or 503. Ignoring it takes longer.",
    ),
    WebPage(
        "https://news.practice.example/tram",
        "The new tram line opens (made-up page)",
        "The tram line to the harbour opens in spring. Trams run every eight minutes; a ticket costs two coins.",
    ),
    WebPage(
        "https://docs.practice.example/breaker",
        "Circuit breakers (made-up page)",
        "A circuit breaker opens after a few failures and lets one call through later, as a test.",
    ),
    WebPage(
        "https://wiki.practice.example/rain",
        "Rain (made-up page)",
        "Rain falls from clouds. The wettest month in this made-up town is November, with 22 days of rain.",
    ),
)


def run(body: Json, call: Json, used: int = 0) -> Block:
    """The result of a call of a server tool, given as its block.

    Args:
        body: the request, whose tool definition limits what may be found.
        call: the block with `id`, `name` and `input`.
        used: calls of this tool that the request has had already.
    """
    tool = _definition(body, str(call.get("name")))
    kind = (server_result(tool) if tool else None) or "web_search_tool_result"
    most = (tool or {}).get("max_uses")
    given = call.get("input") if isinstance(call.get("input"), dict) else {}
    if isinstance(most, int) and used >= most:
        content: Any = _error(kind, "max_uses_exceeded")
    elif call.get("name") == "web_search":
        content = _searched(tool or {}, given)
    elif call.get("name") == "web_fetch":
        content = _fetched(body, tool or {}, given)
    else:
        content = _error(kind, "unavailable")
    return {"type": kind, "tool_use_id": call.get("id"), "content": content}


def _definition(body: Json, name: str) -> Json | None:
    tools = (tool for tool in body.get("tools") or () if isinstance(tool, dict) and server_result(tool) is not None)
    return next((tool for tool in tools if tool.get("name") == name), None)


def _error(kind: str, code: str) -> Json:
    return {"type": f"{kind}_error", "error_code": code}


def _searched(tool: Json, given: Any) -> Any:
    query = given.get("query")
    if not isinstance(query, str) or not query.strip():
        return _error("web_search_tool_result", "invalid_tool_input")
    if len(query) > LONGEST_QUERY:
        return _error("web_search_tool_result", "query_too_long")
    wanted = _words(query)
    ranked = sorted(
        (page for page in PAGES if _allowed(page.url, tool)),
        key=lambda page: -len(wanted & _words(f"{page.title} {page.text}")),
    )
    return [
        {
            "type": "web_search_result",
            "url": page.url,
            "title": page.title,
            "encrypted_content": sealed(page.url),
            "page_age": None,
        }
        for page in ranked[:MOST_RESULTS]
    ]


def _fetched(body: Json, tool: Json, given: Any) -> Any:
    url = given.get("url")
    if not isinstance(url, str) or not url.strip():
        return _error("web_fetch_tool_result", "invalid_tool_input")
    if url not in json.dumps(body.get("messages"), ensure_ascii=False):
        return _error("web_fetch_tool_result", "url_not_in_prior_context")
    if not _allowed(url, tool):
        return _error("web_fetch_tool_result", "url_not_allowed")
    page = page_at(url)
    if page is None:
        return _error("web_fetch_tool_result", "url_not_accessible")
    return {
        "type": "web_fetch_result",
        "url": page.url,
        "content": {
            "type": "document",
            "title": page.title,
            "source": {"type": "text", "media_type": "text/plain", "data": page.text},
            "citations": {"enabled": True},
        },
        "retrieved_at": None,
    }


def page_at(url: str) -> WebPage | None:
    """The page at an address."""
    return next((page for page in PAGES if page.url == url.rstrip("/")), None)


def _allowed(url: str, tool: Json) -> bool:
    where = url.partition("://")[2]
    host = where.partition("/")[0]

    def within(domain: object) -> bool:
        name, _, path = str(domain).partition("/")
        return (host == name or host.endswith(f".{name}")) and where.partition("/")[2].startswith(path)

    allowed, blocked = tool.get("allowed_domains"), tool.get("blocked_domains")
    return (not allowed or any(map(within, allowed))) and not any(map(within, blocked or ()))


def _words(text: str) -> set[str]:
    words = re.findall(r"\w{2,}", text.casefold())
    return {word.removesuffix("s") for word in words} - _SMALL


# ── seals ───────────────────────────────────────────────────────────────────────────────────────────


def sealed(url: str) -> str:
    """The sealed content of a page in a result, readable for the server only."""
    inside = base64.urlsafe_b64encode(url.encode()).decode()
    return f"{_MARK}{inside}.{sha256(f'practice {inside}'.encode()).hexdigest()[:16]}"


def unsealed(seal: object) -> str | None:
    """The address in a seal; empty for one of another maker, None for one that was changed."""
    if not isinstance(seal, str) or not seal.startswith(_MARK):
        return "" if isinstance(seal, str) and seal else None
    inside, _, digest = seal.removeprefix(_MARK).partition(".")
    if digest != sha256(f"practice {inside}".encode()).hexdigest()[:16]:
        return None
    return base64.urlsafe_b64decode(inside).decode()


# ── what the model behind reads ─────────────────────────────────────────────────────────────────────


def as_client_tools(message: Json) -> Iterator[Json]:
    """A message of the assistant as the model behind reads it: results of server tools like those of any other tool."""
    part: list[Block] = []
    for block in blocks(message.get("content")):
        kind = str(block.get("type"))
        if kind == "server_tool_use":
            part.append({"type": "tool_use", "id": block.get("id"), "name": block.get("name"), "input": block["input"]})
        elif kind.endswith("_tool_result"):
            if part:
                yield {"role": "assistant", "content": part}
            part = []
            yield {"role": "user", "content": [_as_result(block)]}
        else:
            part.append(block)
    if part:
        yield {"role": "assistant", "content": part}


def _as_result(block: Block) -> Block:
    content = block.get("content")
    error = content.get("error_code") if isinstance(content, dict) else None
    text = "\n\n".join(map(_text, pages_in(block))) if error is None else str(error)
    failed = error is not None
    return {"type": "tool_result", "tool_use_id": block.get("tool_use_id"), "content": text, "is_error": failed}


def _text(page: WebPage) -> str:
    return f"{page.title}\n{page.url}\n{page.text}"


def pages_in(result: Block) -> tuple[WebPage, ...]:
    """The pages of a result; those of another maker without their text."""
    content = result.get("content")
    found = content if isinstance(content, list) else [content]
    urls = (str(item.get("url")) for item in found if isinstance(item, dict) and item.get("url"))
    return tuple(page_at(url) or WebPage(url, url, "") for url in urls)


# ── replies ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class Continued:
    """A reply in the making: the model behind is asked again after each result of a server tool."""

    body: Json
    """The request, with what the reply says so far."""
    parts: tuple[Part, ...] = ()
    uses: int = 0

    @classmethod
    def of(cls, body: Json) -> "Continued":
        """The beginning of a reply: calls that a pause left open are answered first."""
        made = cls(body)
        last = body["messages"][-1] if body.get("messages") else {}
        if isinstance(last, dict) and last.get("role") == "assistant":
            said = blocks(last.get("content"))
            answered = {block.get("tool_use_id") for block in said}
            for block in said:
                if block.get("type") == "server_tool_use" and block.get("id") not in answered:
                    made._add(RawBlock(run(body, block)))
                    made.uses += 1
        return made

    def after(self, reply: ScriptedReply) -> ScriptedReply | None:
        """The whole reply, where this is the end of it; None: the model behind is to be asked again."""
        served = [part for part in reply.parts if isinstance(part, ToolUse) and _definition(self.body, part.name)]
        if not served:
            whole = tuple(self._cited(part) for part in reply.parts)
            return replace(reply, parts=(*self.parts, *whole)) if self.parts else replace(reply, parts=whole)
        for part in reply.parts:
            if part not in served:
                self._add(part)
                continue
            assert isinstance(part, ToolUse)
            id = f"srvtoolu_{uuid.uuid4().hex[:24]}"
            call = {"type": "server_tool_use", "id": id, "name": part.name, "input": part.input}
            self._add(RawBlock(call))
            if self.uses >= USES_IN_A_REQUEST:
                return replace(reply, parts=self.parts, stop_reason="pause_turn")
            self._add(RawBlock(run(self.body, call, self._used(part.name))))
            self.uses += 1
        others: bool = any(isinstance(part, ToolUse) and part not in served for part in reply.parts)
        return replace(reply, parts=self.parts) if others else None

    def _used(self, name: str) -> int:
        calls = [part.block for part in self.parts if isinstance(part, RawBlock)]
        return len([one for one in calls if (one.get("type"), one.get("name")) == ("server_tool_use", name)]) - 1

    def _add(self, part: Part) -> None:
        self.parts += (part,)
        block: Block | None = None
        match part:
            case TextPart(text):
                block = {"type": "text", "text": text}
            case RawBlock(raw):
                block = raw
        if block is None:
            return
        messages = list(self.body["messages"])
        if messages and messages[-1].get("role") == "assistant":
            messages[-1] = {"role": "assistant", "content": [*blocks(messages[-1].get("content")), block]}
        else:
            messages.append({"role": "assistant", "content": [block]})
        self.body = self.body | {"messages": messages}

    def _cited(self, part: Part) -> Part:
        """A text with a citation of each page whose address it names."""
        if not isinstance(part, TextPart) or not self.body.get("messages"):
            return part
        last = self.body["messages"][-1]
        if not isinstance(last, dict) or last.get("role") != "assistant":
            return part
        pages = dict.fromkeys(
            page
            for block in blocks(last.get("content"))
            if str(block.get("type")).startswith("web_")
            for page in pages_in(block)
            if page.url in part.text
        )
        return replace(part, citations=tuple(map(_citation, pages)))


def _citation(page: WebPage) -> Json:
    return {
        "type": "web_search_result_location",
        "url": page.url,
        "title": page.title,
        "encrypted_index": sealed(page.url),
        "cited_text": page.text[:150],
    }


# ── checks ──────────────────────────────────────────────────────────────────────────────────────────


def seal_problems(content: Sequence[Block], place: str) -> Iterator[str]:
    """Changes to the sealed parts of a message that is sent back."""
    for index, block in enumerate(content):
        if block.get("type") == "web_search_tool_result" and isinstance(block.get("content"), list):
            for number, item in enumerate(block["content"]):
                seal = unsealed(item.get("encrypted_content")) if isinstance(item, dict) else None
                if seal is None or seal not in ("", item.get("url")):
                    yield (
                        f"{place}.{index}.web_search_tool_result.content.{number}: Invalid `encrypted_content` in "
                        "`search_result` block"
                    )
        for citation in block.get("citations") or () if block.get("type") == "text" else ():
            if (
                citation.get("type") == "web_search_result_location"
                and unsealed(citation.get("encrypted_index")) is None
            ):
                yield f"{place}.{index}.text.citations: Invalid `encrypted_index` in citation"
