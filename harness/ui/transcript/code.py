"""Code in colours, where its language is known and colouring it is certain to be quick."""

from collections.abc import Mapping
from types import MappingProxyType

from textual.content import Content

from harness.ui.transcript.wrap import DIFF_STYLES

MOST_CHARACTERS = 10_000
"""Code up to this length is coloured."""
MOST_CHARACTERS_OPEN = 4_000
"""The same for code that has no end yet, which is coloured again with every piece that streams in."""
LONGEST_LINE = 400
"""Characters; lines that are longer were not written by hand, and some lexers take quadratic time for them."""
BLANK_RUN = "\n" * 20
"""So they do for many blank lines."""

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
"""For each name that may stand at the beginning of code the lexer of Pygments: those that were measured to be quick
for anything that passes the limits above."""


def coloured(code: str, language: str, *, closed: bool) -> Content:
    """Code as it is, with colours if `language` is known; `closed`: all of it is there."""
    if language.lower() in ("diff", "patch"):
        return _change(code)
    lexer = LANGUAGES.get(language.lower())
    if lexer is None or len(code) > (MOST_CHARACTERS if closed else MOST_CHARACTERS_OPEN):
        return Content(code)
    if BLANK_RUN in code or max(map(len, code.split("\n"))) > LONGEST_LINE:
        return Content(code)
    from textual.highlight import highlight

    from harness.ui.transcript.code_colours import CodeColours  # with Pygments, which only code needs

    return highlight(code, language=lexer, theme=CodeColours)


def _change(code: str) -> Content:
    lines = code.split("\n")
    return Content("\n").join(Content.styled(line, DIFF_STYLES.get(line[:1], "")) for line in lines)
