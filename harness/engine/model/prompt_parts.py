"""What stands before the conversation in every request, part by part, for a person to look at (lessons s10)."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.events import Json
from harness.model.instruction_texts import Instructions
from harness.model.prompt import Section

TOOLS = "tool schemas"


@dataclass(frozen=True, slots=True)
class PromptPart:
    """A section of the system prompt, or the schemas of all tools."""

    name: str
    text: str
    tokens: int
    sources: tuple[str, ...] = ()
    """The files that it was made of."""


def parts_of(
    sections: Iterable[Section],
    instructions: Iterable[Instructions],
    specs: Iterable[Json],
    count: Callable[[str], int],
) -> tuple[PromptPart, ...]:
    """The sections that say something and the tools; `count` tells the tokens of a text."""
    files = {"instructions": tuple(file.path for file in instructions)}
    texts = {section.name: text for section in sections if (text := section.text.strip())}
    texts[TOOLS] = "\n".join(json.dumps(spec, ensure_ascii=False) for spec in specs)
    return tuple(PromptPart(name, text, count(text), files.get(name, ())) for name, text in texts.items())
