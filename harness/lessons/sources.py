"""Code of the program by path and name, for the chapters to show."""

import ast
from dataclasses import dataclass
from difflib import unified_diff
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

import harness
from harness.lessons.catalogue import before, chapters_folder
from harness.lessons.lesson import Lesson, LessonError


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


def source(place: str) -> CodeExcerpt:
    """The code at a place: a file, or a name in it. Raises LessonError if it does not exist."""
    path, _, name = place.partition(":")
    file = _file(path)
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise LessonError(f"{place} cannot be shown: {error.strerror or error}.") from error
    if not name:
        return CodeExcerpt(place, path, 1, text)
    first, last = _lines_of(text, name, place)
    return CodeExcerpt(place, path, first, dedent("\n".join(text.splitlines()[first - 1 : last])) + "\n")


def difference(one: Lesson) -> str:
    """A diff of the demo against that of the previous chapter."""
    earlier = before(one)
    if earlier is None:
        return source(one.demo).text
    old, new = source(earlier.demo), source(one.demo)
    lines = unified_diff(old.text.splitlines(), new.text.splitlines(), old.path, new.path, lineterm="")
    return "\n".join(lines) + "\n"


def _file(path: str) -> Path:
    package, _, rest = path.partition("/")
    homes = {"harness": Path(harness.__file__).parent, "chapters": chapters_folder()}
    if package not in homes or ".." in Path(rest).parts:
        raise LessonError(f"{path} cannot be shown; a path starts with harness/ or chapters/.")
    return homes[package] / rest


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
