"""Vim keys for the prompt: a state machine over keys, text and cursor.

A useful part of `:help normal-mode`: i I a A o O s S, h l w b e W B E 0 ^ $ gg G, f F t T ; and the comma, x X D C Y,
d c y with a motion, a whole line or a word (iw, aw), p P, r ~ J, and counts. What it does not know does nothing.
"""

import re
from dataclasses import dataclass

_COUNT = r"(?:[1-9][0-9]*)?"
_MOTION = r"[hlwbeWBE^$G;,]|(?<![0-9])0|gg|[fFtT]."
_COMMAND = re.compile(
    rf"(?P<count>{_COUNT})(?:(?P<operator>[dcy])(?P<again>{_COUNT})(?P<target>{_MOTION}|[ia][wW]|[dcy])"
    rf"|(?P<motion>{_MOTION})|(?P<simple>[iIaAoOsSxXDCYpP~J]|r.))",
    re.DOTALL,
)
_UNFINISHED = re.compile(rf"{_COUNT}(?:[dcy]{_COUNT}[gfFtTia]?|[gfFtTr])?")
_SYNONYMS = {"x": "dl", "X": "dh", "D": "d$", "C": "c$", "Y": "yy", "s": "cl", "S": "cc"}
_REVERSED = {"f": "F", "F": "f", "t": "T", "T": "t"}
_WORDS = {
    False: re.compile(r"\w+|[^\w\s]+|(?<=\n)(?=\n)"),
    True: re.compile(r"\S+|(?<=\n)(?=\n)"),
}
"""Words and WORDS; an empty line counts as one."""


@dataclass(frozen=True, slots=True)
class Edited:
    """The text after a key, and the index of the character under the cursor."""

    text: str
    cursor: int


class VimKeys:
    """The mode of the prompt, the keys of an unfinished command, and the text that was deleted or copied last."""

    def __init__(self) -> None:
        self.normal = False
        """Normal mode; else insert mode."""
        self._pending = ""
        self._register = ""
        self._of_lines = False
        """The register holds whole lines."""
        self._find = ""
        """The last f, F, t or T with its character."""

    @property
    def waits(self) -> bool:
        """A command is unfinished."""
        return bool(self._pending)

    def insert(self) -> None:
        """Go to insert mode."""
        self.normal, self._pending = False, ""

    def escape(self, text: str, cursor: int) -> Edited:
        """Go to normal mode, or give up an unfinished command."""
        at_start = cursor == 0 or text[cursor - 1] == "\n"
        moved = cursor if self.normal or at_start else cursor - 1
        self.normal, self._pending = True, ""
        return Edited(text, moved)

    def press(self, key: str, text: str, cursor: int) -> Edited:
        """A character typed in normal mode."""
        self._pending += key
        if (found := _COMMAND.fullmatch(self._pending)) is not None:
            self._pending = ""
            return self._resting(self._run(found, Edited(text, cursor)))
        if not _UNFINISHED.fullmatch(self._pending):
            self._pending = ""
        return Edited(text, cursor)

    def _resting(self, edited: Edited) -> Edited:
        """In normal mode the cursor is on a character, not behind the last one of its line."""
        text, cursor = edited.text, edited.cursor
        behind = cursor > _line_start(text, cursor) and (cursor == len(text) or text[cursor] == "\n")
        return Edited(text, cursor - 1) if self.normal and behind else edited

    def _run(self, found: re.Match[str], now: Edited) -> Edited:
        count = int(found["count"] or 1)
        if found["simple"] in _SYNONYMS:
            return self._run_keys(f"{found['count']}{_SYNONYMS[found['simple']]}", now)
        if found["simple"]:
            return self._simple(found["simple"], count, now)
        if found["motion"]:
            last = found["motion"] == "G" and not found["count"]
            target = self._target(found["motion"], count, now, last=last)
            return now if target is None else Edited(now.text, target[0])
        return self._operate(found["operator"], found["target"], count * int(found["again"] or 1), now, found)

    def _run_keys(self, keys: str, now: Edited) -> Edited:
        found = _COMMAND.fullmatch(keys)
        assert found is not None
        return self._run(found, now)

    # ── commands without a motion ───────────────────────────────────────────────────────────────

    def _simple(self, key: str, count: int, now: Edited) -> Edited:
        text, cursor = now.text, now.cursor
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        if key in "iIaAoO":
            self.insert()
        match key:
            case "I":
                return Edited(text, _first_letter(text, cursor))
            case "a":
                return Edited(text, min(cursor + 1, end))
            case "A":
                return Edited(text, end)
            case "o":
                return Edited(f"{text[:end]}\n{text[end:]}", end + 1)
            case "O":
                return Edited(f"{text[:start]}\n{text[start:]}", start)
            case "p" | "P":
                return self._put(count, now, before=key == "P")
            case "~":
                last = min(cursor + count, end)
                return Edited(text[:cursor] + text[cursor:last].swapcase() + text[last:], last)
            case "J" if end < len(text):
                rest = text[end + 1 :].lstrip(" \t")
                apart = "" if text[end - 1 : end].isspace() or end == start or rest[:1] in ("", "\n", ")") else " "
                return Edited(f"{text[:end]}{apart}{rest}", end)
            case _ if key[0] == "r" and cursor + count <= end:
                return Edited(text[:cursor] + key[1] * count + text[cursor + count :], cursor + count - 1)
        return Edited(text, cursor)

    def _put(self, count: int, now: Edited, *, before: bool) -> Edited:
        text, cursor, what = now.text, now.cursor, self._register * count
        if not what:
            return now
        if self._of_lines:
            start, end = _line_start(text, cursor), _line_end(text, cursor)
            lines = "\n".join([self._register] * count)
            if before:
                return Edited(f"{text[:start]}{lines}\n{text[start:]}", start)
            return Edited(f"{text[:end]}\n{lines}{text[end:]}", end + 1)
        at = cursor if before else min(cursor + 1, _line_end(text, cursor))
        return Edited(text[:at] + what + text[at:], at + len(what) - 1)

    # ── operators ───────────────────────────────────────────────────────────────────────────────

    def _operate(self, operator: str, target: str, count: int, now: Edited, found: re.Match[str]) -> Edited:
        text, cursor = now.text, now.cursor
        if target in ("d", "c", "y"):
            return self._on_lines(operator, count, now) if target == operator else now
        if target in ("gg", "G"):
            number = count if found["count"] or found["again"] else None
            return self._to_line(operator, 1 if target == "gg" and number is None else number, now)
        if target[0] in "ia":
            start, end = _word_around(text, cursor, big=target[1] == "W", around=target[0] == "a")
        else:
            if operator == "c" and target in ("w", "W") and not text[cursor : cursor + 1].isspace():
                # As Vim does: the blanks after the word stay.
                leads: tuple[int, bool] | None = _by_words("e" if target == "w" else "E", count, text, cursor - 1)
            else:
                leads = self._target(target, count, now)
            if leads is None:
                return now
            aim, inclusive = leads
            start, end = min(cursor, aim), max(cursor, aim) + (inclusive and aim >= cursor)
            if not inclusive and end and text[end - 1] == "\n" and start < end - 1:
                end -= 1  # an exclusive motion to the start of a line leaves its line break
        return self._cut(operator, text, start, min(end, len(text)))

    def _cut(self, operator: str, text: str, start: int, end: int) -> Edited:
        if start < end:
            self._register, self._of_lines = text[start:end], False
        if operator == "c":
            self.insert()
        return Edited(text, start) if operator == "y" else Edited(text[:start] + text[end:], start)

    def _to_line(self, operator: str, number: int | None, now: Edited) -> Edited:
        """From the line of the cursor to line `number`, from 1 on; None: the last one."""
        row = now.text.count("\n", 0, now.cursor)
        last = now.text.count("\n")
        other = last if number is None else min(number - 1, last)
        start = _start_of_row(now.text, min(row, other))
        return self._on_lines(operator, abs(row - other) + 1, Edited(now.text, start))

    def _on_lines(self, operator: str, count: int, now: Edited) -> Edited:
        text = now.text
        start = end = _line_start(text, now.cursor)
        for _ in range(count):
            end = _line_end(text, end) + 1
        end = min(end - 1, len(text))
        self._register, self._of_lines = text[start:end], True
        match operator:
            case "y":
                return Edited(text, now.cursor)
            case "c":
                self.insert()
                return Edited(text[:start] + text[end:], start)
            case _ if end < len(text):
                kept = text[:start] + text[end + 1 :]
                return Edited(kept, _first_letter(kept, start))
            case _:
                kept = text[: max(0, start - 1)]
                return Edited(kept, _first_letter(kept, len(kept)))

    # ── motions ─────────────────────────────────────────────────────────────────────────────────

    def _target(self, motion: str, count: int, now: Edited, *, last: bool = False) -> tuple[int, bool] | None:
        """Where a motion leads, and whether an operator takes the character there, too; None: nowhere."""
        text, cursor = now.text, now.cursor
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        match motion:
            case "h":
                return None if cursor == start else (max(start, cursor - count), False)
            case "l":
                return None if cursor == end else (min(end, cursor + count), False)
            case "0":
                return start, False
            case "^":
                return _first_letter(text, cursor), False
            case "$":
                return max(start, end - 1) if end > start else start, end > start
            case "gg" | "G":
                row = text.count("\n") if last else min(count - 1, text.count("\n"))
                return _first_letter(text, _start_of_row(text, row)), False
            case ";" | ",":
                find = self._find if motion == ";" or not self._find else _REVERSED[self._find[0]] + self._find[1]
                return self._found(find, count, now, again=True) if find else None
            case _ if motion[0] in "fFtT":
                self._find = motion
                return self._found(motion, count, now)
            case _:
                return _by_words(motion, count, text, cursor)

    @staticmethod
    def _found(find: str, count: int, now: Edited, *, again: bool = False) -> tuple[int, bool] | None:
        text, cursor = now.text, now.cursor
        how, character = find[0], find[1:]
        start, end = _line_start(text, cursor), _line_end(text, cursor)
        skip = 1 if again and how in "tT" else 0  # else the same character would be found again
        if how in "ft":
            places = [index for index in range(cursor + 1 + skip, end) if text[index] == character]
        else:
            places = [index for index in range(cursor - 1 - skip, start - 1, -1) if text[index] == character]
        if len(places) < count:
            return None
        short = {"f": 0, "F": 0, "t": -1, "T": 1}[how]
        return places[count - 1] + short, how in "ft"


def _by_words(motion: str, count: int, text: str, cursor: int) -> tuple[int, bool]:
    spans = [match.span() for match in _WORDS[motion.isupper()].finditer(text)]
    match motion.lower():
        case "w":
            places = [start for start, _ in spans if start > cursor]
            return (places[count - 1] if len(places) >= count else len(text)), False
        case "b":
            places = [start for start, _ in reversed(spans) if start < cursor]
            return (places[count - 1] if len(places) >= count else 0), False
        case _:
            places = [end - 1 for start, end in spans if end - 1 > cursor and end > start]
            return (places[count - 1] if len(places) >= count else max(0, len(text) - 1)), bool(text)


def _word_around(text: str, cursor: int, *, big: bool, around: bool) -> tuple[int, int]:
    """The word under the cursor, or the blanks there; `around`: with the blanks after it, or else before it."""
    row, line_end = _line_start(text, cursor), _line_end(text, cursor)
    kinds = re.compile(r"\S+|\s+" if big else r"\w+|[^\w\s]+|\s+")
    spans = [(row + match.start(), row + match.end()) for match in kinds.finditer(text[row:line_end])]
    at = next((number for number, (start, end) in enumerate(spans) if start <= cursor < end), None)
    if at is None:
        return cursor, cursor
    start, end = spans[at]
    if around and at + 1 < len(spans) and text[spans[at + 1][0]].isspace() != text[start].isspace():
        return start, spans[at + 1][1]
    if around and at and text[spans[at - 1][0]].isspace():
        return spans[at - 1][0], end
    return start, end


def _line_start(text: str, cursor: int) -> int:
    return text.rfind("\n", 0, cursor) + 1


def _line_end(text: str, cursor: int) -> int:
    end = text.find("\n", cursor)
    return len(text) if end < 0 else end


def _start_of_row(text: str, row: int) -> int:
    start = 0
    for _ in range(row):
        start = _line_end(text, start) + 1
    return min(start, len(text))


def _first_letter(text: str, cursor: int) -> int:
    start, end = _line_start(text, cursor), _line_end(text, cursor)
    return next((index for index in range(start, end) if not text[index].isspace()), end)
