"""Readable text colours in every theme.

Some light themes of Textual have text colours with less contrast than WCAG 2.1 asks for (4.5 : 1, section 1.4.3).
These are blended with black or white until they have enough.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.color import BLACK, WHITE, Color
from textual.constants import DIM_FACTOR
from textual.filter import NO_DIM, LineFilter, Monochrome, NoColor

LEAST_CONTRAST = 4.5
"""Text to background (https://www.w3.org/TR/WCAG21/#contrast-minimum)."""
BACKGROUNDS = ("background", "surface")
TEXTS = ("accent", "text-primary", "text-secondary", "text-accent", "text-warning", "text-error", "text-success")
STEP = 0.02
TINTS = {"added": "success", "removed": "error"}
"""The lines of a diff, and the colours that tint them."""
TINTED, MARKED = 0.16, 0.36
"""Share of that colour in a changed line, and in its changed words."""
OWN = (*(f"diff-{kind}{part}" for kind in TINTS for part in ("", "-word")), "key-cap")
"""The variables that are added; colours of the terminal have no tints."""
TINT, RULE = 0.08, 0.25
"""Shares of the text colour in the tint behind prompts, and in lines that frame and separate."""
ANSI_TINTS = {"tint": "ansi_bright_black", "text-on-tint": "ansi_bright_white", "rule": "ansi_bright_black"}
"""A pair that can be read on light and on dark terminals."""


class ReadableColours(App[int]):
    """An app with readable text colours in every theme."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The filters of Textual, after the one that draws dim text.

        Textual chooses the filter for `NO_COLOR` before the theme is known. `Monochrome` would make black of the
        colours of a terminal.
        """
        found = super().get_line_filters()
        if self.native_ansi_color:
            found = [NO_COLOUR if isinstance(one, Monochrome) else one for one in found]
        return (DIMMING, *found)

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, with enough contrast for text."""
        self.theme_variables = readable(super().get_css_variables())
        return self.theme_variables


def readable(variables: Mapping[str, str]) -> dict[str, str]:
    """The colours of a theme with enough contrast for text. ANSI colours of the terminal are unchanged."""
    found = dict(variables)
    backgrounds = [Color.parse(variables[name]) for name in BACKGROUNDS]
    if any(colour.ansi is not None for colour in backgrounds):
        return found | dict.fromkeys(OWN, "ansi_default") | ANSI_TINTS
    for kind, name in TINTS.items():
        for part, share in (("", TINTED), ("-word", MARKED)):
            tint = backgrounds[0].blend(Color.parse(variables[name]), share)
            found[f"diff-{kind}{part}"] = tint.hex
            backgrounds += [] if part else [tint]
    background, foreground = backgrounds[0], Color.parse(variables["foreground"])
    for name, share in (("key-cap", TINTED), ("tint", TINT), ("rule", RULE)):
        found[name] = background.blend(foreground, share).hex
    found["text-on-tint"] = foreground.hex
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


class Dimming(LineFilter):
    """Draws dim text in a colour nearer to the background, but no nearer than it can be read."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        if not any(style is not None and style.dim for _, style, _ in segments):
            return segments
        return [
            Segment(text, dimmed(style, background) if style is not None and style.dim else style, control)
            for text, style, control in segments
        ]


DIMMING = Dimming()
NO_COLOUR = NoColor()


@lru_cache(1024)
def dimmed(style: Style, background: Color) -> Style:
    """A dim style as a colour. ANSI colours stay dim, because only the terminal knows them."""
    if style.color is None or style.color.triplet is None:
        return style
    if style.bgcolor is not None and not style.bgcolor.is_default:
        background = Color.from_rich_color(style.bgcolor)
    colour = Color.from_rich_color(style.color)
    share = DIM_FACTOR
    while share < 1 and contrast(background.blend(colour, share), background) < LEAST_CONTRAST:
        share += STEP
    return style + Style.from_color(background.blend(colour, min(share, 1.0)).rich_color) + NO_DIM


def contrast(one: Color, other: Color) -> float:
    """Contrast of two colours, 1 to 21 (https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    return sum(
        share * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
        for share, part in zip((0.2126, 0.7152, 0.0722), colour.normalized, strict=True)
    )
