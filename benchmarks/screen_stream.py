"""A long answer that streams in: `python -m benchmarks.screen_stream frames|keys REPORT`.

The pieces come from this process, so that the answer is long at once and nothing but the screen is measured.
"""

import asyncio
import sys
import time
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import median

from benchmarks.screen_busy import PIECES_PER_S, SETTLE_S, beginning
from benchmarks.screen_live import driver_of, live
from harness.events import TextDelta
from harness.ui.app.app import HarnessApp
from harness.ui.app.controller import Controller

LENGTHS = (60, 2_000, 8_000)
"""Words of the answer where a frame is measured."""
FRAMES = 15
APART_S = 0.6
"""Seconds between them, so that none waits for the drawing of the one before."""
LONG = 4_000
"""Words of the answer when the first key is typed."""
STREAMS_S = 30.0
READY = "long-enough"
"""Written when the answer is so long."""
WORDS = "prose of several files whose names differ from folder to folder while nothing changes there today"
WORDS_PER_PARAGRAPH = 60


def prose(words: int, seed: int = 1) -> str:
    """So many words in paragraphs, none like another."""
    chosen = Random(seed).choices(WORDS.split(), k=words)
    paragraphs = [chosen[at : at + WORDS_PER_PARAGRAPH] for at in range(0, words, WORDS_PER_PARAGRAPH)]
    return "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)


def frames(report: Path) -> None:
    """What a piece costs that is added to an answer of each length: processor time until it is on the screen."""

    async def feed(app: HarnessApp, controller: Controller) -> dict[str, float]:
        driver, views = driver_of(app), controller.views
        await asyncio.sleep(SETTLE_S)
        for event in beginning():
            views.see(event, time.time())
        measured = {}
        for before, words in pairwise((0, *LENGTHS)):
            used = []
            views.see(TextDelta(f"{prose(words - before, words)}\n\n"), time.time())
            for number in range(FRAMES):
                await asyncio.sleep(APART_S)
                word = f"word{words}{number:02}"
                began = time.process_time()
                views.see(TextDelta(f"the next words end with {word} "), time.time())
                await driver.sees(word)
                used.append(time.process_time() - began)
            measured[f"frame_{words}"] = median(used) * 1000
        return measured

    live(feed, report)


def keys(report: Path) -> None:
    """A long answer that goes on, a word at a time, while another process types."""

    async def feed(app: HarnessApp, controller: Controller) -> dict[str, float]:
        views = controller.views
        await asyncio.sleep(SETTLE_S)
        for event in beginning():
            views.see(event, time.time())
        views.see(TextDelta(f"{prose(LONG)} {READY} "), time.time())
        began, used = time.monotonic(), time.process_time()
        words = prose(int(STREAMS_S * PIECES_PER_S), LONG).split(" ")
        for number, word in enumerate(words):
            await asyncio.sleep(max(0.0, began + number / PIECES_PER_S - time.monotonic()))
            views.see(TextDelta(f"{word} "), time.time())
        return {"cpu": (time.process_time() - used) / (time.monotonic() - began) * 100}

    live(feed, report)


if __name__ == "__main__":
    what, place = sys.argv[1], Path(sys.argv[2])
    frames(place) if what == "frames" else keys(place)
