"""Fills the texts of the chapters with code and figures of the program: `python -m harness.lessons.refresh`.

Three marks name what is filled in. `<!-- code: harness/agent.py:Agent.run -->` comes before a block of Python,
`<!-- drawing: chapters.s22_escape.drawings:rows -->` before a block of text that this function returns, and a value
goes between `<!-- value: harness.policies.recovery.backoff:BASE_S -->` and `<!-- end -->`. A name that does not exist
is an error, so a rename cannot leave a wrong text behind.
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

from harness.lessons.catalogue import chapters_folder
from harness.lessons.lesson import LessonError
from harness.lessons.sources import source

CODE = re.compile(r"(?P<mark><!-- code: (?P<place>\S+) -->\n+)```python\n.*?^```$", re.DOTALL | re.MULTILINE)
DRAWING = re.compile(r"(?P<mark><!-- drawing: (?P<name>\S+) -->\n+)```text\n.*?^```$", re.DOTALL | re.MULTILINE)
VALUE = re.compile(r"(?P<mark><!-- value: (?P<name>\S+) -->)(?P<shown>.*?)(?P<end><!-- end -->)")
MARK = re.compile(r"<!-- (code|drawing|value): ")


def texts() -> Iterator[Path]:
    """The texts that have such marks."""
    for file in sorted(chapters_folder().glob("s*/README*.md")):
        if MARK.search(file.read_text("utf-8")):
            yield file


def refreshed(text: str) -> str:
    """The text with code and figures as they are now. Raises LessonError for what is not there."""
    marks = len(MARK.findall(text))
    text, blocks = CODE.subn(lambda match: f"{match['mark']}```python\n{source(match['place']).text}```", text)
    text, drawings = DRAWING.subn(lambda match: f"{match['mark']}```text\n{drawing(match['name'])}```", text)
    text, values = VALUE.subn(lambda match: f"{match['mark']}{figure(match['name'])}{match['end']}", text)
    if missing := marks - blocks - drawings - values:
        raise LessonError(f"{missing} marks have no block of code or no <!-- end --> behind them.")
    return text


def figure(name: str) -> str:
    """The value of a name such as harness.settings:Settings.max_retries, in words. Raises LessonError."""
    return in_words(_named(name))


def drawing(name: str) -> str:
    """The lines that a function such as chapters.s22_escape.drawings:rows returns. Raises LessonError."""
    function = _named(name)
    if not callable(function):
        raise LessonError(f"{name} is not a function; a drawing is what a function returns.")
    return f"{function()}\n"


def _named(name: str) -> object:
    module, _, path = name.partition(":")
    if not module.startswith(("harness.", "chapters.")):
        raise LessonError(f"{name} is no name of this program; it begins with harness. or chapters.")
    try:
        value: object = import_module(module)
        for part in path.split("."):
            value = _part(value, part)
    except (ImportError, AttributeError) as error:
        raise LessonError(f"{name} is not there any more: {error}.") from error
    return value


def in_words(value: object) -> str:
    """A value as a text shows it."""
    match value:
        case bool():
            return "on" if value else "off"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:g}"
        case tuple() | frozenset() | list():
            return ", ".join(map(in_words, value))
        case _:
            return str(value)


def _part(value: object, name: str) -> object:
    if isinstance(value, type) and issubclass(value, BaseModel) and name in value.model_fields:
        return value.model_fields[name].default
    if isinstance(value, type) and name in (fields := getattr(value, "__dataclass_fields__", {})):
        return fields[name].default
    return getattr(value, name)


def main() -> int:
    """Write what has changed."""
    for file in texts():
        text = file.read_text("utf-8")
        try:
            new = refreshed(text)
        except LessonError as error:
            print(f"{file.parent.name}/{file.name}: {error}", file=sys.stderr)
            return 1
        if new != text:
            file.write_text(new, "utf-8")
            print(f"{file.parent.name}/{file.name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
