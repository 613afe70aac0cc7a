"""Random command lines from the grammars of the gate: those that would run unasked are run, and must do no harm.

python -m benchmarks.unasked                       1,000 lines by bash and by sh
python -m benchmarks.unasked --lines 100000        that many unasked lines
python -m benchmarks.unasked --seed 7 --shell dash --tools DIR   programs of DIR come first

The lines are tried in a folder of their own (`benchmarks.canary`), without the sandbox and without the safe
environment of git that a session adds, so that the grammars alone are measured. Exit code 1: a line did harm.
"""

import argparse
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from random import Random

from benchmarks.canary import Canary
from benchmarks.command_gate import CommandGate
from benchmarks.random_lines import LineMaker, MadeLine
from harness.permissions import Allow
from harness.permissions.name_sets import names
from harness.permissions.shell.syntax import BASH, PORTABLE

BATCH = 80
"""Lines that are run before the folder is looked at."""
LONGEST_S = 8.0
"""Lines that run longer are tried alone."""
ALONE_S = 40.0
"""A line that runs longer alone does not end; `apt-cache search` takes seconds on a busy machine, and ends."""
ENDLESS = ("it does not end",)
SHOWN = 30


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that ran unasked and did harm."""

    line: str
    shell: str
    folder: str
    harm: tuple[str, ...]


@dataclass
class Figures:
    """Results of the lines."""

    made: int = 0
    unasked: int = 0
    executed: int = 0
    not_installed: int = 0
    programs: Counter[str] = field(default_factory=Counter)
    """How often each program was in a line that was executed."""
    wrong: list[Wrong] = field(default_factory=list)


class Trial:
    """Makes lines, asks the gate, runs what it allows and looks what happened."""

    def __init__(self, seed: int, shells: Sequence[str], tools: Sequence[Path] = ()) -> None:
        self.figures = Figures()
        self._random = Random(seed)
        self._maker = LineMaker(self._random)
        self._shells = shells
        self._tools = tools

    def run(self, unasked: int, *, seconds: float = inf, most_wrong: int = SHOWN) -> Figures:
        """Go on until so many lines ran unasked, so many of them did harm, or the time is over."""
        end = time.monotonic() + seconds
        with ExitStack() as stack:
            canary = stack.enter_context(Canary.made(self._tools))
            while self.figures.unasked < unasked and len(self.figures.wrong) < most_wrong and time.monotonic() < end:
                folder = self._random.choice((".", ".", ".", "dashes", "src"))
                shell = self._random.choice(self._shells)
                lines = self._allowed(canary, shell, folder, min(BATCH, unasked - self.figures.unasked))
                if not self._harmless(canary, lines, shell, folder):
                    self._find(lines, shell, folder)
                    stack.close()
                    canary = stack.enter_context(Canary.made(self._tools))
        return self.figures

    def _allowed(self, canary: Canary, shell: str, folder: str, wanted: int) -> list[str]:
        gate = _gate(canary, shell, folder)
        path = canary.environment()["PATH"]
        found: list[str] = []
        while wanted > 0:
            made = self._maker.line(canary.root)
            self.figures.made += 1
            if "\0" in made.text or not isinstance(gate.decide(made.text), Allow):
                continue
            wanted -= 1
            self.figures.unasked += 1
            if _missing(made, path):
                self.figures.not_installed += 1
                continue
            self.figures.executed += 1
            self.figures.programs.update(made.programs)
            found.append(made.text)
        return found

    def _harmless(self, canary: Canary, lines: Sequence[str], shell: str, folder: str) -> bool:
        effects = canary.run(lines, shell, folder=folder, limit_s=LONGEST_S + len(lines) / 4)
        return effects.ended and not effects.harm

    def _find(self, lines: Sequence[str], shell: str, folder: str) -> None:
        """Which of these lines did it."""
        if len(lines) > 1:
            for half in (lines[: len(lines) // 2], lines[len(lines) // 2 :]):
                with Canary.made(self._tools) as canary:
                    harmless = self._harmless(canary, half, shell, folder)
                if not harmless:
                    self._find(half, shell, folder)
            return
        harm = self._harm_of(lines[0], shell, folder)
        if harm:
            shortest = lines[0] if harm == ENDLESS else self._shortened(lines[0], shell, folder)
            self.figures.wrong.append(Wrong(shortest, shell, folder, self._harm_of(shortest, shell, folder) or harm))

    def _harm_of(self, line: str, shell: str, folder: str) -> tuple[str, ...]:
        """What a line does; empty where it would not run unasked."""
        with Canary.made(self._tools) as canary:
            # A line may hold the place of the folder that it was made for.
            line = re.sub(r"/[\w/.-]*canary-\w+", str(canary.root), line)
            if not isinstance(_gate(canary, shell, folder).decide(line), Allow):
                return ()
            effects = canary.run([line], shell, folder=folder, limit_s=ALONE_S)
        return effects.harm or (() if effects.ended else ENDLESS)

    def _shortened(self, line: str, shell: str, folder: str) -> str:
        """The line without the words that it does not need for its harm."""
        words, tries, position = line.split(" "), 0, 0
        while position < len(words) and tries < 40:
            shorter = words[:position] + words[position + 1 :]
            tries += 1
            if shorter and self._harm_of(" ".join(shorter), shell, folder):
                words = shorter
            else:
                position += 1
        return " ".join(words)


def _gate(canary: Canary, shell: str, folder: str) -> CommandGate:
    """The gate of a session whose lines this shell runs."""
    return CommandGate(canary.work / folder, canary.home, dialect=BASH if shell == "bash" else PORTABLE)


def _missing(made: MadeLine, path: str) -> bool:
    return any(shutil.which(program, path=path) is None for program in made.programs - BUILT_IN)


BUILT_IN = names(
    "[ [[ : . alias bg break builtin cd command compgen continue declare dirs echo enable eval exec exit export false "
    "fg getopts hash help jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return set "
    "shift shopt test time times trap true type typeset ulimit umask unalias unset wait"
)


def _lines_of(figures: Figures, seconds: float) -> Iterator[str]:
    yield (
        f"{figures.made} lines, {figures.unasked} of them unasked, {figures.executed} executed, "
        f"{figures.not_installed} of programs that are not installed, {len(figures.programs)} programs, "
        f"{len(figures.wrong)} wrong, {seconds:.0f} s"
    )
    for wrong in figures.wrong[:SHOWN]:
        yield f"WRONG ({wrong.shell}, in {wrong.folder}): {wrong.line!r}\n    {'; '.join(wrong.harm)}"


def main() -> int:
    """Print the figures; 1 where a line did harm."""
    parser = argparse.ArgumentParser(description="Run random command lines that the gate lets through.")
    parser.add_argument("--lines", type=int, default=1000, help="lines that run unasked (default: 1000)")
    parser.add_argument("--seconds", type=float, default=inf, help="stop after so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shell", choices=("bash", "sh", "dash"), action="append", help="default: bash and sh")
    parser.add_argument("--tools", type=Path, action="append", default=[], help="a folder of programs to use as well")
    parser.add_argument("--programs", action="store_true", help="how often each program was in a line")
    arguments = parser.parse_args()
    begun = time.monotonic()
    trial = Trial(arguments.seed, arguments.shell or ("bash", "sh"), arguments.tools)
    figures = trial.run(arguments.lines, seconds=arguments.seconds)
    if arguments.programs:
        print(", ".join(f"{name} {count}" for name, count in figures.programs.most_common()))
    print("\n".join(_lines_of(figures, time.monotonic() - begun)))
    return 1 if figures.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
