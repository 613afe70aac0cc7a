"""Syntax highlighting of code, where it is certain to be quick."""

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.content import Content

from harness.ui.transcript.wrap import DIFF_STYLES

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
