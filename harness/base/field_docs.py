"""The texts below the fields of a class in its source: Python forgets them, documentation needs them."""

import ast
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest


@dataclass(frozen=True, slots=True)
class FieldDoc:
    """One field of a class, or one value of an enum or a module, as it is written."""

    name: str
    code: str
    """As in the source, on one line: `attempt: int = 1`."""
    text: str
    """The string below it; empty: there is none."""


def field_docs(of: type) -> tuple[FieldDoc, ...]:
    """The fields of a class in the order of its source, class variables and methods among them left out.

    Raises OSError where the source is not there.
    """
    return _texts(_classes(of.__module__)[of.__name__].body, _lines(of.__module__))


def value_docs(module: str) -> tuple[FieldDoc, ...]:
    """The names that a module binds outside of its classes and functions. `module` has to be imported."""
    return _texts(_tree(module).body, _lines(module))


def _texts(body: list[ast.stmt], lines: Sequence[str]) -> tuple[FieldDoc, ...]:
    found = []
    for statement, below in zip_longest(body, body[1:]):
        match statement:
            case ast.AnnAssign(annotation=ast.Subscript(value=ast.Name(id="ClassVar"))):
                continue
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                code = " ".join(line.strip() for line in lines[statement.lineno - 1 : statement.end_lineno])
                found.append(FieldDoc(name, code, _text(below)))
    return tuple(found)


def _text(statement: ast.stmt | None) -> str:
    match statement:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
        case _:
            return ""


def _classes(module: str) -> dict[str, ast.ClassDef]:
    return {node.name: node for node in _tree(module).body if isinstance(node, ast.ClassDef)}


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse("\n".join(_lines(module)))


@cache
def _lines(module: str) -> tuple[str, ...]:
    return tuple(inspect.getsource(sys.modules[module]).splitlines())
