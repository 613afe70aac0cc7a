"""Hostile and random command lines in each state of the sandbox: what they read, write and reach that they should not.

python -m benchmarks.held_lines               120 random lines beside the hostile ones
python -m benchmarks.held_lines --lines 2000  that many

In the states full and files only no gate decides: every line is run, so that the system alone is measured. With `work`
and `look` of the full sandbox, and `look` of files only, each line meets the folder of `benchmarks.canary` and a server
on a port of this machine. In the state none the gate alone decides, and the lines that it lets through are run.
Exit code 1: something got through.
"""

import argparse
import asyncio
import os
import shlex
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.canary import Canary, Watch, shows_secret
from benchmarks.command_gate import CommandGate
from benchmarks.random_lines import LineMaker
from benchmarks.sandbox import no_hosts
from harness.permissions import Allow, Surroundings
from harness.processes import Processes, ProcessLimits
from harness.processes.search_path import own_search_path
from harness.sandbox import ProfileName, SandboxLevel
from harness.sandbox.marked_files import Marks
from harness.sandbox.places import Places
from harness.sandbox.sandbox import Sandbox

LONGEST_S = 10.0
SHOWN = 20
_READS = (
    *("cat {}", "python3 -c 'print(open(\"{}\").read())'", "cp {} taken; cat taken", "tar cO {} | od -c", "< {} cat"),
    *("ln -s {} way2; cat way2", "ln {} same; cat same", "exec 9< {}; cat <&9", "find {} -exec cat {{}} +"),
)
_PLACES = (
    *("{root}/outside/secret.txt", "{root}/home/.ssh/id_rsa", "{root}/home/.netrc", "lin", "way/deep/plan.txt"),
    *(".env", "sub/.env", "secrets/prod.yml", "linked/in/key", "/proc/{pid}/root{root}/outside/secret.txt"),
    *("/proc/{pid}/environ", "/proc/1/root{root}/home/.netrc"),
)
_WRITES = (
    *("echo x > {}/new", "mkdir {}/made", "touch {}", "chmod 777 {}", 'python3 -c \'open("{}/new", "w")\''),
    *("ln -s x {}/link", "cp README.md {}/copy", "mv README.md {}/moved", "rm -rf {}/*", "mknod {}/pipe p"),
)
_FOLDERS = (
    *("{root}/outside", "{root}/home", "{root}", "way", "homeward", "{root}/home/.ssh"),
    "/proc/{pid}/root{root}/outside",
)
_REACHES = (
    *("exec 3<> /dev/tcp/127.0.0.1/{port}", "curl -s -m 2 http://127.0.0.1:{port}/"),
    *("curl -s -m 2 http://[::1]:{port}/", "curl -s -m 2 -x http://127.0.0.1:{port} http://x/"),
    "python3 -c 'import socket; socket.create_connection((\"localhost\", {port}), 2)'",
    "(sleep 0.1; exec 3<> /dev/tcp/127.0.0.1/{port}) & wait",
)


@dataclass
class State:
    """What happened in one state."""

    name: str
    run: int = 0
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    reached: list[str] = field(default_factory=list)

    @property
    def got_through(self) -> int:
        """How many lines did what they should not."""
        return len(self.reads) + len(self.writes) + len(self.reached)


def hostile_lines(canary: Canary, port: int) -> list[str]:
    """Every way with every place."""
    named = partial(str.format, root=canary.root, pid=os.getpid(), port=port)
    found = [way.format(shlex.quote(named(place))) for place in _PLACES for way in _READS]
    found += [way.format(shlex.quote(named(folder))) for folder in _FOLDERS for way in _WRITES]
    return [*found, *map(named, _REACHES)]


class Trial:
    """Runs lines in one state and looks what each has done."""

    def __init__(self, name: str, profile: ProfileName, search_path: str | None) -> None:
        """`search_path`: where the enforcers are found; None: nothing holds the lines, and the gate decides."""
        self.state, self._profile, self._search_path = State(name), profile, search_path
        self._connections = 0

    async def run(self, count: int, seed: int) -> State:
        """The hostile lines and so many random ones."""
        maker = LineMaker(Random(seed))
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            with Canary.made(own=True) as canary:
                lines = hostile_lines(canary, port)
            number = 0
            while number < len(lines) + count:  # a folder that a line has changed is made again
                with Canary.made(own=True) as canary:
                    lines = hostile_lines(canary, port)
                    async with _Runner(canary, self._profile, self._search_path) as runner:
                        clean = True
                        while clean and number < len(lines) + count:
                            line = lines[number] if number < len(lines) else maker.line(canary.root).text
                            number += 1
                            clean = "\0" in line or await self._one(canary, runner, line)
        finally:
            server.close()
        return self.state

    async def _one(self, canary: Canary, runner: "_Runner", line: str) -> bool:
        """Run a line; whether the folder is as it was."""
        if not runner.runs(line):
            return True
        self.state.run += 1
        before = self._connections
        with Watch(canary, folders=False) as watch:
            text = await runner.run(line)
            harm = watch.harm(text)
        changes = [one for one in harm if one.split(" ")[-1] in ("appeared", "away", "changed")]
        outside = [one for one in changes if self._profile is not ProfileName.WORK or not one.startswith("work/")]
        outside += [one for one in harm if one.startswith("ran:")]
        if shows_secret(text) or any(one.endswith(" was read") for one in harm):
            self.state.reads.append(f"{line!r}: {'; '.join(harm)}")
        if outside:
            self.state.writes.append(f"{line!r}: {'; '.join(outside)}")
        if self._connections > before:
            self.state.reached.append(repr(line))
        return not changes

    def _connected(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        writer.close()


class _Runner:
    """Runs lines in a canary folder, held by the system or let through by the gate."""

    def __init__(self, canary: Canary, profile: ProfileName, search_path: str | None) -> None:
        around = Surroundings(str(canary.work), str(canary.home))
        environ = {**canary.environment(), "PATH": os.environ["PATH"]}
        places = Places(str(canary.home), environ, Marks(around.key_inside, around.run_or_obeyed))
        places.look([str(canary.work)])  # before anything is watched
        self._canary, self._profile, self._environ = canary, profile, environ
        self._gate = CommandGate(canary.work, canary.home) if search_path is None else None
        self._sandbox = Sandbox(
            "off" if search_path is None else "auto",
            places=lambda: places,
            roots=lambda _: (canary.work,),
            hosts=no_hosts,
            search_path=search_path or "",
        )
        self._processes = Processes(sandbox=self._sandbox)

    async def __aenter__(self) -> "_Runner":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._processes.aclose()
        await self._sandbox.aclose()

    def runs(self, line: str) -> bool:
        """Whether the line runs in this state."""
        return self._gate is None or isinstance(self._gate.decide(line), Allow)

    async def run(self, line: str) -> str:
        """What the line printed."""
        printed = bytearray()
        await self._processes.run(
            ("bash", "-c", line),
            cwd=self._canary.work,
            environment=self._environ,
            sink=printed.extend,
            limits=replace(ProcessLimits(), time_s=LONGEST_S),
            profile=self._profile,
        )
        return printed.decode(errors="replace")


def trials(without_bubblewrap: str) -> list[Trial]:
    """One for each state that this machine has."""
    path = own_search_path(Path.cwd())
    found: list[Trial] = []

    def level(search_path: str) -> SandboxLevel:
        return Sandbox(search_path=search_path).state.level

    if level(path) is SandboxLevel.FULL:
        found += [Trial("full, work", ProfileName.WORK, path), Trial("full, look", ProfileName.LOOK, path)]
    if level(without_bubblewrap) is SandboxLevel.FILES:
        found.append(Trial("files only, look", ProfileName.LOOK, without_bubblewrap))
    return [*found, Trial("none, what the gate lets through", ProfileName.LOOK, None)]


async def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Run hostile and random lines in each state of the sandbox.")
    parser.add_argument("--lines", type=int, default=120, help="random lines (default: 120)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    states = [await trial.run(arguments.lines, arguments.seed) for trial in trials("/nonexistent")]
    print(f"{'state':<34}{'run':>6}{'reads':>7}{'writes':>8}{'connections':>13}")
    for state in states:
        print(f"{state.name:<34}{state.run:6}{len(state.reads):7}{len(state.writes):8}{len(state.reached):13}")
    for state in states:
        for what in [*state.reads, *state.writes, *state.reached][:SHOWN]:
            print(f"{state.name}: {what}")
    return 1 if any(state.got_through for state in states) else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
