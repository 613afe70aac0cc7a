"""The list of all settings as a page, written from the class itself."""

from collections.abc import Iterator

from pydantic.fields import FieldInfo

from harness.settings.fields import Settings
from harness.settings.kinds import words_for
from harness.settings.sources import VARIABLES


def settings_reference() -> str:
    """Every setting in Markdown: name, what fits, default, variables and what it is for."""
    return "\n".join(line for name, info in Settings.model_fields.items() for line in _entry(name, info))


def _entry(name: str, info: FieldInfo) -> Iterator[str]:
    variables = [f"HARNESS_{name.upper()}", *(known for known, setting in VARIABLES.items() if setting == name)]
    yield f"### `{name}`"
    yield ""
    yield info.description or ""
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
