"""The program under examination: its command line and its environment."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from harness.base.errors import HarnessError

MODEL, FALLBACK_MODEL = "claude-sonnet-4-6", "claude-haiku-4-5"
STEERING = ("ANTHROPIC_", "HARNESS_", "MY_AGENT_", "CLAUDE_", "CLAUDECODE", "XDG_", "MODEL_ID", "FALLBACK_MODEL_ID")
"""Beginnings of the variables that steer an agent; the program does not inherit them."""


class ProgramError(HarnessError):
    """There is no program to examine."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Program:
    """The command line of the program under examination."""

    words: tuple[str, ...]
    """Without the prompt."""
    continue_flag: str = "--continue"

    @classmethod
    def parse(cls, text: str, folder: Path, continue_flag: str = "--continue") -> "Program":
        """A .py file, or a command line; files in it are looked up in `folder`.

        $MY_AGENT_MODEL and $MY_AGENT_FALLBACK_MODEL in it become the names of the models. Raises ProgramError.
        """
        models = {"MY_AGENT_MODEL": MODEL, "MY_AGENT_FALLBACK_MODEL": FALLBACK_MODEL}
        try:
            words = [Template(word).safe_substitute(models) for word in shlex.split(text)]
        except ValueError as error:
            raise ProgramError(f"{text!r} is not a command line: {error}.") from error
        whole = folder / text
        if whole.suffix == ".py" and whole.is_file():
            return cls((sys.executable, str(whole.resolve())), continue_flag)
        if not words:
            raise ProgramError("No program is named; give a .py file or a command line in quotes.")
        words[1:] = [str((folder / word).resolve()) if (folder / word).is_file() else word for word in words[1:]]
        first = folder / words[0]
        if first.suffix == ".py" and first.is_file():
            words[:1] = [sys.executable, str(first.resolve())]
        elif os.sep in words[0]:
            words[0] = os.path.abspath(first)  # noqa: PTH100 (a link into a virtual environment must stay one)
        found = shutil.which(words[0], path=_path(os.environ))
        if found is None:
            raise ProgramError(f"{words[0]} is not found; name a .py file, or a program with its path.")
        return cls((found, *words[1:]), continue_flag)

    def environment(self, home: Path, base_url: str) -> dict[str, str]:
        """The environment of the program: ours, without what steers agents, with a home folder of its own."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(STEERING)}
        sources = (Path(place).resolve() for place in kept.get("PYTHONPATH", "").split(os.pathsep) if place)
        return {
            **kept,
            "PATH": _path(os.environ),
            "HOME": str(home),
            "PYTHONPATH": os.pathsep.join(map(str, sources)),
            "PYTHONUNBUFFERED": "1",
            "PYTHONUTF8": "1",
            "NO_COLOR": "1",
            "ANTHROPIC_BASE_URL": base_url,
            "ANTHROPIC_API_KEY": "not-a-key",
            "MY_AGENT_MODEL": MODEL,
            "MY_AGENT_FALLBACK_MODEL": FALLBACK_MODEL,
        }


def _path(environ: Mapping[str, str]) -> str:
    """The search path with the folder of this Python last, where `harness` is."""
    return os.pathsep.join((environ.get("PATH", os.defpath), str(Path(sys.executable).parent)))
