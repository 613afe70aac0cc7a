"""What the word before the cursor could become. Nothing here knows what the screen looks like."""

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

MOST_CANDIDATES = 100
"""Candidates of one completion; the screen shows a part of them at a time."""

_WIDE_MARK = r"\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Punctuation of Chinese, Japanese and Korean text, after which no space is typed."""
_NARROW = str.maketrans("／＠", "/@")
_FILE = re.compile(rf'(?:^|(?<=[\s{_WIDE_MARK}]))[@＠](?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"@＠]*))$')
_COMMAND = re.compile(r"[/／](?![/／])\S*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One thing that can be put in the place of what was typed."""

    label: str
    """As it is shown and, unless `insert` says otherwise, as it is put into the prompt."""
    help: str = ""
    """One line about it."""
    insert: str = ""
    """What goes into the prompt when that is not the label."""
    arguments: "tuple[Candidate, ...]" = ()
    """What can follow a command, at any time."""
    looked_up: "Callable[[tuple[str, ...]], Sequence[Candidate]] | None" = field(default=None, compare=False)
    """Finds what can follow a command behind these words as things stand, instead of `arguments`. It is asked at every
    key, so that it has to be quick."""

    @property
    def inserted(self) -> str:
        """What goes into the prompt."""
        return self.insert or self.label

    def following(self, words: tuple[str, ...]) -> "Sequence[Candidate]":
        """What can be the next word of a command that has these words behind its name."""
        return self.arguments if self.looked_up is None else self.looked_up(words)


@dataclass(frozen=True, slots=True)
class Completion:
    """What could take the place of a part of the prompt."""

    start: int
    """Index of the first character that is replaced."""
    end: int
    """Index behind the last one."""
    candidates: tuple[Candidate, ...]
    """The best first, never empty."""

    def changes(self, text: str, candidate: Candidate) -> bool:
        """Whether taking the candidate says anything that does not stand there already."""
        typed = text[self.start : self.end]
        return typed.translate(_NARROW) != candidate.inserted.rstrip()

    def apply(self, text: str, candidate: Candidate) -> tuple[str, int]:
        """The prompt with the candidate in its place, and where the cursor is then."""
        inserted = candidate.inserted
        rest = text[self.end :]
        if inserted.endswith(" ") and rest.startswith(" "):
            rest = rest[1:]
        return text[: self.start] + inserted + rest, self.start + len(inserted)


@dataclass(frozen=True, slots=True)
class Completer:
    """Finds completions of slash commands, their arguments, and files after `@`."""

    commands: Callable[[], Sequence[Candidate]]
    """The commands, each label with its slash; one that takes something inserts a space behind its name."""
    files: Callable[[], Sequence[str]]
    """Paths from the workspace's folder; a folder ends with a slash."""

    def complete(self, text: str, cursor: int) -> Completion | None:
        """What can be completed at an index of the text; None when there is nothing, or it is complete already."""
        found = _FILE.search(text, 0, cursor)
        if found:
            return _only_if_new(text, self._file_completion(text, cursor, found))
        command = _COMMAND.match(text)
        if not command:
            return None
        if cursor <= command.end():
            needle = "/" + text[1:cursor]
            ranked = _ranked(self.commands(), needle)
            return _only_if_new(text, Completion(0, command.end(), ranked)) if cursor and ranked else None
        return self._argument_completion(text, cursor, "/" + command[0][1:])

    def _file_completion(self, text: str, cursor: int, found: re.Match[str]) -> Completion | None:
        quoted = found["quoted"] is not None
        needle = found["quoted"] if quoted else found["plain"]
        end = cursor + (quoted and text.startswith('"', cursor))
        paths = best_paths(self.files(), needle)
        return Completion(found.start(), end, tuple(map(_file_candidate, paths))) if paths else None

    def _argument_completion(self, text: str, cursor: int, name: str) -> Completion | None:
        command = next((command for command in self.commands() if command.label == name), None)
        typed = text[:cursor]
        if command is None or "\n" in typed:
            return None
        start = len(re.sub(r"\S*$", "", typed))
        ranked = _ranked(command.following(tuple(typed[:start].split()[1:])), typed[start:])
        return _only_if_new(text, Completion(start, cursor, ranked)) if ranked else None


def best_paths(paths: Iterable[str], needle: str, most: int = MOST_CANDIDATES) -> list[str]:
    """Paths whose letters include those of the needle in order, the likeliest first, at most `most`.

    First those whose name or whole path begins with the needle, then those that hold it as it is, then the rest by
    how close together the letters stand; a shorter path before a longer one.
    """
    if not needle:
        return heapq.nsmallest(most, paths, key=lambda path: (path.count("/", 0, -1), path))
    needle = needle.casefold()
    letters = [re.escape(letter) for letter in needle]
    scattered = re.compile(letters[0] + "".join(f"[^{letter}]*{letter}" for letter in letters[1:]))
    ranked = ((rank, path) for path in paths if (rank := _rank(path.casefold(), needle, scattered)))
    return [path for _, path in heapq.nsmallest(most, ranked)]


def _rank(path: str, needle: str, scattered: re.Pattern[str]) -> tuple[int, int, int, int] | None:
    """The smaller the likelier: how it matches, how far the letters are apart, depth, length; None: not at all."""
    spread = 0
    if needle in path:
        name = path.rfind("/", 0, -1) + 1
        if path.startswith(needle) or path.startswith(needle, name):
            kind = 0
        else:
            kind = 1 if path.find(needle, name) >= 0 else 2
    elif found := scattered.search(path):
        kind, spread = 3, found.end() - found.start()
    else:
        return None
    return kind, spread, path.count("/", 0, -1), len(path)


def _ranked(candidates: Sequence[Candidate], needle: str) -> tuple[Candidate, ...]:
    """Candidates in their own order where nothing was typed, else as `best_paths` ranks their labels."""
    if needle in ("", "/"):
        return tuple(candidates[:MOST_CANDIDATES])
    by_label = {candidate.label: candidate for candidate in candidates}
    return tuple(by_label[label] for label in best_paths(by_label, needle))


def _file_candidate(path: str) -> Candidate:
    """A folder is left open for what comes after its slash."""
    spaced = bool(re.search(r"\s", path))
    if path.endswith("/"):
        return Candidate(path, insert=f'@"{path}' if spaced else f"@{path}")
    return Candidate(path, insert=f'@"{path}" ' if spaced else f"@{path} ")


def _only_if_new(text: str, completion: Completion | None) -> Completion | None:
    """The completion, unless its only candidate is what stands there."""
    match completion:
        case Completion(candidates=(only,)) if not completion.changes(text, only):
            return None
        case _:
            return completion
