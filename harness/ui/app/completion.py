"""Completion of commands, arguments and file names at the cursor. Knows nothing of the screen."""

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

MOST_CANDIDATES = 100
"""Most candidates of one completion."""

_WIDE_MARK = r"\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
"""Punctuation of Chinese, Japanese and Korean text, after which no space is typed."""
_NARROW = str.maketrans("／＠", "/@")
_FILE = re.compile(rf'(?:^|(?<=[\s{_WIDE_MARK}]))[@＠](?:"(?P<quoted>[^"\n]*)|(?P<plain>[^\s"@＠]*))$')
_COMMAND = re.compile(r"[/／](?![/／])\S*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible completion."""

    label: str
    """Shown in the list, and inserted unless `insert` is set."""
    help: str = ""
    """One line."""
    insert: str = ""
    """Text to insert instead of the label."""
    arguments: "tuple[Candidate, ...]" = ()
    """Fixed arguments of a command."""
    looked_up: "Callable[[tuple[str, ...]], Sequence[Candidate]] | None" = field(default=None, compare=False)
    """Finds the next argument after some words, instead of `arguments`. Called for every key, so it has to be fast."""

    @property
    def inserted(self) -> str:
        """The text to insert."""
        return self.insert or self.label

    def following(self, words: tuple[str, ...]) -> "Sequence[Candidate]":
        """Candidates for the next argument after these words."""
        return self.arguments if self.looked_up is None else self.looked_up(words)


@dataclass(frozen=True, slots=True)
class Completion:
    """Candidates for a part of the prompt."""

    start: int
    """Index of the first replaced character."""
    end: int
    """Index after the last one."""
    candidates: tuple[Candidate, ...]
    """Best first, never empty."""

    def changes(self, text: str, candidate: Candidate) -> bool:
        """Whether inserting the candidate would change the text."""
        typed = text[self.start : self.end]
        return typed.translate(_NARROW) != candidate.inserted.rstrip()

    def apply(self, text: str, candidate: Candidate) -> tuple[str, int]:
        """The text with the candidate inserted, and the new index of the cursor."""
        inserted = candidate.inserted
        rest = text[self.end :]
        if inserted.endswith(" ") and rest.startswith(" "):
            rest = rest[1:]
        return text[: self.start] + inserted + rest, self.start + len(inserted)


@dataclass(frozen=True, slots=True)
class Completer:
    """Completes slash commands, their arguments, and files after `@`."""

    commands: Callable[[], Sequence[Candidate]]
    """Commands; labels include the slash."""
    files: Callable[[], Sequence[str]]
    """Paths relative to the workspace; folders end with a slash."""

    def complete(self, text: str, cursor: int) -> Completion | None:
        """The completion at the cursor; None if there is none, or the word is complete already."""
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
    """Paths that contain the letters of the needle in order, best match first.

    Prefixes of the name or path come first, then substrings, then scattered letters by their spread; shorter paths
    before longer ones.
    """
    if not needle:
        return heapq.nsmallest(most, paths, key=lambda path: (path.count("/", 0, -1), path))
    needle = needle.casefold()
    letters = [re.escape(letter) for letter in needle]
    scattered = re.compile(letters[0] + "".join(f"[^{letter}]*{letter}" for letter in letters[1:]))
    ranked = ((rank, path) for path in paths if (rank := _rank(path.casefold(), needle, scattered)))
    return [path for _, path in heapq.nsmallest(most, ranked)]


def _rank(path: str, needle: str, scattered: re.Pattern[str]) -> tuple[int, int, int, int] | None:
    """A sort key: kind of match, spread of the letters, depth, length. None: no match."""
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
    if needle in ("", "/"):
        return tuple(candidates[:MOST_CANDIDATES])
    by_label = {candidate.label: candidate for candidate in candidates}
    return tuple(by_label[label] for label in best_paths(by_label, needle))


def _file_candidate(path: str) -> Candidate:
    spaced = bool(re.search(r"\s", path))
    if path.endswith("/"):
        return Candidate(path, insert=f'@"{path}' if spaced else f"@{path}")
    return Candidate(path, insert=f'@"{path}" ' if spaced else f"@{path} ")


def _only_if_new(text: str, completion: Completion | None) -> Completion | None:
    match completion:
        case Completion(candidates=(only,)) if not completion.changes(text, only):
            return None
        case _:
            return completion
