"""Every text on the screen can be read, in a dark theme and in a light one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.style import Style
from textual.app import App
from textual.color import Color
from textual.screen import ModalScreen
from textual.theme import BUILTIN_THEMES

from harness.events import ToolOutcome
from harness.ui.app.chat import Chat
from harness.ui.app.readable_colours import (
    BACKGROUNDS,
    LEAST_CONTRAST,
    TEXTS,
    ReadableColours,
    contrast,
    dimmed,
    readable,
)
from harness.ui.app.snapshot import SnapshotApp
from harness.ui.app.views import EntryRenderer
from harness.ui.inline.chat import InlineChat
from harness.ui.transcript.entries import AnswerEntry, CallEntry, ListEntry, PromptEntry, ThinkingEntry
from tests.agent.stage import calls, says
from tests.ui.app.screens import settled
from tests.ui.app.stories import NAME, STORIES
from tests.ui.app.test_conversation import opened
from tests.whole import stride

pytestmark = pytest.mark.anyio
THEMES = ("textual-dark", "textual-light")
PALE = "solarized-light"
"""The theme whose usual text has the least contrast."""
LINES = "│─┃╭╮╰╯▌▎▊▔▁▂▃▄▅▆▇█▕▏╵╷"
"""Characters that draw edges and bars, which are not read."""
ANSWER = """# Heading

Words, **bold**, *slanted*, `code` and a [link](https://example.org).

- one
- [ ] two

> quoted

```python
import os  # a comment
@deco
def f(x: int) -> str:
    \"\"\"What it does.\"\"\"
    return f"{x}" + 'a' + str(1.5) + None
```

```diff
@@ -1 +1 @@
- a
+ b
```

| a | b |
|---|---|
| 1 | 2 |
"""

DIFF = (
    "--- a.py\n+++ a.py\n@@ -1,2 +1,3 @@\n def f():\n-    return 1\n+    # why\n+    return 'two' + str(1.5) + None\n"
)


def pale(app: App[Any]) -> Iterator[str]:
    """The texts on the screen that have too little contrast, and how much they have."""
    region = app.screen.children[0].region if isinstance(app.screen, ModalScreen) else app.screen.region
    for row, strip in enumerate(app.screen._compositor.render_strips()):
        if not region.y <= row < region.bottom:
            continue  # the area below a page is dimmed on purpose
        for segment in strip.crop(region.x, region.right):
            style, text = segment.style, segment.text.strip().strip(LINES).strip()
            if not text or style is None or style.color is None or style.bgcolor is None:
                continue
            colour, behind = _plain(style.color), _plain(style.bgcolor)
            if style.reverse:
                colour, behind = behind, colour
            if (ratio := contrast(colour, behind)) < LEAST_CONTRAST:
                yield f"{text!r}: {ratio:.2f} ({colour.hex} on {behind.hex})"


def _plain(colour: RichColor) -> Color:
    return Color(*colour.get_truecolor())


@pytest.mark.grid(1)
@pytest.mark.parametrize("theme", [*THEMES, PALE])
async def test_text_of_every_kind_can_be_read(theme: str) -> None:
    kinds = ("retry", "plan", "plan", "paused", "open-breaker", "agents", "background", "loop-stopped", "permission")
    for name in ("plan",) if theme == PALE else kinds[THEMES.index(theme) :: stride(2)]:
        app = SnapshotApp(STORIES[name], NAME, theme=theme, panel_only=False)
        async with app.run_test(size=(120, 60)) as pilot:
            await settled(pilot)
            if name == "plan":
                listed = ListEntry((("A title", (("/name", "what it is"),)),))
                thought, answer = ThinkingEntry("Hm.", done=True), AnswerEntry(ANSWER, done=True)
                edit = CallEntry("c1", "edit_file", "a.py", 0.0, outcome=ToolOutcome.OK, detail=DIFF)
                app.query_one(Chat).update([answer, thought, listed, edit])
            app.query_one(Chat).expand_all()
            await settled(pilot)
            assert list(pale(app)) == [], name


@pytest.mark.parametrize("theme", ["ansi-dark", "ansi-light"])
async def test_a_theme_of_the_terminals_own_colours_paints_no_other_background(theme: str) -> None:
    app = ReadableColours()
    app.theme = theme
    edit = CallEntry("c1", "edit_file", "a.py", 0.0, outcome=ToolOutcome.OK, detail=DIFF)
    async with app.run_test() as pilot:
        chat = InlineChat()
        chat.set_renderer(EntryRenderer(lambda: 0.0))
        await app.mount(chat)
        await settled(pilot)
        lines = chat.printed_lines(100, [PromptEntry(1, "x", 0.0), AnswerEntry(ANSWER, done=True), edit])
        backgrounds = [segment.style.bgcolor for line in lines for segment in line if segment.style]
        assert len(lines) > 20
        assert [str(colour) for colour in backgrounds if colour and colour.triplet] == []


@pytest.mark.grid(1)
@pytest.mark.parametrize("theme", THEMES)
async def test_what_is_asked_chosen_and_typed_can_be_read(tmp_path: Path, theme: str) -> None:
    edits = '{ name = "write_file", input = { path = "a.txt", content = "new\\n" } }'
    async with opened(tmp_path, calls(edits) + says("Done."), permission_mode="ask") as here:
        here.app.theme = theme
        (tmp_path / "workspace" / "a.txt").write_text("old\n")

        async def can_be_read(what: str) -> None:
            await settled(here.pilot)
            assert list(pale(here.app)) == [], what

        for keys, what in (("/", "commands"), ("!ls", "a shell command"), ("@", "files"), ("hello", "a prompt")):
            here.app.prompt.load("")
            await here.pilot.press(*keys)
            await can_be_read(what)
        await here.pilot.press("ctrl+r")
        await can_be_read("the history")
        await here.pilot.press("escape", "ctrl+c", "f1")
        await can_be_read("keys")
        await here.pilot.press("escape")
        await here.says("/theme")
        await here.sees("Choose a theme")
        await can_be_read("a list")
        await here.pilot.press("escape", "f3")
        await can_be_read("the full panel")
        await here.pilot.press("f3")
        await here.says("change it")
        await here.sees("yes, once")
        await can_be_read("a question")
        await here.pilot.press("escape")
        await here.rests()
        await can_be_read("a stopped turn")


@pytest.mark.parametrize("name", sorted(BUILTIN_THEMES))
def test_in_every_theme_of_textual_the_colours_of_text_can_be_read(name: str) -> None:
    theme = BUILTIN_THEMES[name]
    given = {**theme.to_color_system().generate(), **theme.variables}
    found = readable(given)
    assert {key for key in given if given[key] != found[key]} <= {*TEXTS, "block-cursor-foreground"}
    behinds = [Color.parse(found[name]) for name in (*BACKGROUNDS, "diff-added", "diff-removed")]
    for key in TEXTS:
        before, colour = Color.parse(given[key]), Color.parse(found[key])
        if colour.ansi is None and all(behind.ansi is None for behind in behinds):
            assert min(contrast(colour, behind) for behind in behinds) >= LEAST_CONTRAST, key
            assert colour == before or min(contrast(before, behind) for behind in behinds) < LEAST_CONTRAST, key


async def test_without_colours_the_text_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    app = SnapshotApp(STORIES["retry"], NAME, theme="ansi-dark", panel_only=False)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        styles = [segment.style for strip in app.screen._compositor.render_strips() for segment in strip]
        colours = {colour for style in styles if style is not None for colour in (style.color, style.bgcolor)}
        assert colours <= {None, RichColor.default()}


@given(st.tuples(*[st.integers(0, 255)] * 3), st.tuples(*[st.integers(0, 255)] * 3))
def test_dim_text_is_paler_but_can_be_read_if_the_text_could(
    text: tuple[int, int, int], back: tuple[int, int, int]
) -> None:
    colour, behind = Color(*text), Color(*back)
    shown = dimmed(Style.from_color(colour.rich_color, behind.rich_color) + Style(dim=True), Color(0, 0, 0))
    assert shown.color is not None
    assert not shown.dim
    least = min(LEAST_CONTRAST, contrast(colour, behind))
    assert least - 0.1 <= contrast(_plain(shown.color), behind) <= contrast(colour, behind) + 0.1


def test_dim_text_in_a_colour_of_the_terminal_stays_dim() -> None:
    style = Style.parse("dim red")
    assert dimmed(style, Color(0, 0, 0)) == style


def test_black_on_white_is_the_most_there_is() -> None:
    black, white = Color(0, 0, 0), Color(255, 255, 255)
    assert round(contrast(black, white), 1) == round(contrast(white, black), 1) == 21.0
    assert contrast(Color(118, 118, 118), white) == pytest.approx(4.54, abs=0.01)  # the known limit for grey on white
    assert contrast(white, white) == 1.0
