"""Syntax highlighting of code, where it is certain to be quick."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise, product
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from textual.content import Content

from harness.ui.transcript.wrap import DIFF_STYLES, MUTED, TINTS

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
    return Content("\n").join(change_lines(lines, path, limit=limit))


def change_lines(lines: Sequence[str], path: str, *, limit: int = MOST_CHARACTERS) -> list[Content]:
    """Lines of a diff with their signs, changed ones tinted and highlighted as code of the file `path`.

    Without a known language, or beyond `limit` characters of code, added lines are green and removed ones red.
    """
    headers = _headers(lines)
    signs = ["" if number in headers else line[:1] for number, line in enumerate(lines)]
    styled = [
        Content.styled(line, MUTED if number in headers else DIFF_STYLES.get(signs[number], ""))
        for number, line in enumerate(lines)
    ]
    language = language_of(path)
    hunks = [[number for number in hunk if number not in headers] for hunk in _hunks(lines)]
    for hunk, side in product(hunks if language.lower() in LANGUAGES else [], "-+"):
        code_lines = [number for number in hunk if signs[number] in (side, " ", "")]
        sizes = accumulate(len(lines[number]) for number in code_lines)
        code_lines = [number for number, size in zip(code_lines, sizes, strict=True) if size <= limit]
        code = "\n".join(lines[number][1:] for number in code_lines)
        limit -= len(code)
        if not code.strip():
            continue
        found = coloured(code, language, closed=True)
        if found.plain not in (code, code.removesuffix("\n")) or not found.spans:
            continue
        for number, line in zip(code_lines, found.split("\n", allow_blank=True), strict=False):
            if signs[number] == side:
                styled[number] = Content.assemble((side, f"bold {DIFF_STYLES[side]}"), line)
    return [
        line.stylize_before(TINTS[sign]) if sign in TINTS else line for line, sign in zip(styled, signs, strict=True)
    ]


def language_of(path: str) -> str:
    """The language of a file by its name, or else its suffix, which may be none of `LANGUAGES`."""
    return LANGUAGE_OF_NAME.get(PurePath(path).name) or PurePath(path).suffix.removeprefix(".")


def tint_of(line: Content) -> str:
    """The background of a line of a diff; empty: it has none."""
    return next((str(span.style) for span in line.spans if span.style in TINTS.values()), "")


def _headers(lines: Sequence[str]) -> set[int]:
    """The numbers of the lines that name files instead of showing a change, as before the first hunk."""
    found: set[int] = set()
    header = any(line.startswith("@@ ") for line in lines)
    for number, line in enumerate(lines):
        if line.startswith("@@ "):
            header = False
        elif line.startswith("diff ") or (
            line.startswith("--- ") and "".join(lines[number + 1 : number + 2]).startswith("+++ ")
        ):
            header = True
        if header:
            found.add(number)
    return found


def _hunks(lines: Sequence[str]) -> Iterator[range]:
    """The numbers of the lines of each hunk, without the lines above the first one."""
    starts = [number for number, line in enumerate(lines) if line.startswith("@@ ")]
    for start, end in pairwise((*starts, len(lines))):
        yield range(start + 1, end)
