"""Labels of keys on the screen, which can be clicked."""

from textual.content import Content
from textual.style import Style

KEY_NAMES = {"Alt+R": "alt+r", "Alt+M": "alt+m", "Esc": "escape", "F2": "f2", "F3": "f3"}
"""Keys that can be clicked, by their label, and their names in the app."""


def clickable(key: str, what: str, style: str) -> Content:
    """A key and what it does; a click on it presses the key. `style` is that of the key."""
    shown = Content.assemble((key, style), " ", what)
    name = KEY_NAMES.get(key)
    return shown.stylize(Style.from_meta({"@click": f"app.simulate_key('{name}')"})) if name else shown
