"""The list of all settings as a page, written from the class itself."""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise

from pydantic.fields import FieldInfo

from harness.settings.fields import Settings
from harness.settings.kinds import words_for
from harness.settings.sources import VARIABLES


def settings_reference() -> str:
    """Every setting in Markdown: name, what fits, default, variables and what it is for."""
    purposes = _purposes()
    fields = Settings.model_fields.items()
    return "\n".join(line for name, info in fields for line in _entry(name, info, purposes.get(name, "")))


def _purposes() -> dict[str, str]:
    """What each setting is for: the text below it. Read here and not with the class, which every start needs."""
    [of_settings] = ast.parse(inspect.getsource(Settings)).body
    assert isinstance(of_settings, ast.ClassDef)
    found = {}
    for field, below in pairwise(of_settings.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
    return found


def _entry(name: str, info: FieldInfo, purpose: str) -> Iterator[str]:
    variables = [f"HARNESS_{name.upper()}", *(known for known, setting in VARIABLES.items() if setting == name)]
    yield f"### `{name}`"
    yield ""
    yield purpose
    yield ""
    yield f"- fits: {words_for(info.rebuild_annotation())}"
    yield f"- default: {_default(info)}"
    yield f"- variables: {', '.join(f'`{variable}`' for variable in variables)}"
    yield ""


def _default(info: FieldInfo) -> str:
    match info.default_factory, info.default:
        case None, None:
            return "not set"
        case None, bool(value):
            return f"`{str(value).lower()}`"
        case None, ():
            return "none"
        case None, value:
            return f"`{value}`"
        case _:
            return "the current folder"
