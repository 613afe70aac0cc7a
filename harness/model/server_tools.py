"""Web search and fetch: tools that the server runs for the model (docs/web.md).

Calls, results and citations are blocks of the reply. They are sent back unchanged, including `encrypted_content`, from
which the server reads its own results.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from harness.events import Block, Json, Source
from harness.model.invariants import SERVER_USES, is_server_result

SEARCH = "web_search"
FETCH = "web_fetch"
_NEWEST = {SEARCH: "web_search_20260318", FETCH: "web_fetch_20260318"}
"""Types that every model of Anthropic accepts. Since `_20260209`, the model may write code that filters results;
`allowed_callers` disables that, so that no code runs and no container is kept."""
_OLDEST = {SEARCH: "web_search_20250305", FETCH: "web_fetch_20250910"}
"""Types for unknown models, supported by most gateways and cloud platforms."""
LONGEST = 200
"""Characters of a query or an address in one line."""


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Web access of the model."""

    search: bool = False
    fetch: bool = False
    allowed_domains: tuple[str, ...] = ()
    """The only domains; empty: all."""
    blocked_domains: tuple[str, ...] = ()
    max_uses: int | None = None
    """Limit of uses of each tool per request; None: the server's."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(name for name, on in ((SEARCH, self.search), (FETCH, self.fetch)) if on)

    def tools(self, *, newest: bool = True) -> tuple[Json, ...]:
        """The tools for a request. `newest`: the model accepts the newest types."""
        return tuple(self._tool(name, newest) for name in self.names)

    def _tool(self, name: str, newest: bool) -> Json:
        tool: Json = {"type": (_NEWEST if newest else _OLDEST)[name], "name": name}
        if newest:
            tool["allowed_callers"] = ["direct"]
        if self.allowed_domains:
            tool["allowed_domains"] = list(self.allowed_domains)
        if self.blocked_domains:
            tool["blocked_domains"] = list(self.blocked_domains)
        if self.max_uses is not None:
            tool["max_uses"] = self.max_uses
        if name == FETCH:
            tool["citations"] = {"enabled": True}
        return tool


def asked_for(call: Block) -> str:
    """The query or the address in a call of a server tool; may be empty."""
    given = call.get("input")
    values = given if isinstance(given, dict) else {}
    found = next((values[name] for name in ("query", "url") if isinstance(values.get(name), str)), "")
    return found if len(found) <= LONGEST else found[: LONGEST - 1] + "…"


def error_of(result: Block) -> str:
    """Error code in the result of a server tool, such as "max_uses_exceeded"; empty: no error."""
    content = result.get("content")
    if not isinstance(content, dict):
        return ""
    failed = str(content.get("type")).endswith("_error")
    return str(content.get("error_code") or "unavailable") if failed else ""


def pages_of(result: Block) -> tuple[Source, ...]:
    """The pages in the result of a search or a fetch."""
    content = result.get("content")
    if isinstance(content, dict):
        document = content.get("content")
        title = document.get("title") if isinstance(document, dict) else None
        return _sources([{"url": content.get("url"), "title": title}])
    return _sources(content if isinstance(content, list) else [])


def outcome_of(result: Block) -> str:
    """The result of a server tool in a few words: "3 results", "1 page", "max_uses_exceeded"."""
    if error := error_of(result):
        return error
    if str(result.get("type")).startswith(FETCH):
        return "1 page"
    number = len(pages_of(result))
    return "1 result" if number == 1 else f"{number} results"


def cited(content: Iterable[Block], seen: Iterable[Block]) -> tuple[Source, ...]:
    """The pages that texts cite, without duplicates, in order. `seen`: blocks that may contain their results."""
    pages = tuple(page for block in seen if is_server_result(block) for page in pages_of(block))
    found: dict[str, Source] = {}
    for block in content:
        citations = block.get("citations") if block.get("type") == "text" else None
        for citation in citations if isinstance(citations, list) else ():
            source = _cited(citation, pages) if isinstance(citation, dict) else None
            if source is not None:
                found.setdefault(source.url, source)
    return tuple(found.values())


def _cited(citation: Json, pages: Sequence[Source]) -> Source | None:
    """The page of one citation, which for a fetched document has only a title."""
    if sources := _sources([citation]):
        return sources[0]
    title = citation.get("document_title")
    return next((page for page in pages if title and page.title == title), None)


def _sources(items: Sequence[object]) -> tuple[Source, ...]:
    return tuple(
        Source(item["url"], item["title"] if isinstance(item.get("title"), str) else "")
        for item in items
        if isinstance(item, dict) and isinstance(item.get("url"), str) and item["url"]
    )


def in_words(block: Block) -> Block:
    """A block of a server tool as text for any model, and a text without its citations; other blocks unchanged.

    A call becomes its query or address, a result its pages and the text of a fetched page.
    """
    kind = block.get("type")
    if kind in SERVER_USES:
        return {"type": "text", "text": f"[{block.get('name')}: {asked_for(block)}]"}
    if is_server_result(block):
        known = str(kind).startswith((SEARCH, FETCH))
        return {"type": "text", "text": "\n".join((f"[{outcome_of(block) if known else kind}]", *_lines(block)))}
    if kind == "text" and "citations" in block:
        return {name: value for name, value in block.items() if name != "citations"}
    return block


def _lines(result: Block) -> Iterator[str]:
    yield from (f"{page.title} {page.url}".strip() for page in pages_of(result))
    match result.get("content"):
        case {"content": {"source": {"type": "text", "data": str(text)}}}:
            yield text
