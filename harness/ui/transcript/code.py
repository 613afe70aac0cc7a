"""Syntax highlighting of code, where it is certain to be quick."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.content import Content

from harness.ui.transcript.wrap import DIFF_STYLES, GOOD

if TYPE_CHECKING:
    from textual.highlight import HighlightTheme

MOST_CHARACTERS = 10_000
"""Longer code is not highlighted."""
MOST_CHARACTERS_OPEN = 4_000
"""The same for code that still streams in, which is highlighted anew with every piece."""
LONGEST_LINE = 400
"""Characters. Some lexers take quadratic time for long lines."""
BLANK_RUN = "\n" * 20
"""Likewise for many blank lines."""

_NAMES = "bash c cpp csharp css docker elixir go graphql haskell html ini javascript json jsx kotlin lua"
_MORE = "markdown php powershell protobuf pycon python ruby rust scala scss sql swift toml tsx typescript xml yaml"
LANGUAGES: Mapping[str, str] = MappingProxyType(
    {name: name for name in f"{_NAMES} {_MORE}".split()}
    | {
        "c#": "csharp",
        "c++": "cpp",
        "cs": "csharp",
        "dockerfile": "docker",
        "java": "csharp",  # its own lexer takes seconds for a page of words
        "js": "javascript",
        "kt": "kotlin",
        "md": "markdown",
        "proto": "protobuf",
        "py": "python",
        "python3": "python",
        "rb": "ruby",
        "rs": "rust",
        "sh": "bash",
        "shell": "bash",
        "ts": "typescript",
        "yml": "yaml",
        "zsh": "bash",
    }
)
"""The Pygments lexer for each language name: those measured to be quick within the limits above."""
LANGUAGE_OF_NAME: Mapping[str, str] = MappingProxyType(
    {"Dockerfile": "docker", "Cargo.lock": "toml", "uv.lock": "toml"}
)
"""Languages of files without a telling suffix."""
OPAQUE: Mapping[str, str] = MappingProxyType(
    {
        "Token.Comment": "dim italic",
        "Token.Literal.String.Backtick": "dim",
        "Token.Error": "$text-error",
        "Token.Generic.Error": "$text-error",
    }
)
"""Styles for token kinds that are pale, or have a background, in Textual."""


def coloured(code: str, language: str, *, closed: bool) -> Content:
    """The code, highlighted if `language` is known; `closed`: it is complete."""
    if language.lower() in ("diff", "patch"):
        return _change(code)
    lexer = LANGUAGES.get(language.lower())
    if lexer is None or len(code) > (MOST_CHARACTERS if closed else MOST_CHARACTERS_OPEN):
        return Content(code)
    if BLANK_RUN in code or max(map(len, code.split("\n"))) > LONGEST_LINE:
        return Content(code)
    from textual.highlight import highlight  # with Pygments, which only code needs

    return highlight(code, language=lexer, theme=_theme())


@cache
def _theme() -> type["HighlightTheme"]:
    """The colours of Textual, without the pale ones that are hard to read."""
    from textual.highlight import HighlightTheme

    class CodeColours(HighlightTheme):
        STYLES = {  # noqa: RUF012 (declared so by the class above)
            kind: OPAQUE.get(str(kind), re.sub(r" \d+%", "", style)) for kind, style in HighlightTheme.STYLES.items()
        }

    return CodeColours


def _change(code: str) -> Content:
    lines = code.split("\n")
    return Content("\n").join(Content.styled(line, DIFF_STYLES.get(line[:1], "")) for line in lines)


def change_lines(lines: Sequence[str], path: str) -> list[Content]:
    """Lines of a diff: removed ones are red, added ones highlighted as code of the file `path` behind a green sign.

    Without a known language, or with too much code, added lines are green.
    """
    styled = [Content.styled(line, DIFF_STYLES.get(line[:1], "dim")) for line in lines]
    language = LANGUAGE_OF_NAME.get(PurePath(path).name) or PurePath(path).suffix.removeprefix(".")
    new = [number for number, line in enumerate(lines) if line[:1] in ("+", " ")]
    code = "\n".join(lines[number][1:] for number in new)
    if language.lower() not in LANGUAGES or not code.strip():
        return styled
    found = coloured(code, language, closed=True)
    highlighted = found.split("\n", allow_blank=True)
    if found.plain != code or not found.spans:
        return styled
    for number, line in zip(new, highlighted, strict=True):
        if lines[number].startswith("+"):
            styled[number] = Content.assemble(("+", f"bold {GOOD}"), line)
    return styled
