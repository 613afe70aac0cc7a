"""Searches files for a regular expression, as a program of its own.

A regular expression can need exponential time, and no thread can stop it. So grep runs this file in a process
that can be killed. It imports the standard library only and is started by path, which keeps it quick.

Input: one line of JSON (the `Search`, the folder `root`, the file that has `Tree`), then paths below the root, each
ended by a null byte. Output: lines of JSON, for a line found `[file, line number, is_match, text]`, where `file` counts
the paths from 0; for a pattern that is none `{"error": why}`; at the end `{"searched": files, "matches": matches}`.
"""

import json
import os
import re
import sys
from collections import deque
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, BinaryIO

HEAD_BYTES = 8_192
SMALL_BYTES = 65_536
"""A file of less is searched in memory; of others, lines are looked at where a match may be in them."""
PIECE_BYTES = 1_000_000
"""A longer line is searched in pieces of this size."""
SHOWN_CHARACTERS = 400
"""A longer line is shown around its match."""

Found = list[Any]


def required(parsed: Any, *, ignore_case: bool) -> list[str]:
    """Pieces of text; every match of a parsed expression holds one of them. None: a match may hold anything.

    Upper and lower case of ASCII letters are the same to `ignore_case`; i, k and s have equals beyond ASCII there and
    are never part of a piece.
    """
    best: list[str] = []
    run = ""
    for operation, argument in [*parsed, (None, None)]:
        name, found = str(operation), list[str]()
        if name == "LITERAL" and argument != 0xFFFD:
            char = chr(argument)
            if not ignore_case:
                run += char
                continue
            if char.isascii() and char not in "iksIKS":
                run += char.lower()
                continue
        elif name == "SUBPATTERN" and not argument[1]:
            found = required(argument[3], ignore_case=ignore_case)
        elif name == "MAX_REPEAT" and argument[0] > 0:
            found = required(argument[2], ignore_case=ignore_case)
        elif name == "BRANCH":
            choices = [required(choice, ignore_case=ignore_case) for choice in argument[1]]
            found = [piece for choice in choices for piece in choice] if all(choices) else []
        best = max(best, [run] * bool(run), found, key=lambda pieces: min(map(len, pieces), default=0))
        run = ""
    return best


def may_match(pattern: str, *, ignore_case: bool) -> tuple[Callable[[bytes], bool], int]:
    """A quick look whether a match may be in some bytes, and the length of what it looks for."""
    from re import _parser  # type: ignore[attr-defined]  # of the standard library, but private

    try:
        parsed = _parser.parse(pattern)
        ignore_case = ignore_case or bool(parsed.state.flags & re.IGNORECASE)
        verbose = parsed.state.flags & re.VERBOSE
        pieces = [] if verbose else [piece.encode() for piece in required(parsed, ignore_case=ignore_case)]
    except Exception:  # noqa: BLE001  without it the search is slower, and no other
        pieces = []
    if not pieces:
        return lambda data: True, 0
    if ignore_case:
        return lambda data: any(map(data.lower().__contains__, pieces)), max(map(len, pieces))
    return lambda data: any(map(data.__contains__, pieces)), max(map(len, pieces))


def lines_of(
    file: BinaryIO, look: tuple[Callable[[bytes], bool], int], *, matches_only: bool
) -> Iterator[tuple[int, str]]:
    """The numbered lines of a file; none of a binary file, nor of one without a match; `matches_only`: nor those."""
    may, length = look
    data = file.read(SMALL_BYTES)
    if not data or b"\0" in data[:HEAD_BYTES]:
        return
    if len(data) < SMALL_BYTES:
        if may(data):
            for number, line in enumerate(data.decode("utf-8", "replace").removesuffix("\n").split("\n"), 1):
                yield number, line.removesuffix("\r")
        return
    while not may(data):
        piece = file.read(PIECE_BYTES)
        if not piece:
            return
        data = data[-length:] + piece
    file.seek(0)
    number = 0
    starts_line = True
    while piece := file.readline(PIECE_BYTES):
        number += starts_line
        starts_line = piece.endswith(b"\n")
        if not matches_only or may(piece):
            yield number, piece.decode("utf-8", "replace").removesuffix("\n").removesuffix("\r")


def search_file(
    file: BinaryIO, regex: re.Pattern[str], look: tuple[Callable[[bytes], bool], int], context: int, index: int
) -> Iterator[Found]:
    """The matching lines of one file and `context` lines around them."""
    before: deque[Found] = deque(maxlen=context)
    after = 0
    for number, line in lines_of(file, look, matches_only=not context):
        if match := regex.search(line):
            yield from before
            before.clear()
            yield [index, number, True, shown(line, match.start())]
            after = context
        elif after:
            yield [index, number, False, shown(line, 0)]
            after -= 1
        elif context:
            before.append([index, number, False, shown(line, 0)])


def shown(line: str, start: int) -> str:
    """The line, or the part around `start` of a long one."""
    if len(line) <= SHOWN_CHARACTERS:
        return line
    first = max(0, min(start - 100, len(line) - SHOWN_CHARACTERS))
    part = line[first : first + SHOWN_CHARACTERS]
    return ("… " if first else "") + part + (" …" if first + SHOWN_CHARACTERS < len(line) else "")


def report(value: object) -> None:
    """One line of output, at once: matches found before a time limit count."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def tree_class(file: str) -> Any:
    """The class `Tree` of the module in this file, which cannot be imported by its name here."""
    specification = spec_from_file_location("tree", file)
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    specification.loader.exec_module(module)
    return module.FolderTree


def main() -> None:
    """Read the search from stdin and write the matches."""
    head, _, paths = sys.stdin.buffer.read().partition(b"\n")
    search = json.loads(head)
    try:
        regex = re.compile(search["pattern"], re.IGNORECASE if search["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        report({"error": str(error)})
        return
    look = may_match(search["pattern"], ignore_case=search["ignore_case"])
    matches = searched = 0
    tree = tree_class(search["tree"])(search["root"])
    for index, path in enumerate(paths.split(b"\0")[:-1]):
        try:
            file = os.fdopen(tree.open(os.fsdecode(path)), "rb")
        except OSError:
            continue  # gone, not ours to read, or reached by a link that was a folder when the path was found
        searched += 1
        with file:
            for found in search_file(file, regex, look, search["context"], index):
                report(found)
                matches += found[2]
                if matches >= search["most"] or (search["files_only"] and found[2]):
                    break
        if matches >= search["most"]:
            break
    report({"searched": searched, "matches": matches})


if __name__ == "__main__":
    main()
