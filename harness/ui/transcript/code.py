"""Syntax highlighting of code, where it is certain to be quick."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise
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
        "Token.Keyword.Namespace": "$text-accent",
        "Token.Name.Constant": "$text-secondary",
        "Token.Operator.Word": "bold $text-accent",
    }
)
"""Styles for token kinds that are pale, have a background, or are red in Textual. Red is kept for removed lines."""


def coloured(code: str, language: str, *, closed: bool) -> Content:
    """The code, highlighted if `language` is known; `closed`: it is complete."""
    if language.lower() in ("diff", "patch"):
        return _change(code, MOST_CHARACTERS if closed else MOST_CHARACTERS_OPEN)
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


def _change(code: str, limit: int) -> Content:
    lines = code.split("\n")
    path = next((line.removeprefix("+++ ").split("\t")[0] for line in lines if line.startswith("+++ ")), "")
    return Content("\n").join(change_lines(lines, path, usual="", limit=limit))


def change_lines(lines: Sequence[str], path: str, *, usual: str = "dim", limit: int = MOST_CHARACTERS) -> list[Content]:
    """Lines of a diff: removed ones are red, added ones highlighted as code of the file `path` behind a green sign.

    Without a known language, or beyond `limit` characters of code, added lines are green; `usual` is the style of
    unchanged ones.
    """
    styled = [Content.styled(line, DIFF_STYLES.get(line[:1], usual)) for line in lines]
    language = LANGUAGE_OF_NAME.get(PurePath(path).name) or PurePath(path).suffix.removeprefix(".")
    if language.lower() not in LANGUAGES:
        return styled
    for hunk in _hunks(lines):
        new = [number for number in hunk if lines[number][:1] in ("+", " ", "")]
        sizes = accumulate(len(lines[number]) for number in new)
        new = [number for number, size in zip(new, sizes, strict=True) if size <= limit]
        code = "\n".join(lines[number][1:] for number in new)
        limit -= len(code)
        if not code.strip():
            continue
        found = coloured(code, language, closed=True)
        if found.plain not in (code, code.removesuffix("\n")) or not found.spans:
            continue
        for number, line in zip(new, found.split("\n", allow_blank=True), strict=False):
            if lines[number].startswith("+"):
                styled[number] = Content.assemble(("+", f"bold {GOOD}"), line)
    return styled


def _hunks(lines: Sequence[str]) -> Iterator[range]:
    """The numbers of the lines of each hunk, without the lines above the first one."""
    starts = [number for number, line in enumerate(lines) if line.startswith("@@ ")]
    for start, end in pairwise((*starts, len(lines))):
        yield range(start + 1, end)
