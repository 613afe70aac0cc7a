"""Feeds the output of servers to the learner's reader in pieces; an oracle splits the whole."""

import json
import tracemalloc
from collections.abc import Iterable
from random import Random
from types import ModuleType
from typing import Any

STREAMS = 1_500
Message = dict[str, Any]


def message(**more: object) -> Message:
    return {"jsonrpc": "2.0", **more}


def line(one: object) -> bytes:
    return json.dumps(one, ensure_ascii=False).encode() + b"\n"


def read(work: ModuleType, pieces: Iterable[bytes]) -> tuple[list[Message], int]:
    """The messages, and the number of stray lines."""
    frames, found = work.Frames(), list[Message]()
    for piece in pieces:
        found += frames.feed(piece)
    return found, frames.stray


def agree(work: ModuleType, pieces: list[bytes], wanted: list[Message], stray: int = 0) -> None:
    found, counted = read(work, pieces)
    assert found == wanted, f"fed: {pieces}\nmessages: {found}\nwanted: {wanted}"
    assert counted == stray, f"fed: {pieces}\nstray: {counted}\nwanted: {stray}"


def check_a_message_is_a_line(work: ModuleType) -> None:
    one, two = message(id=1, result={}), message(method="ping", id=2)
    agree(work, [line(one)], [one])
    agree(work, [line(one) + line(two)], [one, two])
    agree(work, [line(one), line(two)], [one, two])


def check_a_piece_may_end_anywhere(work: ModuleType) -> None:
    one, two = message(id=1, result="高潮 é"), message(id=2, result="🚢")
    whole = line(one) + line(two)
    agree(work, [whole[:-1]], [one])
    for cut in range(len(whole)):
        agree(work, [whole[:cut], whole[cut:]], [one, two])
    agree(work, [bytes([byte]) for byte in whole], [one, two])
    agree(work, [b"", line(one), b""], [one])


def check_only_a_newline_ends_a_line(work: ModuleType) -> None:
    one = message(id=1, result="one\u2028two\u0085three\x7f")
    agree(work, [line(one)], [one])
    agree(work, [line(one)[:-1] + b"\r\n"], [one])
    agree(work, [line(one)[:-1] + b"\r" + line(one)], [], stray=1)


def check_other_lines_are_dropped_and_counted(work: ModuleType) -> None:
    one = message(id=1, result={})
    agree(work, [b"DEBUG: looking\n" + line(one)], [one], stray=1)
    agree(work, [b"7\n[]\nnull\n", line({"id": 1}), line({"jsonrpc": "1.0"}), line(one)], [one], stray=5)
    agree(work, [line([one])], [], stray=1)
    agree(work, [b"\n \r\n\t\n" + line(one)], [one])


def check_no_line_ends_the_reader(work: ModuleType) -> None:
    one = message(id=1, result={})
    agree(work, [b"\xff\xfe\n" + line(one)], [one], stray=1)
    agree(work, [b'{"jsonrpc": "2.0", "result": "\xff"}\n'], [message(result="\ufffd")])
    agree(work, [b"[" * 50_000 + b"\n" + line(one)], [one], stray=1)
    agree(work, [b"1" * 5_000 + b"\n" + line(one)], [one], stray=1)


def check_an_endless_line_is_not_kept(work: ModuleType) -> None:
    one, frames = message(id=1, result={}), work.Frames()
    longest = message(result="x" * (work.LONGEST - len(line(message(result=""))) + 1))
    agree(work, [line(longest)], [longest])
    agree(work, [b" " * (work.LONGEST + 1), b"\n"], [], stray=1)
    tracemalloc.start()
    try:
        for number in range(2_000):
            assert frames.feed(b"x" * 10_000) == [], f"a message in piece {number} of one line"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * work.LONGEST, f"20 MB without a newline: {peak:,} bytes kept"
    found = frames.feed(b"x\n" + line(one))
    assert (found, frames.stray) == ([one], 1), f"after the endless line: {found}, stray {frames.stray}"


def check_random_streams_agree_with_an_oracle(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(STREAMS))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


def _difference(work: ModuleType, chance: Random) -> str:
    """How the learner's messages differ on one random stream; empty: not at all."""
    kinds = (
        line(message(id=1)),
        line(message(method="é船")),
        b"DEBUG\n",
        b"\n",
        b"\xc3\n",
        b'{"jsonrpc": "2.0"}\r\n',
        b"{}\n",
        b"x" * (work.LONGEST + 1) + b"\n",
    )
    weights = (6, 6, 3, 2, 2, 2, 2, 0.05)
    whole = b"".join(chance.choices(kinds, weights, k=chance.randint(0, 8)))
    whole = whole[: len(whole) - chance.choice((0, 0, 1, 5))]
    most = chance.choice((1, 3, 20)) if len(whole) < 1_000 else 30_000
    pieces, at = list[bytes](), 0
    while at < len(whole):
        pieces.append(whole[at : (at := at + chance.randint(1, most))])
    *ended, _ = whole.split(b"\n")
    wanted, stray = list[Message](), 0
    for one in ended:
        if len(one) > work.LONGEST:
            stray += 1
        elif one.strip():
            try:
                found = json.loads(one.decode("utf-8", "replace"))
            except ValueError:
                found = None
            good = isinstance(found, dict) and found.get("jsonrpc") == "2.0"
            wanted += [found] if good else []
            stray += not good
    stray += len(whole.split(b"\n")[-1]) > work.LONGEST
    got, counted = read(work, pieces)
    if (got, counted) == (wanted, stray):
        return ""
    shown = str(pieces) if len(whole) < 1_000 else f"{len(whole)} bytes in {len(pieces)} pieces"
    return f"fed: {shown}\nmessages: {got}, stray: {counted}\nwanted: {wanted}, stray: {stray}"
