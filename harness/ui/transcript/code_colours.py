"""The colours of code: those of Textual, but none of them made paler, so that all can be read."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pygments.token import Token
from textual.highlight import HighlightTheme, TokenType

PLAIN: Mapping[TokenType, str] = {
    Token.Comment: "dim italic",
    Token.Literal.String.Backtick: "dim",
    Token.Error: "$text-error",
    Token.Generic.Error: "$text-error",
}
"""In place of shares of a colour, and of backgrounds of their own."""


class CodeColours(HighlightTheme):
    """A style for each kind of token."""

    STYLES: ClassVar[dict[TokenType, str]] = {
        kind: PLAIN.get(kind, re.sub(r" \d+%", "", style)) for kind, style in HighlightTheme.STYLES.items()
    }
