"""Prompts of servers: what a slash command like `/mcp__docs__review main.py strict` fills in and brings."""

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from harness.mcp.connection import McpError
from harness.mcp.offers import ServerPrompt

_WORD = re.compile(r"\s*(\"[^\"]*\"|'[^']*'|\S+)")


def filled_in(command: str, prompt: ServerPrompt, text: str) -> dict[str, str]:
    """The arguments in the text behind a command, in the order of the prompt; `NAME=VALUE` names one.

    Words in quotes are one argument, and the last argument takes the rest of the text. Raises McpError, which names
    those that are missing.
    """
    given: dict[str, str] = {}
    rest = text.strip()
    while rest:
        left = [name for name in prompt.arguments if name not in given]
        name, _, value = rest.partition("=")
        if name in left:
            word, rest = _first(value)
            given[name] = word
        elif not left:
            raise McpError(f"/{command} takes {prompt.hint or 'no arguments'}; {rest[:60]!r} is too much.")
        elif len(left) == 1:
            given[left[0]], rest = _unquoted(rest), ""
        else:
            given[left[0]], rest = _first(rest)
    if missing := [name for name in prompt.arguments if name in prompt.required and name not in given]:
        raise McpError(f"/{command} needs {' and '.join(missing)}; type /{command} {prompt.hint}.")
    return given


def _first(text: str) -> tuple[str, str]:
    """The first word, without quotes, and what follows."""
    found = _WORD.match(text)
    return (_unquoted(found[1]), text[found.end() :].strip()) if found else ("", "")


def _unquoted(text: str) -> str:
    try:
        words = shlex.split(text) if text[:1] in "'\"" else []
    except ValueError:
        words = []
    return words[0] if len(words) == 1 else text


def parts_of(messages: Any) -> Iterator[Any]:
    """The content of a prompt as content blocks; what the server lets the assistant say is marked."""
    from mcp.types import TextContent

    for message in messages:
        if message.role == "assistant":
            yield TextContent(type="text", text="You answered earlier:")
        yield message.content


def unknown(command: str, known: Mapping[str, object]) -> str:
    """A sentence about a command that no prompt has."""
    names = ", ".join(f"/{name}" for name in known)
    return f"The server has no prompt /{command}; " + (f"it has {names}." if names else "it offers none.")
