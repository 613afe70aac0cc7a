"""Keys and memory while a command writes hundreds of megabytes, in lines and in one endless line."""

import json
import tempfile
from pathlib import Path

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.screen_paint import OURS, echoes, own_environment, share_of
from benchmarks.screen_pty import Terminal

BLOCK = "head -c 100M"
OUTPUTS = {"lines": f"yes live | {BLOCK}", "one endless line": f"yes live | tr -d '\\n' | {BLOCK}"}
"""Each writes 100 MB; it is started again and again while keys are typed."""


async def output() -> list[Figure | str]:
    """Milliseconds from a key to its letter while a command writes, and the memory that stays afterwards."""
    figures: list[Figure | str] = []
    with tempfile.TemporaryDirectory() as place:
        for number, (name, command) in enumerate(OUTPUTS.items()):
            folder = Path(place) / str(number)
            figures += _beside_rest(name, command, folder)
    return figures


def _beside_rest(name: str, command: str, folder: Path) -> list[Figure | str]:
    (folder / "work").mkdir(parents=True)
    (folder / "home").mkdir()
    script = folder / "script.toml"
    script.write_text("".join(_reply(line) for line in ("echo warm", f"while {command}; do :; done")), encoding="ascii")
    program = (*OURS.command, "--yolo", "--practice", str(script))
    with Terminal(program, own_environment(folder), folder / "work") as terminal:
        terminal.wait_for(OURS.shows)
        terminal.settle()
        terminal.wait_for("2 requests", after=terminal.type("warm up\r"))  # psutil, the SDK and the watcher are loaded
        terminal.settle()
        before = terminal.memory
        rest = echoes(terminal)
        terminal.type("\x15")
        terminal.wait_for("line ·" if "\\n" in command else "lines ·", after=terminal.type("write\r"))
        typed = echoes(terminal)
        terminal.type("\x15")
        terminal.wait_for("interrupted", after=terminal.type("\x1b"))
        terminal.settle()
        after = terminal.memory
    return [
        *(
            Figure(f"{name}: {what} / at rest", share_of(typed, share), "ms", share_of(rest, share), limit=limit)
            for what, share, limit in (("median", 0.5, None), ("99th percentile", 0.99, 35))
        ),
        Figure(f"{name}: RSS after it / before", after[0] / MEGABYTE, "MB", before[0] / MEGABYTE, at_most=1.15),
    ]


def _reply(command: str) -> str:
    call = f'{{ name = "bash", input = {{ command = {json.dumps(command)} }} }}'
    return f'[[reply]]\ntext = "A command."\ntools = [{call}]\n\n[[reply]]\ntext = "Done."\n\n'
