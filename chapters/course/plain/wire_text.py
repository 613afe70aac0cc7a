"""Requests and responses of a lesson, line by line, with additions to the previous request marked."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from chapters.course import Language, WireExchange
from chapters.course.plain import messages
from harness.events import Json

FIRST = ("model", "max_tokens", "messages")
"""First keys of a shown request, before the long tool descriptions."""
OF_THE_SDK = "x-stainless-"
LineKind = Literal["heading", "header", "json", "event"]


@dataclass(frozen=True, slots=True)
class WireLine:
    """A line of a request or response."""

    kind: LineKind
    text: str
    new: bool = False
    """Not in the request before."""


def exchange_lines(one: WireExchange, before: WireExchange | None, language: Language, most: int) -> Iterator[WireLine]:
    """A request and its response, with texts cut to `most` characters. The request is compared with `before`."""
    heading = messages.SENT.into(language).format(number=one.number)
    if before is not None:
        heading += " · " + messages.NEW_SINCE.into(language).format(number=before.number)
    yield WireLine("heading", heading)
    if one.path:
        yield WireLine("header", f"{one.method} {one.path}")
        yield WireLine("header", _headers(one.headers))
    yield from _request(one.sent, None if before is None else before.sent, most)
    yield WireLine("heading", response_heading(one, language))
    yield from response_lines(one, language, most)


def response_heading(one: WireExchange, language: Language) -> str:
    """The heading of a response, which says whether it was scripted."""
    heading = messages.RECEIVED.into(language).format(number=one.number)
    return f"{heading} · {messages.SCRIPTED.into(language).format(which=one.scripted)}" if one.scripted else heading


def response_lines(one: WireExchange, language: Language, most: int) -> Iterator[WireLine]:
    """A response as it arrived, with texts cut to `most` characters."""
    if not one.status:  # nothing was recorded, or nothing came
        reply = {"answer": one.answer, "stop_reason": one.stop_reason, "content": list(one.came)}
        yield from (WireLine("json", line) for line in _dumped(reply, most))
        return
    how = "" if one.answer == str(one.status) else f"  ({one.answer})"
    yield WireLine("header", f"HTTP/1.1 {one.status}{how}")
    yield WireLine("header", _headers(one.response_headers))
    for event in one.stream:
        broken = "" if event.complete else f"  ({messages.CUT_HERE.into(language)})"
        text = " ".join(part for part in (event.name, cut_texts(event.data, most)) if isinstance(part, str) and part)
        yield WireLine("event", f"{event.after_s:7.3f} s  {text}{broken}")
    if one.body:
        yield from (WireLine("json", line) for line in _body(one.body, most))
    if one.omitted:
        yield WireLine("header", messages.OMITTED.into(language).format(count=f"{one.omitted:,}"))


def _headers(headers: Sequence[tuple[str, str]]) -> str:
    """On one line, because they are the same in every request; those that describe the SDK are counted."""
    shown = [f"{name}: {value}" for name, value in headers if not name.startswith(OF_THE_SDK)]
    others = len(headers) - len(shown)
    return " · ".join([*shown, *([f"{OF_THE_SDK}* ({others})"] if others else [])])


def _body(text: str, most: int) -> Sequence[str]:
    try:
        return _dumped(json.loads(text), most)
    except ValueError:
        return str(cut_texts(text, most)).splitlines()


def _request(body: Json, before: Json | None, most: int) -> Iterator[WireLine]:
    ordered = {name: body[name] for name in FIRST if name in body} | dict(body)
    yield WireLine("json", "{")
    for index, (name, value) in enumerate(ordered.items(), 1):
        comma = "," if index < len(ordered) else ""
        old = value if before is None else before.get(name)
        if isinstance(value, list) and value:
            yield WireLine("json", f'  "{name}": [')
            yield from _items(value, old if isinstance(old, list) else [], most)
            yield WireLine("json", f"  ]{comma}")
        else:
            first, *others = _dumped(value, most)
            lines = [f'  "{name}": {first}', *(f"  {line}" for line in others)]
            lines[-1] += comma
            yield from (WireLine("json", line, new=_bare(old) != _bare(value)) for line in lines)
    yield WireLine("json", "}")


def _items(items: Sequence[object], old: Sequence[object], most: int) -> Iterator[WireLine]:
    same = sum(1 for _ in takewhile(lambda pair: _bare(pair[0]) == _bare(pair[1]), zip(items, old, strict=False)))
    for index, item in enumerate(items):
        lines = [f"    {line}" for line in _dumped(item, most)]
        lines[-1] += "," if index < len(items) - 1 else ""
        yield from (WireLine("json", line, new=index >= same) for line in lines)


def _bare(value: object) -> object:
    """Without cache breakpoints, which move from request to request."""
    match value:
        case dict():
            return {name: _bare(part) for name, part in value.items() if name != "cache_control"}
        case list():
            return [_bare(part) for part in value]
        case _:
            return value


def _dumped(value: object, most: int) -> list[str]:
    return json.dumps(cut_texts(value, most), indent=2, ensure_ascii=False).split("\n")


def cut_texts(value: object, most: int) -> object:
    """A value of JSON with its texts cut to `most` characters."""
    match value:
        case str() if len(value) > most:
            return f"{value[:most]}… ({len(value) - most:,} more characters)"
        case dict():
            return {name: cut_texts(part, most) for name, part in value.items()}
        case list() | tuple():
            return [cut_texts(part, most) for part in value]
        case _:
            return value
