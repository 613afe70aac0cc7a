"""The summary that takes the place of a history that grew too long."""

import json
from collections.abc import Iterator

from harness.practice.improviser.conversation import Conversation
from harness.practice.improviser.plan_context import described
from harness.practice.improviser.quotes import unwrapped
from harness.practice.improviser.summary_form import form_turn, paths_of
from harness.practice.improviser.turns import Exchange, Turn
from harness.practice.user_text import HEADING

_CHARACTERS_A_TOKEN = 3
_EXCERPTS = (4_000, 1_000, 300, 80, 0)
"""Characters of each text that are kept; the first of these with which the summary fits is used."""
_TITLE_WORDS = 8
_LONGEST_TITLE = 50
_PATHS = ("path", "file_path", "file", "filename")


def summarise(conversation: Conversation) -> str:
    """What was asked, done and found out, in a form that can be read back.

    The last request is still open if its answer has not been given. Texts are shortened, and at last
    the oldest requests left out, until the summary fits into the output limit.
    """
    room = max(200, conversation.max_tokens * _CHARACTERS_A_TOKEN)
    turns = tuple(turn for turn in conversation.turns if turn.prompt or turn.exchanges or turn.arrivals)
    for excerpt in _EXCERPTS:
        text = _summary(conversation, turns, excerpt)
        if len(text) <= room:
            return text
    while len(turns) > 1:
        turns = turns[1:]
        text = _summary(conversation, turns, 0)
        if len(text) <= room:
            return text
    return _summary(conversation, turns, 0)[:room]


def title_of(prompt: str, *, as_json: bool) -> str:
    """A title for a conversation that begins with this prompt: its first words."""
    words = unwrapped(prompt).split("\n")[0].split()
    title = " ".join(words[:_TITLE_WORDS])[:_LONGEST_TITLE].rstrip(" ,.;:、。") or "Practice"
    return json.dumps({"isNewTopic": True, "title": title}, ensure_ascii=False) if as_json else title


def _summary(conversation: Conversation, turns: tuple[Turn, ...], excerpt: int) -> str:
    return "\n\n".join(part for part in _parts(conversation, turns, excerpt) if part)


def _parts(conversation: Conversation, turns: tuple[Turn, ...], excerpt: int) -> Iterator[str]:
    yield HEADING
    if conversation.background:
        yield f"## Before that\n{conversation.background[: excerpt or 80]}"
    yield "## Requests of the person, word for word, and what was done for each"
    for number, turn in enumerate(turns, 1):
        is_open = number == len(turns) and not turn.answered
        yield form_turn(number, turn, in_progress=is_open, excerpt=excerpt)
    exchanges = tuple(exchange for turn in turns for exchange in turn.exchanges)
    yield f"## Files\n{_files(exchanges)}"
    yield f"## Commands\n{_commands(exchanges)}"
    yield f"## Next\n{_next(turns)}"


def _files(exchanges: tuple[Exchange, ...]) -> str:
    fine = tuple(exchange for exchange in exchanges if not exchange.result.failed)
    changed = paths_of((e for e in fine if len(e.call.input) > 1 and _writes(e)), *_PATHS)
    read = tuple(path for path in paths_of(fine, *_PATHS) if path not in changed)
    lines = [f"- changed: {', '.join(changed)}"] if changed else []
    lines += [f"- looked at: {', '.join(read)}"] if read else []
    return "\n".join(lines) or "none"


def _writes(exchange: Exchange) -> bool:
    return any(word in exchange.call.name.lower() for word in ("write", "edit", "create", "replace", "save"))


def _commands(exchanges: tuple[Exchange, ...]) -> str:
    run = [exchange for exchange in exchanges if "command" in exchange.call.input]
    lines = [f"- {described(exchange.call)}: {'failed' if exchange.result.failed else 'ok'}" for exchange in run]
    return "\n".join(lines) or "none"


def _next(turns: tuple[Turn, ...]) -> str:
    if turns and not turns[-1].answered:
        return f"Finish request {len(turns)}; the calls listed with it have been made."
    return "Wait for the next request."
