"""The colours of code: those of Textual, but none of them made paler, so that all can be read."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from textual.highlight import HighlightTheme

INSTEAD: Mapping[str, str] = MappingProxyType(
    {
        "Token.Comment": "dim italic",
        "Token.Literal.String.Backtick": "dim",
        "Token.Error": "$text-error",
        "Token.Generic.Error": "$text-error",
    }
)
"""For kinds of token that are a share of the colour of text, or stand on a background of their own."""


class CodeColours(HighlightTheme):
    """A style for each kind of token."""

    STYLES = {  # noqa: RUF012 (as the class above declares it)
        kind: INSTEAD.get(str(kind), re.sub(r" \d+%", "", style)) for kind, style in HighlightTheme.STYLES.items()
    }
