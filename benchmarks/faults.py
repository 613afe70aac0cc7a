"""Play every row of the fault table to the real command over a real socket, and print the outcomes.

python -m benchmarks.faults              the whole table, stalls included (about four minutes)
python -m benchmarks.faults --quick      without the rows that take longer than 10 seconds
python -m benchmarks.faults stall 429    rows whose name holds one of these words
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from chapters.course.exam.rows import ROWS, FaultRow
from harness.practice.script import Script
from harness.practice.server import PracticeServer

LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Played:
    """What one run of the command did."""

    row: FaultRow
    requests: int
    seconds: float
    """From the first to the last request."""
    exit_code: int | None
    """None: the run was ended after `LIMIT_S`."""
    stdout: str
    stderr: str
    rounds: int

    @property
    def misses(self) -> list[str]:
        """Where the run falls short of its bar; empty when it holds."""
        row = self.row
        least, most = row.requests
        wanted = f"{row.answer}\n" if row.answer is not None else ""
        checks = {
            f"exit {self.exit_code}, not {row.exit_code}": self.exit_code == row.exit_code,
            f"{self.requests} requests, not {least} to {most}": least <= self.requests <= most,
            f"stdout is {self.stdout!r}": self.stdout.rstrip() == wanted.rstrip(),
            f"commands ran {self.rounds} times, not {row.rounds}": self.rounds == row.rounds,
            f"stderr does not say {row.stderr!r}": row.stderr in self.stderr,
            f"stderr is {self.stderr!r}": not row.quiet or not self.stderr,
            "a traceback was shown": "Traceback" not in self.stderr,
        }
        if row.seconds is not None:
            checks[f"took {self.seconds:.1f} s, not {row.seconds[0]} to {row.seconds[1]}"] = (
                row.seconds[0] <= self.seconds <= row.seconds[1]
            )
        return [miss for miss, holds in checks.items() if not holds]


async def play(row: FaultRow, environment: Mapping[str, str] | None = None) -> Played:
    """Run the command once against the row's script. `environment` adds variables, for example shorter limits."""
    with tempfile.TemporaryDirectory() as folder:
        async with PracticeServer(script=Script.parse(row.script, row.name)) as server:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "harness", "-p", "What does the note hold?", "--model", "claude-sonnet-4-6", "--yolo"),
                *row.arguments,
                cwd=folder,
                env=_environment(server.base_url, Path(folder), environment or {}),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                async with asyncio.timeout(LIMIT_S):
                    stdout, stderr = await process.communicate()
            except TimeoutError:
                process.kill()
                stdout, stderr = await process.communicate()
                process = None  # type: ignore[assignment]
            sent = [request.at for request in server.requests if request.path.endswith("/messages")]
        rounds = Path(folder) / "rounds.txt"
        return Played(
            row,
            len(sent),
            sent[-1] - sent[0] if sent else 0.0,
            process.returncode if process else None,
            stdout.decode(),
            stderr.decode(),
            len(rounds.read_text().splitlines()) if rounds.exists() else 0,
        )


def _environment(base_url: str, folder: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "HARNESS_"))}
    root = str(Path(__file__).parents[1])
    return kept | {
        "ANTHROPIC_BASE_URL": base_url,
        "ANTHROPIC_API_KEY": "not-a-key",
        "HARNESS_STATE_DIR": str(folder / ".state"),
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")])),
        **more,
    }


async def table(rows: Sequence[FaultRow], jobs: int) -> list[Played]:
    """Play the rows, `jobs` at a time, and print each as it ends."""
    places = asyncio.Semaphore(jobs)

    async def one(row: FaultRow) -> Played:
        async with places:
            played = await play(row)
        verdict = "holds" if not played.misses else "MISSES: " + "; ".join(played.misses)
        print(
            f"{row.name:42} {played.requests:>3} {played.seconds:>7.1f} {played.exit_code!s:>5}  {verdict}", flush=True
        )
        return played

    print(f"{'scenario':42} {'req':>3} {'s':>7} {'exit':>5}  the bar")
    return await asyncio.gather(*map(one, rows))


def markdown(played: Sequence[Played]) -> str:
    """The table of the README."""
    rows = ["| what happens | requests | seconds | exit code | holds its bar |", "|---|---|---|---|---|"]
    for run in played:
        verdict = "no" if run.misses else "yes"
        rows.append(f"| {run.row.name} | {run.requests} | {run.seconds:.1f} | {run.exit_code} | {verdict} |")
    return "\n".join(rows)


def main() -> int:
    """Print the table; exit code 1 when a row misses its bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only rows whose name holds one of these")
    parser.add_argument("--quick", action="store_true", help="leave out rows that take longer than 10 seconds")
    parser.add_argument("--jobs", type=int, default=2, help="rows at a time (default 2)")
    parser.add_argument("--markdown", action="store_true", help="print the table of the README at the end")
    parser.add_argument("--verbose", action="store_true", help="show what the command wrote to stderr")
    arguments = parser.parse_args()
    rows = [
        row
        for row in ROWS
        if (not arguments.words or any(word in row.name for word in arguments.words))
        and not (arguments.quick and row.slow)
    ]
    began = time.monotonic()
    played = asyncio.run(table(rows, arguments.jobs))
    if arguments.verbose:
        for run in played:
            print(f"\n── {run.row.name}\n{run.stderr.rstrip()}")
    if arguments.markdown:
        print(markdown(played))
    holding = sum(not run.misses for run in played)
    print(f"{holding} of {len(played)} hold their bar ({time.monotonic() - began:.0f} s)")
    return 0 if holding == len(played) else 1


if __name__ == "__main__":
    sys.exit(main())
