"""Updates code and values in the pages of the chapters: `python -m chapters.course.refresh`.

Three marks name the content: `<!-- code: harness/agent.py:Agent.run -->` before a block of Python,
`<!-- drawing: chapters.s22_loops.drawings:rows -->` before a block of text that this function returns, and
`<!-- value: harness.policies.recovery.backoff:BASE_S -->`, closed by `<!-- end -->`, around a value. An unknown name is
an error.
"""

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from pydantic import BaseModel

from chapters.course.catalogue import chapters_folder
from chapters.course.lesson import LessonError
from chapters.course.sources import source

CODE = re.compile(r"(?P<mark><!-- code: (?P<place>\S+) -->\n+)```python\n.*?^```$", re.DOTALL | re.MULTILINE)
DRAWING = re.compile(r"(?P<mark><!-- drawing: (?P<name>\S+) -->\n+)```text\n.*?^```$", re.DOTALL | re.MULTILINE)
VALUE = re.compile(r"(?P<mark><!-- value: (?P<name>\S+) -->)(?P<shown>.*?)(?P<end><!-- end -->)")
MARK = re.compile(r"<!-- (code|drawing|value): ")


def texts() -> Iterator[Path]:
    """The pages of the chapters with such marks."""
    for file in sorted(chapters_folder().glob("s*/*.md")):
        if MARK.search(file.read_text("utf-8")):
            yield file


def refreshed(text: str) -> str:
    """The text with current code and values. Raises LessonError for an unknown name."""
    marks = len(MARK.findall(text))
    text, blocks = CODE.subn(
        lambda match: f"{match['mark']}```python\n{source(match['place'], imports=True).text}```", text
    )
    text, drawings = DRAWING.subn(lambda match: f"{match['mark']}```text\n{drawing(match['name'])}```", text)
    text, values = VALUE.subn(lambda match: f"{match['mark']}{figure(match['name'])}{match['end']}", text)
    if missing := marks - blocks - drawings - values:
        raise LessonError(f"{missing} marks are not followed by a block of code or <!-- end -->.")
    return text


def figure(name: str) -> str:
    """The value of a name such as harness.settings:Settings.max_retries. Raises LessonError."""
    return in_words(_named(name))


def drawing(name: str) -> str:
    """The result of a function such as chapters.s22_loops.drawings:rows. Raises LessonError."""
    function = _named(name)
    if not callable(function):
        raise LessonError(f"{name} is not a function.")
    return f"{function()}\n"


def _named(name: str) -> object:
    module, _, path = name.partition(":")
    if not module.startswith(("harness.", "chapters.")):
        raise LessonError(f"{name} does not start with harness. or chapters.")
    try:
        value: object = import_module(module)
        for part in path.split("."):
            value = _part(value, part)
    except (ImportError, AttributeError) as error:
        raise LessonError(f"{name} does not exist: {error}.") from error
    return value


def in_words(value: object) -> str:
    """A value formatted for a README."""
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
    """Update the files and print their names."""
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
