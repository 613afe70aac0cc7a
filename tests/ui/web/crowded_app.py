"""Four threads send packets through the driver of the app in a browser; each is filled with one letter.

The first packet does not fit into a pipe, so all four wait for a reader.
"""

import asyncio
import sys
from threading import Thread

from textual.app import App

from harness.ui.web.driver import ServedDriver

SIZES = (300_000, 1, 70_000, 5_000)
ROUNDS = 10


async def crowd() -> None:
    driver = ServedDriver(App[None]())
    sys.stdout.buffer.write(b"__GANGLION__\n")
    sys.stdout.flush()
    threads = [Thread(target=send, args=(driver, chr(ord("a") + place), size)) for place, size in enumerate(SIZES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    driver.write_meta({"type": "exit"})


def send(driver: ServedDriver, letter: str, size: int) -> None:
    for _ in range(ROUNDS):
        driver.write(letter * size)
        driver.write_meta({"type": letter * size})


if __name__ == "__main__":
    asyncio.run(crowd())
