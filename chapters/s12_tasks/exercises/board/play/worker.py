"""One of the processes on the learner's board: it claims ready tasks, does them, and ends when all are done."""

import importlib.util
import sys
import time
from pathlib import Path

LOOK_S = 0.02
"""Between two looks at a board without ready tasks."""


def open_left(board: dict[str, dict[str, object]]) -> bool:
    """Whether a task is not done yet."""
    return any(task["state"] == "open" for task in board.values())


def main(file: str, path: Path, name: str) -> None:
    """Work until every task is done; the log has a line for each task that this process did."""
    found = importlib.util.spec_from_file_location("work", file)
    if found is None or found.loader is None:
        raise ImportError(file)
    work = importlib.util.module_from_spec(found)
    found.loader.exec_module(work)
    while open_left(board := work.load(path)):
        for id in work.ready(board):
            if work.claim(path, id, name) == name:
                needs = [need for need in work.load(path)[id]["needs"] if work.load(path)[need]["state"] != "done"]
                with path.with_name("log.txt").open("a", encoding="utf-8") as log:
                    log.write(f"{id} {name} {'too early' if needs else 'in order'}\n")
                work.finish(path, id)
                break
        else:
            time.sleep(LOOK_S)


main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
