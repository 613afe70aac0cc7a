"""Forks processes that change a workspace, keep it and restore it without end, and say what they have kept.

Each line of the input, a workspace, a folder for the checkpoints and a seed, is one process. Its number is printed,
and then a line for every checkpoint: its id, and a digest of what the workspace held.
"""

import asyncio
import hashlib
import os
import random
import sys
from pathlib import Path

from tests.checkpoints.places import checkpoints, state_of, write


def digest_of(workspace: Path) -> str:
    """Of everything in the workspace."""
    return hashlib.sha256(repr(sorted(state_of(workspace).items())).encode()).hexdigest()


async def live(workspace: Path, folder: Path, seed: int) -> None:
    """Change, keep and restore until killed."""
    dice = random.Random(seed)
    kept = checkpoints(workspace, folder)
    step = 0
    while True:
        step += 1
        for _ in range(dice.choice((1, 5, 150))):
            write(workspace / f"{dice.randrange(3)}/{dice.randrange(60)}", dice.randbytes(dice.randrange(20_000)))
        digest = digest_of(workspace)
        id = (await kept.keep()).id
        print(id, digest, flush=True)
        files = [path for path in workspace.rglob("?/*") if path.is_file()]
        for path in dice.sample(files, min(5, len(files))):
            path.unlink(missing_ok=True)
        write(workspace / f"new{step}", "1")
        if dice.random() < 0.7:
            await kept.restore(id)


def main() -> None:
    """Serve the input until it ends."""
    while line := sys.stdin.readline():
        workspace, folder, seed = line.split()
        if child := os.fork():
            print(child, flush=True)
            os.waitpid(child, 0)
            print("ended", flush=True)
        else:
            asyncio.run(live(Path(workspace), Path(folder), int(seed)))


if __name__ == "__main__":
    main()
