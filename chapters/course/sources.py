"""Code of the program by path and name, for the chapters to show."""

import ast
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

import harness
from chapters.course.catalogue import before, chapters_folder
from chapters.course.lesson import Lesson, LessonError


@dataclass(frozen=True, slots=True)
class CodeExcerpt:
    """A piece of code."""

    place: str
    """For example "harness/policies/recovery/backoff.py:retry_delay", or a path."""
    path: str
    first_line: int
    """From 1."""
    text: str
    """Dedented."""
    deciding: int = 0
    """Number of the line that decides; 0: none is named."""


def source(place: str, *, imports: bool = False) -> CodeExcerpt:
    """The code at a place: a file, a name in it, and the text of the line that decides, joined by colons.

    A file is shown without its imports, unless `imports`; `path::text` names a line of a file. Raises LessonError if
    the code does not exist, or if not exactly one of its lines starts with the text or contains it. Learners change the
    chapters: there such a line is none that decides.
    """
    path, name, line = parts_of(place)
    file = _file(path)
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise LessonError(f"{place} cannot be shown: {error.strerror or error}.") from error
    lines = text.splitlines()
    first, last = _lines_of(text, name, place) if name else (1 if imports else _after_imports(path, text), len(lines))
    shown = lines[first - 1 : last]
    return CodeExcerpt(
        f"{path}:{name}" if name else path,
        path,
        first,
        dedent("\n".join(shown)) + "\n",
        0 if not line or (number := _only(shown, line, place)) is None else first + number,
    )


def parts_of(place: str) -> tuple[str, str, str]:
    """Path, name and text of the deciding line of a place; the last two may be empty."""
    path, _, rest = place.partition(":")
    name, _, line = rest.partition(":")
    return path, name, line.strip()


def difference(one: Lesson) -> str:
    """A diff of my_agent.py against that of the previous chapter; of the first chapter the whole program."""
    earlier = before(one)
    if earlier is None:
        return source(one.agent, imports=True).text
    old, new = source(earlier.agent, imports=True).text, source(one.agent, imports=True).text
    lines = unified_diff(old.splitlines(), new.splitlines(), earlier.agent, one.agent, lineterm="")
    return "\n".join(lines) + "\n"


def new_lines(one: Lesson) -> tuple[int, ...]:
    """Numbers of the lines of my_agent.py that the program of the previous chapter does not have."""
    earlier = before(one)
    if earlier is None:
        return ()
    old, new = (source(each.agent, imports=True).text.splitlines() for each in (earlier, one))
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return tuple(number + 1 for tag, _, _, first, last in blocks if tag != "equal" for number in range(first, last))


def _file(path: str) -> Path:
    package, _, rest = path.partition("/")
    homes = {"harness": Path(harness.__file__).parent, "chapters": chapters_folder()}
    if package not in homes or ".." in Path(rest).parts:
        raise LessonError(f"{path} cannot be shown; a path starts with harness/ or chapters/.")
    return homes[package] / rest


def _only(lines: list[str], text: str, place: str) -> int | None:
    found = [number for number, line in enumerate(lines) if text in line]
    first = [number for number in found if lines[number].lstrip().startswith(text)]
    found = first if len(first) == 1 else found
    if len(found) != 1:
        if place.startswith("chapters/"):
            return None
        raise LessonError(f"{place}: {len(found)} lines contain {text!r}, not one; update the chapter.")
    return found[0]


@lru_cache(64)
def _after_imports(path: str, text: str) -> int:
    """The line of the first statement that is neither the docstring nor an import, with comments above it."""
    if not path.endswith(".py"):
        return 1
    body = ast.parse(text).body
    head = 1 if _is_docstring(body[:1]) else 0
    while head < len(body) and isinstance(body[head], ast.Import | ast.ImportFrom):
        head += 1
    if head in (0, len(body)):
        return 1
    lines, first = text.splitlines(), body[head - 1].end_lineno or 1
    return next((number for number, line in enumerate(lines[first:], first + 1) if line.strip()), 1)


@lru_cache(256)  # chapters show the same places at every step
def _lines_of(text: str, name: str, place: str) -> tuple[int, int]:
    body: list[ast.stmt] = ast.parse(text).body
    first = last = 0
    for part in name.split("."):
        number = next((number for number, statement in enumerate(body) if part in _names(statement)), None)
        if number is None:
            raise LessonError(f"{place} does not exist; update the chapter.")
        found = body[number]
        first, last = _first_line(found), found.end_lineno or found.lineno
        if isinstance(found, ast.Assign | ast.AnnAssign) and _is_docstring(body[number + 1 : number + 2]):
            last = body[number + 1].end_lineno or last
        body = found.body if isinstance(found, ast.ClassDef) else []
    return first, last


def _names(statement: ast.stmt) -> tuple[str, ...]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.AnnAssign(target=ast.Name(id=name)):
            return (name,)
        case ast.Assign(targets=targets):
            return tuple(target.id for target in targets if isinstance(target, ast.Name))
        case _:
            return ()


def _first_line(statement: ast.stmt) -> int:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
        case _:
            return statement.lineno


def _is_docstring(statements: list[ast.stmt]) -> bool:
    match statements:
        case [ast.Expr(value=ast.Constant(value=str()))]:
            return True
        case _:
            return False
