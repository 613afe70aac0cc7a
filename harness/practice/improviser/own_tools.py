"""Tools that somebody else wrote: when to call them, and with what.

A tool of one's own is called when its name is in the sentence, or enough words of its description.
Its arguments are taken from the sentence by type: numbers for numbers, quoted text or names for text.
"""

import re
from collections.abc import Iterator
from typing import Any

from harness.events import Json
from harness.practice.improviser.goals import UseTool
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.schemas import kinds_of, properties_of, required_of
from harness.practice.improviser.toolset import Tool, ToolSet
from harness.practice.improviser.values import Call

_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        the a an of for and or to in on at is are was with from this that it its by as be can you your my me
        use used using  tool tools get gets give gives return returns returned show shows file files text
        value values string number  numbers one two given what which how when where who do does any all new
        user please not into about call
        """,
    )
)
_ENOUGH = 2
"""Words of a description that must be in the sentence."""


def goal_for_own_tool(clause: Sentence, tools: ToolSet, *, by_name: bool) -> UseTool | None:
    """The own tool that a clause asks for by its name, or else by words of its description."""
    said = _words(clause.plain)
    best: tuple[int, str] | None = None
    for tool in tools.own:
        score = _name_score(tool, clause, said) if by_name else len(said & _words(tool.description))
        if score >= (1 if by_name else _ENOUGH) and (best is None or score > best[0]):
            best = (score, tool.name)
    return UseTool(best[1], clause) if best else None


def call_of(tool: Tool, clause: Sentence) -> tuple[Call | None, tuple[str, ...]]:
    """The call, or None with the names of the arguments that the sentence does not give."""
    values = dict(_arguments(tool, clause))
    missing = tuple(name for name in required_of(tool.schema) if name not in values)
    return (None, missing) if missing else (tool.call(values), ())


def _arguments(tool: Tool, clause: Sentence) -> Iterator[tuple[str, Any]]:
    numbers = list(clause.numbers)
    texts = list(_texts(tool, clause))
    wanted = set(required_of(tool.schema))
    for name, field in properties_of(tool.schema).items():
        kinds = kinds_of(field, tool.schema)
        named = _assigned(name, clause)
        choice = _choice(field, clause)
        if choice is not None:
            yield name, choice
        elif named is not None and (value := _as(kinds, named)) is not None:
            yield name, value
        elif "number" in kinds and numbers:
            yield name, numbers.pop(0)
        elif "integer" in kinds and (whole := next((n for n in numbers if float(n).is_integer()), None)) is not None:
            numbers.remove(whole)
            yield name, int(whole)
        elif "array" in kinds and name in wanted:
            yield name, _several(field, tool.schema, clause)
        elif "boolean" in kinds and name in wanted:
            yield name, name.lower() in clause.words
        elif ("string" in kinds or not kinds) and texts and (name in wanted or len(texts) > _still(tool, name)):
            yield name, texts.pop(0)


def _still(tool: Tool, name: str) -> int:
    """Text arguments that must be there and come after an optional one."""
    return sum(1 for other in required_of(tool.schema) if other != name)


def _several(field: Json, root: Json, clause: Sentence) -> list[Any]:
    items = field.get("items")
    kinds = kinds_of(items, root) if isinstance(items, dict) else ()
    if "integer" in kinds or "number" in kinds:
        return [int(n) if "number" not in kinds else n for n in clause.numbers]
    return list(clause.quoted or clause.paths)


def _choice(field: Json, clause: Sentence) -> Any:
    options = field.get("enum")
    if not isinstance(options, list):
        return None
    said = clause.plain.lower()
    return next((option for option in options if isinstance(option, str) and option and option.lower() in said), None)


def _assigned(name: str, clause: Sentence) -> str | None:
    """ "city=Paris" or "city: Paris"."""
    match = re.search(rf"\b{re.escape(name)}\s*[=:]\s*(?P<value>\S+)", clause.text, re.I)
    return clause.restored(match["value"].rstrip(",.")) if match else None


def _as(kinds: tuple[str, ...], text: str) -> Any:
    if re.fullmatch(r"-?\d{1,18}", text) and ("integer" in kinds or "number" in kinds):
        return int(text)
    if re.fullmatch(r"-?\d{1,18}\.\d{1,18}", text) and "number" in kinds:
        return float(text)
    if text.lower() in ("true", "false") and "boolean" in kinds:
        return text.lower() == "true"
    return text if "string" in kinds or not kinds else None


def _texts(tool: Tool, clause: Sentence) -> Iterator[str]:
    """Text for arguments: quotes, files, what follows "in" or "for", names, at last the remaining words."""
    if clause.quoted or clause.paths:
        yield from dict.fromkeys((*clause.quoted, *clause.paths))
        return
    known = _words(tool.name.replace("_", " "), everything=True) | _COMMON
    plain = clause.plain.strip(" ?.!。？！")
    names = [
        name for name in re.findall(r"(?<=\s)[A-Z][\w'-]*(?:\s+[A-Z][\w'-]*)*", plain) if name.lower() not in known
    ]
    if names:
        yield from names
        return
    if match := re.search(r"\b(?:in|for|of|to|about|with|at|on)\s+(?:the\s+)?(?P<rest>[^,?]+)$", plain, re.I):
        yield match["rest"].strip()
        return
    if match := re.match(r"(?P<rest>[^のをにはが、\s]+)(?:の|を|に|は|が)", plain):
        yield match["rest"]
        return
    rest = [word for word in re.findall(r"[\w'-]+", plain) if word.lower() not in known and not word.isdigit()]
    if rest:
        yield " ".join(rest)


def _name_score(tool: Tool, clause: Sentence, said: frozenset[str]) -> int:
    if re.search(rf"(?<!\w){re.escape(tool.name)}(?!\w)", clause.plain, re.I | re.A):
        return 100
    parts = _words(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tool.name).replace("_", " ").replace("-", " "))
    return len(parts) if parts and parts <= said else 0


def _words(text: str, *, everything: bool = False) -> frozenset[str]:
    words = {_stem(word) for word in re.findall(r"[a-z]{2,}|[ァ-ヴー]{2,}|[一-龥]{2,}", text.lower())}
    return frozenset(words if everything else words - _COMMON)


def _stem(word: str) -> str:
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word
