"""The region below the scrollback, on a small model of a terminal."""

import re

from harness.ui.inline.region import DrawnLine, Region, wraps_again


class Paper:
    """A terminal without a bottom: rows, a cursor, and the sequences that a region uses."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows: list[str] = [""]
        self.x = self.y = 0

    def write(self, data: str) -> None:
        for part in re.findall(r"\x1b\[\??\d*[A-Za-z]|\r|\n|[^\x1b\r\n]+", data):
            number = int(re.sub(r"\D", "", part) or 1) if part.startswith("\x1b") else 0
            match part[-1] if part.startswith("\x1b") else part:
                case "\r":
                    self.x = 0
                case "\n":
                    self.y += 1
                case "A":
                    self.y = max(0, self.y - number)
                case "C":
                    self.x += number
                case "K":
                    self.rows[self.y] = ""
                case "J":
                    self.rows[self.y :] = [self.rows[self.y][: self.x]]
                case "h" | "l":
                    pass
                case text:
                    self.rows[self.y] = self.rows[self.y][: self.x].ljust(self.x) + text
                    self.x += len(text)
            self.rows += [""] * (self.y + 1 - len(self.rows))

    def narrow(self, columns: int) -> None:
        """Wrap the rows again, the cursor stays at its character."""
        wrapped: list[str] = []
        for number, row in enumerate(self.rows):
            if number == self.y:
                at = len(wrapped) + self.x // columns
            wrapped += [row[start : start + columns] for start in range(0, max(1, len(row)), columns)]
        self.rows, self.y, self.x, self.columns = wrapped, at, self.x % columns, columns


def lines(*texts: str) -> list[DrawnLine]:
    return [DrawnLine(text, len(text)) for text in texts]


def test_lines_are_printed_once_and_the_region_stays_below_them() -> None:
    paper, region = Paper(20), Region()
    paper.write(region.draw(lines("live", "> _"), (2, 1), 20))
    paper.write(region.draw(lines("> _"), (2, 0), 20, printed=["first", "second"]))
    paper.write(region.draw(lines("more", "and more", "> _"), (2, 2), 20))
    assert paper.rows == ["first", "second", "more", "and more", "> _"]
    assert (paper.x, paper.y) == (2, 4)
    paper.write(region.draw(lines("> _"), (2, 0), 20))
    assert [row for row in paper.rows if row] == ["first", "second", "> _"]


def test_a_narrower_terminal_leaves_no_copy_of_the_region_and_no_gap() -> None:
    paper, region = Paper(20), Region()
    paper.write("kept\r\n" + region.draw(lines("x" * 18, "", "y" * 20, "> _"), (2, 3), 20))
    paper.narrow(7)
    paper.write(region.draw(lines("xxxxxxx", "> _"), (2, 1), 7))
    assert [row for row in paper.rows if row] == ["kept", "xxxxxxx", "> _"]


def test_a_terminal_that_cuts_its_lines_loses_nothing_above_the_region() -> None:
    paper, region = Paper(20), Region(wraps=False)
    paper.write("kept\r\n" + region.draw(lines("x" * 18, "> _"), (2, 1), 20))
    paper.write(region.draw(lines("xxxxxxx", "> _"), (2, 1), 7))
    assert [row for row in paper.rows if row] == ["kept", "xxxxxxx", "> _"]
    assert not wraps_again({"XTERM_VERSION": "XTerm(390)", "TERM": "xterm"})
    assert wraps_again({"XTERM_VERSION": "XTerm(390)", "TERM": "tmux-256color", "TMUX": "/tmp/tmux"})


def test_an_erased_region_leaves_the_cursor_in_its_place() -> None:
    paper, region = Paper(20), Region()
    paper.write("kept\r\n" + region.draw(lines("live", "> _", "status"), (2, 1), 20))
    paper.write(region.erase(20) + "$ ")
    assert [row for row in paper.rows if row] == ["kept", "$ "]
    assert paper.y == 1


def test_the_screen_is_never_cleared_from_its_top_left_corner() -> None:
    region = Region()
    drawn = region.draw(lines("> _"), (0, 0), 20, printed=["first"]) + region.erase(20)
    assert not re.search(r"\r\x1b\[J|K\x1b\[J", drawn), "tmux would keep the old text as history"
