"""Text colours that can be read on every background of the app, whatever the theme.

A theme of Textual gives its colours for text as tints of its main colours; in a light theme some are too pale
(WCAG 2.1, 1.4.3 wants a contrast of 4.5 : 1). Such a colour is moved towards black or white until it is not.
"""

from collections.abc import Mapping

from textual.app import App
from textual.color import BLACK, WHITE, Color

LEAST_CONTRAST = 4.5
"""Of text to what is behind it (https://www.w3.org/TR/WCAG21/#contrast-minimum)."""
BACKGROUNDS = ("background", "surface")
TEXTS = ("accent", "text-primary", "text-secondary", "text-accent", "text-warning", "text-error", "text-success")
STEP = 0.02


class ReadableColours(App[int]):
    """An app whose text colours can be read in every theme."""

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, those of text with enough contrast."""
        self.theme_variables = readable(super().get_css_variables())
        return self.theme_variables


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of a theme, those of text moved away from the backgrounds as far as it takes; the colours of a theme
    that leaves them to the terminal stay as they are."""
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
    """How much two colours differ for the eye: 1 not at all, 21 as black and white
    (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    return sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in zip((0.2126, 0.7152, 0.0722), colour.normalized, strict=True)
    )
