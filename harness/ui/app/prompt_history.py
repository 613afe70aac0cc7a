"""Earlier prompts, in a file that several programs may write."""

import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness.base.files import read_regular

MOST_PROMPTS = 1_000
"""Most prompts to keep."""
COMPACTED_ABOVE = 2 * MOST_PROMPTS
"""Lines above which the file is rewritten."""
MOST_BYTES = 100_000_000
"""Largest file to read."""
MOST_CHARACTERS = 100_000
"""Longer prompts are not written to the file."""


class PromptHistory:
    """Submitted prompts, oldest first.

    The file has one line of JSON per prompt, appended by a single write. Damaged lines are skipped. If the file cannot
    be read or written, `problem` says so once and the history is kept in memory.
    """

    def __init__(self, file: Path | None, masked: Callable[[str], str] = str) -> None:
        """`file` is read at the first access; None: keep the history in memory. `masked` removes keys from the text."""
        self._file = file
        self._masked = masked
        self._prompts: list[str] | None = None
        self._lines = 0
        self._torn = False
        self._reported = False
        self._problem: str | None = None

    @property
    def prompts(self) -> Sequence[str]:
        """The prompts, oldest first."""
        return self._read()

    def problem(self) -> str | None:
        """A sentence about a problem of the file, returned once; None if there is none."""
        problem, self._problem = self._problem, None
        return problem

    def add(self, prompt: str) -> None:
        """Add a prompt, unless it is blank, starts with a space or repeats the last one."""
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
                self._report(f"Cannot write prompts to {self._file}: {error.strerror or error}.")

    def _read(self) -> list[str]:
        if self._prompts is None:
            self._prompts = []
            if self._file is not None:
                try:
                    self._prompts = self._prompts_in(self._file)
                    if self._lines > COMPACTED_ABOVE:
                        self._compact(self._file)
                except OSError as error:
                    self._report(f"Cannot read earlier prompts from {self._file}: {error.strerror or error}.")
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
        """Rewrite the file with the newest prompts, including those that other programs have added."""
        data = b"".join(map(_line_of, self._prompts_in(file)))
        fresh = file.with_name(f"{file.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.write(data)
            fresh.replace(file)
        finally:
            fresh.unlink(missing_ok=True)
        self._lines, self._torn = data.count(b"\n"), False

    def _report(self, problem: str) -> None:
        if not self._reported:
            self._reported, self._problem = True, problem


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


class HistoryCursor:
    """A position in the history. The draft comes after the newest prompt."""

    def __init__(self) -> None:
        self._draft = ""
        self._back = 0

    def older(self, prompts: Sequence[str], shown: str) -> str | None:
        """The prompt before the shown one; None if there is none.

        A shown text that is not in the history, or was changed, becomes the draft.
        """
        self._locate(prompts, shown)
        if self._back >= len(prompts):
            return None
        self._back += 1
        return prompts[-self._back]

    def newer(self, prompts: Sequence[str], shown: str) -> str | None:
        """The prompt after the shown one, or the draft; None if the draft is shown."""
        self._locate(prompts, shown)
        if self._back == 0:
            return None
        self._back -= 1
        return prompts[-self._back] if self._back else self._draft

    def reset(self) -> None:
        """Go back to the end, without a draft."""
        self._draft, self._back = "", 0

    def _locate(self, prompts: Sequence[str], shown: str) -> None:
        if not 0 < self._back <= len(prompts) or shown != prompts[-self._back]:
            self._draft, self._back = shown, 0


def matching(prompts: Sequence[str], needle: str, most: int = 100) -> list[str]:
    """Distinct prompts that contain the needle, ignoring case, newest first."""
    folded = needle.casefold()
    found = (prompt for prompt in reversed(prompts) if folded in prompt.casefold())
    return list(dict.fromkeys(found))[:most]
