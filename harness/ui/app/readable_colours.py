"""Readable text colours in every theme.

Some light themes of Textual have text colours with less contrast than WCAG 2.1 asks for (4.5 : 1, section 1.4.3).
These are blended with black or white until they have enough.
"""

from collections.abc import Mapping

from textual.app import App
from textual.color import BLACK, WHITE, Color

LEAST_CONTRAST = 4.5
"""Text to background (https://www.w3.org/TR/WCAG21/#contrast-minimum)."""
BACKGROUNDS = ("background", "surface")
TEXTS = ("accent", "text-primary", "text-secondary", "text-accent", "text-warning", "text-error", "text-success")
STEP = 0.02


class ReadableColours(App[int]):
    """An app with readable text colours in every theme."""

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, with enough contrast for text."""
        self.theme_variables = readable(super().get_css_variables())
        return self.theme_variables


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of a theme with enough contrast for text. ANSI colours of the terminal are unchanged."""
    found = dict(variables)
    backgrounds = [Color.parse(variables[name]) for name in BACKGROUNDS]
    if any(colour.ansi is not None for colour in backgrounds):
        return found
    for name in TEXTS:
        colour = Color.parse(variables[name])
        if colour.ansi is None:
            found[name] = _moved(colour, backgrounds).hex
    selected = Color.parse(variables["block-cursor-background"])
    found["block-cursor-foreground"] = max((BLACK, WHITE), key=lambda end: contrast(end, selected)).hex
    return found


def _moved(colour: Color, backgrounds: list[Color]) -> Color:
    towards = max((BLACK, WHITE), key=lambda end: min(contrast(end, background) for background in backgrounds))
    share = 0.0
    while share < 1 and min(contrast(colour.blend(towards, share), one) for one in backgrounds) < LEAST_CONTRAST:
        share += STEP
    return colour.blend(towards, min(share, 1.0))


def contrast(one: Color, other: Color) -> float:
    """Contrast of two colours, 1 to 21 (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    return sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in zip((0.2126, 0.7152, 0.0722), colour.normalized, strict=True)
    )
