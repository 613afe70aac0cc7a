"""The prompts of earlier days, in a file that several programs may write."""

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.regular_file import read_regular

MOST_PROMPTS = 1_000
"""Prompts that are kept."""
COMPACTED_ABOVE = 2 * MOST_PROMPTS
"""Lines of the file above which it is written anew."""
MOST_BYTES = 100_000_000
"""Of a file that is read."""
MOST_CHARACTERS = 100_000
"""A longer prompt is known in this run alone, so that the file stays quick to read."""


class PromptHistory:
    """What was submitted, oldest first.

    One line of JSON for each prompt, appended by a single write. Damaged lines are skipped. A file that cannot be
    read or written is told once, by `problem`, and the history of this run goes on in memory.
    """

    def __init__(self, file: Path | None, masked: Callable[[str], str] = str) -> None:
        """Nothing is read yet; None: a history that is kept nowhere. `masked` takes keys out of what is written."""
        self._file = file
        self._masked = masked
        self._prompts: list[str] | None = None
        self._lines = 0
        self._torn = False
        self._told = False
        self._problem: str | None = None

    @property
    def prompts(self) -> Sequence[str]:
        """The prompts, oldest first; the file is read at the first call."""
        return self._read()

    def problem(self) -> str | None:
        """One sentence on what went wrong with the file; None when nothing did or it was told already."""
        problem, self._problem = self._problem, None
        return problem

    def add(self, prompt: str) -> None:
        """Remember a prompt, unless it is blank, begins with a space or is the same as the one before."""
        prompts = self._read()
        if not prompt.strip() or prompt.startswith(" ") or prompts[-1:] == [prompt]:
            return
        prompts.append(prompt)
        del prompts[:-MOST_PROMPTS]
        if self._file is not None and len(prompt) <= MOST_CHARACTERS:
            try:
                self._append(self._file, self._masked(prompt))
                if self._lines > COMPACTED_ABOVE:
                    self._compact(self._file)
            except OSError as error:
                self._tell(f"Prompts cannot be remembered in {self._file}: {error.strerror or error}.")

    def _read(self) -> list[str]:
        if self._prompts is None:
            self._prompts = []
            if self._file is not None:
                try:
                    self._prompts = self._prompts_in(self._file)
                    if self._lines > COMPACTED_ABOVE:
                        self._compact(self._file)
                except OSError as error:
                    self._tell(f"Earlier prompts cannot be read from {self._file}: {error.strerror or error}.")
        return self._prompts

    def _prompts_in(self, file: Path) -> list[str]:
        try:
            lines = read_regular(file, MOST_BYTES).split(b"\n")
        except FileNotFoundError:
            return []
        self._lines = len(lines) - 1
        self._torn = bool(lines[-1])
        prompts: list[str] = []
        for line in lines:
            prompt = _prompt_of(line)
            if prompt and prompts[-1:] != [prompt]:
                prompts.append(prompt)
        return prompts[-MOST_PROMPTS:]

    def _append(self, file: Path, prompt: str) -> None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = (b"\n" if self._torn else b"") + _line_of(prompt)
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600)
        try:
            self._torn = os.write(descriptor, data) < len(data)
        finally:
            os.close(descriptor)
        self._lines += 1

    def _compact(self, file: Path) -> None:
        """Keep the newest prompts only, also those that other programs have added since the file was read."""
        data = b"".join(map(_line_of, self._prompts_in(file)))
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.write(data)
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)
        self._lines, self._torn = data.count(b"\n"), False

    def _tell(self, problem: str) -> None:
        if not self._told:
            self._told, self._problem = True, problem


def _line_of(prompt: str) -> bytes:
    return json.dumps({"prompt": prompt, "at": round(time.time())}).encode() + b"\n"


def _prompt_of(line: bytes) -> str | None:
    try:
        match json.loads(line):
            case {"prompt": str(prompt)}:
                return prompt
            case _:
                return None
    except (ValueError, RecursionError):
        return None
