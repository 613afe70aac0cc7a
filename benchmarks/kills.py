"""`kill -9` at random moments of a real turn: `python -m benchmarks.kills --count 350 --seed 0`.

Each run starts the program headless on a script whose calls append to a file and write others, and kills it after a
random time. Then it is gone on with by a model that only answers. A run is good when

1. the journal can be read, and no line but the one that was being written is lost;
2. the session can be resumed and ends its turn: every lock of the killed program was released;
3. no call took effect twice, nor without a record that it began, nor when the session was gone on with;
4. no file is half written.

A kill between the writing and the renaming of a file leaves its temporary file; how many were left is printed.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psutil

from harness.events import ToolEnded, ToolStarted
from harness.journal import read

CALLS = 5
DONE = '[[reply]]\ntext = "All done."\ntimes = "forever"\n'
CONTENT = "0123456789abcdef\n" * 4_000


def script() -> str:
    """Replies that append a line by a command and write a file, in turn, and then end."""
    replies = []
    for number in range(CALLS):
        append = {"command": f"echo call-{number} >> calls.txt"}
        write = {"path": f"file-{number}.txt", "content": f"{number}\n" + CONTENT}
        tools = ", ".join(
            f'{{ name = "{name}", input = {_toml(input)} }}'
            for name, input in (("bash", append), ("write_file", write))
        )
        replies.append(f'[[reply]]\ntext = "Step {number}."\ntools = [ {tools} ]\n')
    return "".join(replies) + DONE


def _toml(values: dict[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in values.items()) + " }"


def main() -> int:
    """Print the findings; the exit code is 1 when a run was not good."""
    return kill(Run, __doc__ or "")


def kill(kind: type["Run"], description: str) -> int:
    """Kill as many sessions of this kind as the command line says; returns the exit code."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=350, help="programs to kill")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    moments, problems, reached = random.Random(options.seed), list[str](), Counter[str]()
    began = time.monotonic()
    longest = _whole_turn(kind)
    for number in range(options.count):
        with tempfile.TemporaryDirectory(prefix="kills-") as folder:
            run = kind(Path(folder))
            wait_s = moments.uniform(0, longest * 1.1)
            killed = run.begin_and_kill(wait_s)
            reached["killed in the turn" if killed else "ended before"] += 1
            reached["temporary files left"] += run.temporary_files
            problems += [f"run {number}, killed after {wait_s:.3f} s: {problem}" for problem in run.problems()]
    took_s = time.monotonic() - began
    print(f"{options.count} runs in {took_s:.0f} s, a whole turn takes {longest:.2f} s: {dict(reached)}")
    print(*problems, f"{len(problems)} problems", sep="\n")
    return 1 if problems else 0


def _whole_turn(kind: type["Run"]) -> float:
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        run, began = kind(Path(folder)), time.monotonic()
        run.begin().wait()
        return time.monotonic() - began


class Run:
    """One session in a folder of its own."""

    options: tuple[str, ...] = ()
    """Further options of the program."""
    script = staticmethod(script)

    def __init__(self, folder: Path) -> None:
        self.work, self._state = folder / "work", folder / "state"
        self.work.mkdir()
        self._script = folder / "script.toml"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "HARNESS_"))},
            "HARNESS_STATE_DIR": str(self._state),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }

    def begin(self, *more: str) -> "subprocess.Popen[bytes]":
        """The program, in a session of its own."""
        prompt = "go on" if more else "begin"
        self._script.write_text(DONE if more else self.script())
        options = ["-p", prompt, "--yolo", "--practice", str(self._script), *self.options, *more]
        command = [sys.executable, "-m", "harness", *options]
        return subprocess.Popen(
            command,
            cwd=self.work,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def begin_and_kill(self, after_s: float) -> bool:
        """Whether the program was still at work when it was killed."""
        process = self.begin()
        try:
            process.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            return True
        return False

    def problems(self) -> Iterator[str]:
        """Errors after the kill and after the session was resumed."""
        journals = list(self._state.glob("sessions/*/*.jsonl"))
        if not journals:
            return  # it was killed before there was a session
        (path,) = journals
        before = read(path)
        if len(before.skipped) > 1:
            yield f"{len(before.skipped)} lines of the journal cannot be read"
        if not before.records:
            return
        self._wait_for_commands()
        yield from self.effects(path)
        files = self._files()
        process = self.begin("-c")
        try:
            _, told = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            yield "the session could not be gone on with in 60 s"
            return
        if process.returncode != 0:
            yield f"going on ended with exit code {process.returncode}: {told.decode(errors='replace')[-300:]}"
        if self._files() != files:
            yield "going on repeated a call that no reply asked for"
        after = read(path)
        if [record.seq for record in after.records[: len(before.records)]] != [one.seq for one in before.records]:
            yield "records of before the kill are gone"
        if len({record.seq for record in after.records}) != len(after.records):
            yield "a number of a record is there twice"
        yield from self.after(path)

    def after(self, path: Path) -> Iterator[str]:
        """Errors that only this kind of session can have, after it was resumed."""
        yield from ()

    def _wait_for_commands(self) -> None:
        """A command that had begun outlives the program until the watcher ends it, and may still write."""
        left = [process for process in psutil.process_iter(["cwd"]) if process.info["cwd"] == str(self.work)]
        psutil.wait_procs(left, timeout=10)

    def _files(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.work.iterdir()}

    @property
    def temporary_files(self) -> int:
        """How many files were written and never renamed."""
        return sum(1 for folder in (self._state, self.work) for file in folder.rglob("*.tmp") if file.is_file())

    def effects(self, path: Path) -> Iterator[str]:
        """Compare the files with what the journal says of the calls."""
        started, ended = Counter[str](), Counter[str]()
        for record in read(path).records:
            match record.event:
                case ToolStarted(tool="bash", summary=summary):
                    started[summary] += 1
                case ToolEnded(tool="bash"):
                    ended["bash"] += 1
        calls = self.work / "calls.txt"
        lines = Counter(calls.read_text().splitlines() if calls.exists() else ())
        if any(times > 1 for times in lines.values()):
            yield f"a call took effect twice: {lines}"
        if len(lines) > started.total():
            yield f"{len(lines)} calls took effect, and {started.total()} are in the journal"
        if len(lines) < ended.total():
            yield f"{ended.total()} calls ended by the journal, and {len(lines)} took effect"
        for file in self.work.glob("file-*.txt"):
            number = file.stem.removeprefix("file-")
            if file.read_text() != f"{number}\n{CONTENT}":
                yield f"{file.name} is half written"


if __name__ == "__main__":
    sys.exit(main())
