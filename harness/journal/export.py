"""Records for export: as one JSON document, and with keys and tokens masked."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.errors import HarnessError
from harness.base.files import replace_atomically
from harness.base.secrets import MASK, Masking, Secret
from harness.events import Json, decode, encode
from harness.journal import Record, replay

KEY_SHAPES = r"\bsk-[A-Za-z0-9_-]{16,}"
"""The shape of API keys, in case a tool printed one that is not in the settings."""


def as_json(records: Sequence[Record], secrets: Iterable[Secret] = ()) -> str:
    """The session as one JSON object: `session`, `totals`, the current `messages`, and every event, masked.

    Each message and each event has a line of its own.
    """
    state = replay(records)
    session = {
        "id": state.session_id,
        "title": state.title,
        "workspace": state.workspace,
        "model": state.model,
        "forked_from": state.forked_from,
        "started_at": records[0].at if records else 0.0,
        "updated_at": records[-1].at if records else 0.0,
        "turns": state.turn,
        "interrupted": state.interrupted,
    }
    messages = [{"role": message.role, "content": message.content} for message in state.messages]
    events = [{"seq": record.seq, "at": record.at, **encode(record.event)} for record in records]
    totals = encode(state.spend) if state.spend else None
    text = (
        f'{{"session": {json.dumps(session)},\n"totals": {json.dumps(totals)},\n'
        f'"messages": {_list(messages)},\n"events": {_list(events)}}}\n'
    )
    return masked(text, secrets)


def _list(items: Iterable[Json]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, items)) + "\n]"


def save(text: str, file: Path) -> None:
    """Write an exported session. Raises HarnessError if the file cannot be written."""
    try:
        replace_atomically(file, text.encode())
    except OSError as error:
        raise HarnessError(f"{file} cannot be written: {error.strerror}; name another file.") from error


def without_secrets(records: Iterable[Record], secrets: Iterable[Secret]) -> tuple[Record, ...]:
    """The records with every text masked, for drawing: a key broken at the end of a line could not be found later."""
    known = tuple(secrets)
    return tuple(replace(record, event=decode(_masked_json(encode(record.event), known))) for record in records)


def _masked_json(value: Any, secrets: Sequence[Secret]) -> Any:
    match value:
        case str():
            return masked(value, secrets)
        case dict():
            return {key: _masked_json(inner, secrets) for key, inner in value.items()}
        case list() | tuple():
            return [_masked_json(inner, secrets) for inner in value]
        case _:
            return value


def masked(text: str, secrets: Iterable[Secret]) -> str:
    """The text without these secrets and without anything shaped like a key."""
    return re.sub(KEY_SHAPES, MASK, Masking(secrets).text(text))
