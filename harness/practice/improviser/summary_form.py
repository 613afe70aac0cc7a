"""The form of a conversation summary: written by `summary`, read back by `conversation`.

A history that grew too long is replaced by a summary. What the summary leaves out is gone, so this
one keeps what an agent needs in order to go on: the requests word for word, and the calls with their
outcome. It reads well and can be parsed, so that the practice model picks up its plan in the middle.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from harness.practice.improviser.turns import Arrival, Call, Exchange, Result, Turn
from harness.practice.user_text import HEADING

_REQUEST = re.compile(r"^### Request \d+ \((answered|in progress)\)$")
_CALL = re.compile(r"^- `(?P<name>[^`]+)` (?P<input>\{.*\}) (?P<outcome>ok|failed): (?P<text>\".*\")$")
_ARRIVED = re.compile(r"^Arrived, `(?P<kind>[^`]*)` from `(?P<source>[^`]*)`: (?P<text>\".*\")$")
_SAID = re.compile(r"^Answer: (?P<text>\".*\")$")


def form_turn(number: int, turn: Turn, *, in_progress: bool, excerpt: int) -> str:
    """One request of the summary, its texts cut to `excerpt` characters."""
    lines = [f"### Request {number} ({'in progress' if in_progress else 'answered'})"]
    lines += [f"> {line}" for line in turn.prompt.split("\n")]
    lines += [
        f"Arrived, `{one.kind}` from `{one.source}`: {_quoted(one.text, excerpt)}"
        for one in (turn.arrivals if in_progress else ())
    ]
    lines += [_form_call(exchange, excerpt) for exchange in (turn.standing if in_progress else turn.exchanges)]
    if turn.said:
        lines.append(f"Answer: {_quoted(turn.said, excerpt)}")
    return "\n".join(lines)


def parse_summary(text: str) -> tuple[Turn, ...]:
    """The turns that a summary of our form holds; empty when it is of another form."""
    if HEADING not in text:
        return ()
    turns: list[Turn] = []
    for line in text.split("\n"):
        if _REQUEST.match(line):
            turns.append(Turn("", answered="(answered)" in line))
        elif turns:
            turns[-1] = _with_line(turns[-1], line)
    return tuple(turns)


def _with_line(turn: Turn, line: str) -> Turn:
    if line.startswith("> ") and not turn.exchanges:
        return replace(turn, prompt=f"{turn.prompt}\n{line[2:]}" if turn.prompt else line[2:])
    if call := _CALL.match(line):
        exchange = _exchange(call)
        return replace(turn, exchanges=(*turn.exchanges, exchange)) if exchange else turn
    if arrived := _ARRIVED.match(line):
        arrival = Arrival(arrived["kind"], arrived["source"], _unquoted(arrived["text"]))
        return replace(turn, arrivals=(*turn.arrivals, arrival))
    if said := _SAID.match(line):
        return replace(turn, said=_unquoted(said["text"]))
    return turn


def _form_call(exchange: Exchange, excerpt: int) -> str:
    outcome = "failed" if exchange.result.failed else "ok"
    given = json.dumps(exchange.call.input, ensure_ascii=False)
    return f"- `{exchange.call.name}` {given} {outcome}: {_quoted(exchange.result.text, excerpt)}"


def _exchange(match: re.Match[str]) -> Exchange | None:
    try:
        given = json.loads(match["input"])
    except ValueError:
        return None
    if not isinstance(given, dict):
        return None
    return Exchange(Call(match["name"], given), Result(_unquoted(match["text"]), match["outcome"] == "failed"))


def _quoted(text: str, excerpt: int) -> str:
    shown = text if len(text) <= excerpt else f"{text[:excerpt]} …"
    return json.dumps(shown, ensure_ascii=False)


def _unquoted(text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def paths_of(exchanges: Iterable[Exchange], *keys: str) -> tuple[str, ...]:
    """The values of the path arguments of these calls, each once, in order."""
    found = [exchange.call.input.get(key) for exchange in exchanges for key in keys]
    return tuple(dict.fromkeys(path for path in found if isinstance(path, str)))
