"""The loop experience of a project, stored beside its sessions in the file `escape.json`.

The file is written at the end of a turn with new results: it is read again under a lock, extended and replaced
atomically, so concurrent sessions lose nothing. An unreadable file is never overwritten; it is set aside.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.files import locked_file, read_regular, replace_atomically, set_aside
from harness.events import Json, Projection, Rung
from harness.journal import session_folder
from harness.policies.loops.ladder import Experience, Kind, RungResult, RungTally
from harness.settings import Settings

NAME = "escape.json"
MOST_BYTES = 100_000
"""Far more than every kind of loop with every rung takes."""


class ExperienceError(HarnessError):
    """The file cannot be used. Its text is one sentence that names it."""


class ExperienceFile:
    """The experience of one project on the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Experience:
        """The experience so far; empty if there is no file. Raises ExperienceError."""
        try:
            return Experience.from_json(json.loads(read_regular(self.path, MOST_BYTES)))
        except (FileNotFoundError, NotADirectoryError):
            return Experience()
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except (ValueError, RecursionError) as error:
            reason = str(error) if type(error) is ValueError else "this is no JSON"
            raise self._unusable(reason) from error

    def add(self, notes: Sequence[RungResult]) -> Path | None:
        """Add these results. Returns where an unusable file was set aside.

        Raises ExperienceError when nothing could be written.
        """
        with locked_file(self.path, ExperienceError):
            aside = None
            try:
                known = self.read()
            except ExperienceError:
                aside, known = set_aside(self.path), Experience()
            for note in notes:
                known = known.noted(note.kind, note.rung, freed=note.freed)
            replace_atomically(self.path, json.dumps(known.as_json(), indent=1).encode("ascii") + b"\n", private=True)
        return aside

    def forget(self) -> bool:
        """Remove the file; says whether there was one. Raises ExperienceError."""
        if not self.path.exists():
            return False
        with locked_file(self.path, ExperienceError):
            self.path.unlink(missing_ok=True)
        return True

    def _unusable(self, why: str) -> ExperienceError:
        return ExperienceError(f"{self.path} cannot be used: {why}.")


def experience_file(settings: Settings) -> ExperienceFile:
    """The file of the project that these settings are for."""
    return ExperienceFile(session_folder(settings.workspace, settings.state_dir) / NAME)


def table(experience: Experience) -> Iterator[str]:
    """The experience as lines of text, sorted by kind of loop."""
    rows = [
        (f"{projection.value}{', failing' if failing else ''}", rung.value, f"{tally.tried}", f"{tally.freed}")
        for ((projection, failing), rung), tally in _in_order(experience)
    ]
    heads = ("kind of loop", "rung", "tried", "freed")
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for kind, rung, tried, freed in (heads, *rows):
        yield f"{kind:<{widths[0]}}  {rung:<{widths[1]}}  {tried:>{widths[2]}}  {freed:>{widths[3]}}"


def as_json(file: ExperienceFile) -> Json:
    """The same as plain values, with the place of the file."""
    tallies = [
        {
            "projection": projection.value,
            "failing": failing,
            "rung": rung.value,
            "tried": tally.tried,
            "freed": tally.freed,
        }
        for ((projection, failing), rung), tally in _in_order(file.read())
    ]
    return {"file": str(file.path), "tallies": tallies}


def _in_order(experience: Experience) -> list[tuple[tuple[Kind, Rung], RungTally]]:
    """By kind of loop, and then as the ladder goes."""
    projections, rungs = list(Projection), list(Rung)

    def place(line: tuple[tuple[Kind, Rung], RungTally]) -> tuple[int, bool, int]:
        (projection, failing), rung = line[0]
        return projections.index(projection), failing, rungs.index(rung)

    return sorted(experience.tallies.items(), key=place)
