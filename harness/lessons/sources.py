"""Code as it runs, found by its path and name: what a chapter shows can never be another."""

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
class Source:
    """A piece of the program."""

    place: str
    """As it was asked for: "harness/policies/recovery/backoff.py:retry_delay", or a path alone."""
    path: str
    first_line: int
    """Counts from 1."""
    text: str
    """As it stands there, a method as far left as a function."""


def source(place: str) -> Source:
    """The code at a place: a file, or a class, a function, a method or a name in it.

    Raises LessonError when it is not there any more.
    """
    path, _, name = place.partition(":")
    file = _file(path)
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise LessonError(f"{place} cannot be shown: {error.strerror or error}.") from error
    if not name:
        return Source(place, path, 1, text)
    first, last = _lines_of(text, name, place)
    return Source(place, path, first, dedent("\n".join(text.splitlines()[first - 1 : last])) + "\n")


def difference(one: Lesson) -> str:
    """What the demo of a chapter has that the one before it has not, and the other way round."""
    earlier = before(one)
    if earlier is None:
        return source(one.demo).text
    old, new = source(earlier.demo), source(one.demo)
    lines = unified_diff(old.text.splitlines(), new.text.splitlines(), old.path, new.path, lineterm="")
    return "\n".join(lines) + "\n"


def _file(path: str) -> Path:
    """The file of a path such as harness/agent.py, wherever the two packages are installed."""
    package, _, rest = path.partition("/")
    homes = {"harness": Path(harness.__file__).parent, "chapters": chapters_folder()}
    if package not in homes or ".." in Path(rest).parts:
        raise LessonError(f"{path} cannot be shown; a path begins with harness/ or chapters/.")
    return homes[package] / rest


@lru_cache(256)  # a chapter asks for the same places at every step, and reading a module takes its time
def _lines_of(text: str, name: str, place: str) -> tuple[int, int]:
    body: list[ast.stmt] = ast.parse(text).body
    first = last = 0
    for part in name.split("."):
        number = next((number for number, statement in enumerate(body) if part in _names(statement)), None)
        if number is None:
            raise LessonError(f"{place} is not there any more; the chapter has to name what took its place.")
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
