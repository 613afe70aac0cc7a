"""Runs and kills programs with the learner's journal, beside an oracle that keeps the written events."""

import json
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

Event = dict[str, Any]
SESSIONS = 400
GARBAGE = (b"not json", b"[1, 2]", b"17", b'{"seq": 3, "ty', b"\xff\xfe\x00", b"", b'"text"', b'{"text": "\xe3\x81')


def said(text: str, role: str = "user") -> Event:
    """The event of a message with text."""
    return {"type": "message", "role": role, "content": [{"type": "text", "text": text}]}


def calls(*ids: str) -> Event:
    """The event of a reply with tool calls."""
    blocks = [{"type": "tool_use", "id": one, "name": "bash", "input": {"command": "date"}} for one in ids]
    return {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "I look."}, *blocks]}


def result(call: str) -> Event:
    """The block of a result."""
    return {"type": "tool_result", "tool_use_id": call, "content": "Monday"}


def message(role: str, *blocks: Event) -> Event:
    """A message."""
    return {"role": role, "content": list(blocks)}


def lost(work: ModuleType, call: str) -> Event:
    """The block for a call with an unknown end."""
    return {"type": "tool_result", "tool_use_id": call, "content": work.LOST, "is_error": True}


def line(number: int, event: Event) -> bytes:
    """The line of an event, without its newline."""
    return json.dumps({"seq": number, **event}, ensure_ascii=False).encode()


def numbered(events: list[Event], first: int = 1) -> list[Event]:
    """Events with their numbers."""
    return [{"seq": number, **event} for number, event in enumerate(events, first)]


def new_file() -> Path:
    """A file that does not exist yet."""
    return Path(tempfile.mkdtemp(dir="."), "journal.jsonl")


def written(work: ModuleType, path: Path, *events: Event) -> None:
    """A program that appends events and ends well."""
    journal = work.Journal(path)
    for event in events:
        journal.append(event)
    journal.close()


def shown(path: Path) -> str:
    """The file, for the report of a difference."""
    return "\n".join(repr(one) for one in path.read_bytes().split(b"\n"))


def agree(path: Path, found: object, wanted: object) -> None:
    assert found == wanted, f"{shown(path)}\n-> {found}\nwanted {wanted}"


def check_append_is_done_when_it_returns(work: ModuleType) -> None:
    events = [said("first"), calls("t1"), said("長い" * 5_000)]
    for count in range(1, len(events) + 1):
        path = new_file()
        if not (child := os.fork()):
            try:
                journal = work.Journal(path)
                for event in events[:count]:
                    journal.append(event)
            finally:
                os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        found = path.read_bytes().count(b"\n") if path.exists() else 0
        assert found == count, f"killed after {count} events; lines in the file: {found}"


def check_unreadable_lines_are_left_out(work: ModuleType) -> None:
    first, last = said("first"), said("最後", "assistant")
    for garbage in GARBAGE:
        for end in (b"\n", b""):
            path = new_file()
            path.write_bytes(line(1, first) + b"\n" + garbage + b"\n" + line(2, last) + end)
            agree(path, work.read(path), numbered([first, last]))


def check_a_torn_line_harms_nothing_behind_it(work: ModuleType) -> None:
    first, torn, new = said("first"), said("二つ目", "assistant"), said("new")
    whole = line(2, torn)
    for cut in range(0, len(whole) + 1, 3):
        path = new_file()
        before = line(1, first) + b"\n" + whole[:cut]
        path.write_bytes(before)
        written(work, path, new)
        events = [first, torn, new] if cut == len(whole) else [first, new]
        agree(path, [{**one, "seq": 0} for one in work.read(path)], [{**one, "seq": 0} for one in events])
        assert path.read_bytes().startswith(before), f"the file began with {before!r}\n{shown(path)}"


def check_numbers_go_on(work: ModuleType) -> None:
    path = new_file()
    for count in (1, 3, 2):
        written(work, path, *[said("x")] * count)
    agree(path, [one["seq"] for one in work.read(path)], [1, 2, 3, 4, 5, 6])
    path.write_bytes(line(1, said("a")) + b"\n" + line(40, said("b")) + b"\nbroken\n" + line(7, said("c")))
    written(work, path, said("d"))
    agree(path, [one["seq"] for one in work.read(path)], [1, 40, 7, 41])


def check_calls_without_a_result_get_one(work: ModuleType) -> None:
    go, two = said("go"), calls("t1", "t2")
    asked, called = message("user", *go["content"]), message("assistant", *two["content"])
    answer = {"type": "message", "role": "user", "content": [result("t2")]}
    later = {"type": "replaced", "messages": [asked, called]}
    text = {"type": "text", "text": "Are you there?"}
    both = [lost(work, "t1"), lost(work, "t2")]
    for events, wanted in (
        ([go], [asked]),
        ([go, two], [asked, called, message("user", *both)]),
        ([go, two, answer], [asked, called, message("user", lost(work, "t1"), result("t2"))]),
        ([go, two, said("Are you there?")], [asked, called, message("user", *both, text)]),
        ([said("old"), said("older", "assistant"), later], [asked, called, message("user", *both)]),
        ([go, {"type": "mood", "of": "the server"}, two, later, answer, said("Done.", "assistant")],
         [asked, called, message("user", lost(work, "t1"), result("t2")),
          message("assistant", {"type": "text", "text": "Done."})]),
    ):  # fmt: skip
        found = work.history(numbered(events))
        told = "\n".join(map(str, events))
        assert found == wanted, f"{told}\n-> {found}\nwanted {wanted}"


def check_random_sessions_are_read_as_the_oracle_knows_them(work: ModuleType) -> None:
    stories = (_difference(work, Random(seed)) for seed in range(SESSIONS))
    shortest = min(filter(None, stories), key=len, default="")
    assert not shortest, shortest


def _turns(chance: Random, work: ModuleType) -> Iterator[tuple[Event, list[Event]]]:
    """Events of a conversation without end, and the messages that they should become."""
    number = 0
    while True:
        text = chance.choice(["Go.", "続けて", "a\u2028b"])
        yield said(text), [message("user", {"type": "text", "text": text})]
        ids = [f"t{number}_{one}" for one in range(chance.randint(0, 3))]
        number += 1
        reply = calls(*ids)
        yield reply, [message("assistant", *reply["content"])]
        if not ids:
            continue
        ended = [one for one in ids if chance.random() < 0.7]
        blocks = [result(one) for one in ended]
        missing = [lost(work, one) for one in ids if one not in ended]
        yield {"type": "message", "role": "user", "content": blocks}, [message("user", *missing, *blocks)]
        yield said("So.", "assistant"), [message("assistant", {"type": "text", "text": "So."})]


def _difference(work: ModuleType, chance: Random) -> str:
    """The report of a random session that is read in another way; empty: there is none."""
    path = new_file()
    turns = _turns(chance, work)
    kept: list[Event] = []
    wanted: list[Event] = []
    waiting: list[str] = []
    for _ in range(chance.randint(1, 3)):
        journal = work.Journal(path)
        for _ in range(chance.randint(0, 5)):
            event, messages = next(turns)
            if chance.random() < 0.15:
                journal.append({"type": "weather"})
                kept.append({"type": "weather"})
            if chance.random() < 0.1:
                event, wanted = {"type": "replaced", "messages": messages}, []
            journal.append(event)
            kept.append(event)
            wanted += messages
            waiting = [block["id"] for block in messages[-1]["content"] if block["type"] == "tool_use"]
        journal.close()
        if chance.random() < 0.5:
            with path.open("ab") as file:
                file.write(chance.choice(GARBAGE)[: chance.randint(0, 9)])
    if waiting:
        wanted.append(message("user", *[lost(work, call) for call in waiting]))
    events: object
    found: object
    try:
        events = [{key: value for key, value in one.items() if key != "seq"} for one in work.read(path)]
        found = work.history(work.read(path))
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
        return f"{shown(path)}\n-> {type(error).__name__}: {error}"
    if events != kept:
        return f"{shown(path)}\n-> {events}\nwanted {kept}"
    return "" if found == wanted else f"{shown(path)}\n-> {found}\nwanted {wanted}"
