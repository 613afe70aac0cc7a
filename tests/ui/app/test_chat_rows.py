"""Whatever happens to a conversation, the screen shows a part of all its rows, as a naive list of them has it."""

import asyncio
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import RenderableType
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from harness.ui.app.chat import Chat
from harness.ui.app.row_index import Position, RowIndex
from harness.ui.transcript.entries import Entry, TextEntry

FOLDED = 3
"""Rows of a folded entry."""


def rows_of(entry: Entry, columns: int, *, expanded: bool) -> list[str]:
    """The rows of an entry: its text, cut at the width."""
    assert isinstance(entry, TextEntry)
    rows = [line[at : at + columns] for line in entry.text.split("\n") for at in range(0, max(1, len(line)), columns)]
    return rows if expanded else rows[:FOLDED]


class Cut:
    """Draws entries by these rows, a long one in two blocks."""

    def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> list[Content]:
        return [Content("\n").join(map(Content, rows_of(entry, columns, expanded=expanded)))]

    def apart(self, above: Entry | None, below: Entry) -> bool:
        return above is not None and isinstance(below, TextEntry) and below.text.startswith("a")


class Host(App[None]):
    """A conversation alone."""

    def compose(self) -> ComposeResult:
        yield Chat(Cut())


class Painted(Host):
    """Keeps the rows of the screen as a terminal does: only what a frame paints changes them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = dict[int, str]()

    def _display(self, screen: Screen[Any], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        if isinstance(renderable, LayoutUpdate):
            self.rows = {y: strip.text for y, strip in enumerate(map(Strip.join, renderable.strips))}
        elif isinstance(renderable, ChopsUpdate):
            for y, first, end in renderable.spans:
                row = self.rows.get(y, "").ljust(self.size.width)
                painted = Strip.join(renderable.chops[y].values()).text
                self.rows[y] = row[:first] + painted[first:end] + row[end:]


class Naive:
    """All rows of the conversation, and what happened to it."""

    def __init__(self, pilot: Pilot[None], chat: Chat) -> None:
        self.pilot, self.chat = pilot, chat
        self.entries: list[Entry] = []
        self.all_expanded = False
        self.opened: dict[int, bool] = {}
        self.follows = True

    @property
    def height(self) -> int:
        return self.chat.outer_size.height

    def rows(self, until: int | None = None) -> list[str]:
        """The rows of the entries, or of those before one."""
        found: list[str] = []
        for number, entry in enumerate(self.entries[:until]):
            above = self.entries[number - 1] if number else None
            found += [""] * Cut().apart(above, entry)
            expanded = self.opened.get(number, self.all_expanded)
            found += rows_of(entry, self.chat.outer_size.width - 3, expanded=expanded)
        return found

    @property
    def top(self) -> int:
        """The row at the top of the screen."""
        return len(self.rows(self.chat._top.entry)) + self.chat._top.line if self.entries else 0

    async def happens(self, what: str, number: int, text: str) -> None:
        """Do one thing to the conversation, and to the list."""
        chat, before = self.chat, self.top
        match what:
            case "add":
                self.entries = [*self.entries, TextEntry(text)]
                chat.update(self.entries, len(self.entries) - 1)
            case "grow" if self.entries:
                last = self.entries[-1]
                assert isinstance(last, TextEntry)
                self.entries = [*self.entries[:-1], TextEntry(f"{last.text}\n{text}")]
                chat.update(self.entries, len(self.entries) - 1)
            case "cut" if self.entries:
                length = number % len(self.entries)
                self.entries = self.entries[:length]
                self.opened = {one: opened for one, opened in self.opened.items() if one < length}
                chat.update(self.entries, length)
                return
            case "fold" if self.entries:
                chosen = number % len(self.entries)
                self.opened[chosen] = chat._opened[chosen] = not self.opened.get(chosen, self.all_expanded)
                chat._index.forget(chosen)
                chat._settle()
                return
            case "all":
                self.all_expanded = chat.expand_all()
                self.opened.clear()
                return
            case "scroll":
                self.follows = False
                by = number % (4 * self.height) - 2 * self.height
                chat.scroll_relative(y=by, animate=False)
                if self.entries and by <= 0:
                    assert self.top == max(0, before + by)
                return
            case "newest":
                chat.follow()
                assert chat._follows
            case "size":
                await self.pilot.resize_terminal(20 + number % 30, 4 + number % 7)
                return
        if before + self.height < len(self.rows()) and what != "newest" and not chat._follows:
            assert self.top == before  # what is added below moves nothing

    def check(self) -> None:
        """The screen shows the rows from the one at the top on, and the last ones while it follows."""
        rows, top = self.rows(), self.top
        strips = self.chat.render_lines(Region(0, 0, *self.chat.outer_size))
        shown = [strip.text.strip() for strip in strips]
        assert shown == [row.strip() for row in rows[top : top + self.height]] + [""] * (self.height - len(rows) + top)
        assert len({strip.cell_length for strip in strips}) == 1
        if self.chat._follows:
            assert top == max(0, len(rows) - self.height)
        for marked, strip in zip(self.chat._marked, strips, strict=True):
            assert marked[0].text == strip.text  # nothing is on the screen that was not marked for drawing


TEXTS = st.text("ab c", min_size=1, max_size=60).flatmap(
    lambda words: st.lists(st.just(words), min_size=1, max_size=12).map("\n".join)
)
ACTS = st.tuples(
    st.sampled_from(["add"] * 4 + ["grow"] * 3 + ["scroll"] * 4 + ["fold", "all", "newest", "size", "cut"]),
    st.integers(0, 200),
    TEXTS,
)


async def paint(frames: list[list[tuple[str, int, str]]]) -> None:
    app = Painted()
    async with app.run_test(size=(30, 8)) as pilot:
        naive = Naive(pilot, app.query_one(Chat))
        for acts in frames:
            for act in acts:
                await naive.happens(*act)
            await pilot.pause()
            await pilot.pause(0.03)
            strips = naive.chat.render_lines(Region(0, 0, *naive.chat.outer_size))
            shown = {y: row[:-1].rstrip() for y, row in app.rows.items() if y < len(strips)}
            assert shown == {y: strip.text[:-1].rstrip() for y, strip in enumerate(strips)}


@pytest.mark.stories
@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(ACTS, min_size=1, max_size=5), min_size=2, max_size=15))
@example([[("add", 0, "b\nb\nb")] * 4 + [("scroll", 5, "b")], [("grow", 0, "b"), ("cut", 0, "b"), ("add", 0, "c")]])
def test_a_frame_paints_each_row_that_changed_also_where_nothing_is_left(
    frames: list[list[tuple[str, int, str]]],
) -> None:
    asyncio.run(paint(frames))


async def walk(acts: list[tuple[str, int, str]]) -> None:
    app = Host()
    async with app.run_test(size=(30, 8)) as pilot:
        naive = Naive(pilot, app.query_one(Chat))
        for act in acts:
            await naive.happens(*act)
            naive.check()


@settings(max_examples=8, deadline=None)
@given(st.lists(ACTS, min_size=5, max_size=40))
def test_the_screen_shows_a_part_of_all_rows(acts: list[tuple[str, int, str]]) -> None:
    asyncio.run(walk(acts))


@pytest.mark.stories
@settings(max_examples=300, deadline=None)
@given(st.lists(ACTS, min_size=5, max_size=80))
def test_the_screen_shows_a_part_of_all_rows_for_longer(acts: list[tuple[str, int, str]]) -> None:
    asyncio.run(walk(acts))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.data())
def test_an_index_with_estimates_walks_as_a_list_of_rows(heights: list[int], data: Any) -> None:
    heights[-1] = max(1, heights[-1])
    index = RowIndex(heights.__getitem__)
    index.replace(0, data.draw(st.lists(st.integers(0, 9), min_size=len(heights), max_size=len(heights))))
    rows = [Position(entry, line) for entry, height in enumerate(heights) for line in range(height)]
    at = data.draw(st.integers(0, len(rows) - 1))

    def row(position: Position) -> int:  # an entry without rows is at the row of the next one
        return sum(heights[: position.entry]) + position.line

    for by in data.draw(st.lists(st.integers(-20, 20), max_size=8)):
        moved = index.moved(rows[at], by)
        at = max(0, min(at + by, len(rows) - 1))
        assert row(moved) == at
    screen = data.draw(st.integers(1, 12))
    assert row(index.last_screen(screen)) == max(0, len(rows) - screen)
    assert [index.height(entry) for entry in range(len(heights))] == heights
    assert [index.top(entry) for entry in range(len(heights))] == [
        sum(heights[:entry]) for entry in range(len(heights))
    ]
    assert index.at(at) == rows[at]
