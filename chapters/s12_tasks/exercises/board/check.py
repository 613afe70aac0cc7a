"""Lets threads and processes use the learner's board; an oracle looks at one task at a time."""

import json
import os
import tempfile
import threading
from collections import Counter
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

TASKS, THREADS, PROCESSES = 40, 8, 6
READS, BOARDS = 300, 1_000


def task(*needs: str, priority: int = 2, state: str = "open", owner: str = "") -> dict[str, Any]:
    """A task."""
    return {"needs": list(needs), "priority": priority, "state": state, "owner": owner}


def stored(board: dict[str, Any]) -> Path:
    """A new file with this board."""
    path = Path(tempfile.mkdtemp(dir="."), "board.json")
    path.write_text(json.dumps(board), "utf-8")
    return path


def agree(board: dict[str, Any], found: object, wanted: object) -> None:
    lines = "\n".join(f"{id}: {one}" for id, one in board.items())
    assert found == wanted, f"{lines}\n-> {found}\nwanted {wanted}"


def check_ready_knows_the_graph(work: ModuleType) -> None:
    board = {
        "t1": task(state="done", owner="ann"),
        "t2": task("t1"),
        "t3": task("t2"),
        "t4": task("t1", owner="ben"),
        "t9": task("t1"),
        "t10": task(),
        "t11": task(priority=0),
        "t12": task("t1", "t99"),
    }
    agree(board, work.ready(board), ["t11", "t2", "t9", "t10"])
    agree({}, work.ready({}), [])


def check_a_failed_change_changes_nothing(work: ModuleType) -> None:
    before = {"t1": task()}
    path = stored(before)

    def fails(board: dict[str, Any]) -> None:
        board["t1"]["owner"] = "ann"
        raise KeyError("t9")

    try:
        work.update(path, fails)
    except KeyError:
        agree(before, work.load(path), before)
    else:
        raise AssertionError("the exception of the change did not propagate")
    assert work.update(path, len) == 1, "update does not return what the change returns"


def check_a_reader_never_sees_half_a_board(work: ModuleType) -> None:
    path = stored({f"t{number}": task() for number in range(2_000)})
    if not (writer := os.fork()):
        try:
            for number in range(10_000):
                work.update(path, lambda board, number=number: board.update({f"t{number % 2_000}": task(owner="ann")}))
        finally:
            os._exit(0)
    try:
        for number in range(READS):
            try:
                found = len(work.load(path))
            except ValueError as error:
                raise AssertionError(f"read {number}: {error}") from error
            assert found == 2_000, f"read {number}: {found} of 2000 tasks"
    finally:
        os.kill(writer, 9)
        os.waitpid(writer, 0)


def _claims(work: ModuleType, path: Path, owner: str) -> dict[str, str]:
    ids = [f"t{number}" for number in range(1, TASKS + 1)]
    Random(owner).shuffle(ids)
    return {id: work.claim(path, id, owner) for id in ids}


def _one_winner(work: ModuleType, path: Path, answers_of: dict[str, dict[str, str]]) -> None:
    board = work.load(path)
    for id, one in board.items():
        named = Counter(answers[id] for answers in answers_of.values())
        assert set(named) == {one["owner"]}, f"{id} belongs to {one['owner']!r}; answers: {dict(named)}"
        assert one["owner"] in answers_of, f"{id} belongs to {one['owner']!r}"


def check_threads_have_one_winner(work: ModuleType) -> None:
    path = stored({f"t{number}": task() for number in range(1, TASKS + 1)})
    answers_of: dict[str, dict[str, str]] = {}
    failed: list[str] = []
    together = threading.Barrier(THREADS)

    def run(owner: str) -> None:
        together.wait()
        try:
            answers_of[owner] = _claims(work, path, owner)
        except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
            failed.append(f"{owner}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=run, args=(f"thread {number}",)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed[0]
    _one_winner(work, path, answers_of)


def check_processes_have_one_winner(work: ModuleType) -> None:
    path = stored({f"t{number}": task() for number in range(1, TASKS + 1)})
    children: dict[int, Path] = {}
    for number in range(PROCESSES):
        answer = path.with_name(f"answer-{number}")
        if not (child := os.fork()):
            try:
                answer.write_text(json.dumps(_claims(work, path, f"process {number}")), "utf-8")
            except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
                answer.write_text(json.dumps(f"{type(error).__name__}: {error}"), "utf-8")
            finally:
                os._exit(0)
        children[child] = answer
    answers_of: dict[str, dict[str, str]] = {}
    for number, (child, answer) in enumerate(children.items()):
        os.waitpid(child, 0)
        answers = json.loads(answer.read_text("utf-8"))
        assert isinstance(answers, dict), f"process {number}: {answers}"
        answers_of[f"process {number}"] = answers
    _one_winner(work, path, answers_of)


def check_random_boards_are_read_as_the_oracle_reads_them(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(BOARDS))
    smallest = min(filter(None, found), key=len, default="")
    assert not smallest, smallest


def _difference(work: ModuleType, chance: Random) -> str:
    """How the learner's answers differ on one random board; empty: not at all."""
    count = chance.randint(1, 12)
    ids = [f"t{number}" for number in range(1, count + 1)]
    board = {}
    for number, id in enumerate(ids):
        needs = chance.sample(ids[:number], chance.randint(0, min(number, 3))) + ["t99"] * (chance.random() < 0.05)
        state = chance.choice(["open", "open", "done"])
        owner = chance.choice(["ann", "ben"]) if state == "done" or chance.random() < 0.2 else ""
        board[id] = task(*needs, priority=chance.randint(0, 4), state=state, owner=owner)
    left = [id for id in ids if _may_begin(board, id)]
    wanted: list[str] = []
    while left:  # the best of what is left, found by comparing each with each
        best = next(one for one in left if all(_before(board, one, other) for other in left if other != one))
        wanted.append(best)
        left.remove(best)
    lines = "\n".join(f"{id}: {one}" for id, one in board.items())
    if (found := work.ready(board)) != wanted:
        return f"{lines}\nready -> {found}\nwanted {wanted}"
    path, id = stored(board), chance.choice(ids)
    owner = "cleo" if id in wanted else board[id]["owner"]
    if (got := work.claim(path, id, "cleo")) != owner:
        return f"{lines}\nclaim {id} -> {got!r}\nwanted {owner!r}"
    if (after := work.load(path)) != {**board, id: {**board[id], "owner": owner}}:
        return f"{lines}\nafter claim {id}: {after}"
    return ""


def _may_begin(board: dict[str, Any], id: str) -> bool:
    one = board[id]
    open_needs = sum(1 for need in one["needs"] if board.get(need, {}).get("state") != "done")
    return one["state"] == "open" and one["owner"] == "" and open_needs == 0


def _before(board: dict[str, Any], one: str, other: str) -> bool:
    if board[one]["priority"] != board[other]["priority"]:
        return bool(board[one]["priority"] < board[other]["priority"])
    return int(one[1:]) < int(other[1:])
