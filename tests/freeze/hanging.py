"""Calls that never end, one of each kind, and the program in the middle of one."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from harness.journal import read
from tests.processes.traces import NAME, Trace
from tests.ui.processes import until
from tests.ui.program import Place

SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}
UP = "UP"
"""In a script, a setting or a program: the file that says that the call has begun."""
STUBBORN = "trap '' TERM INT; touch UP; while :; do sleep 1; done"
SILENT = '[[reply]]\ntext = "The first words, and then silence."\nfault = { kind = "stall"'
ENDS = '[[reply]]\ntext = "Done."\ntimes = 9\n'


@dataclass(frozen=True)
class Hang:
    """A kind of call that hangs."""

    name: str
    script: str = ""
    """What the practice model plays; "": the model is a server that does not answer."""
    sign: str = UP
    """The event in the journal, or the file, that says that it hangs."""
    server: Callable[[], "Silent"] | None = None
    settings: str = ""
    """Of the user."""
    variables: dict[str, str] = field(default_factory=dict)
    git: str = ""
    """A program called git."""
    typed: str = "Go."
    lay: Callable[[Path], object] = lambda folder: None
    """What else is in the workspace."""
    flags: tuple[str, ...] = ("--yolo",)
    over: str = "TurnEnded"
    """The event that says that it was stopped."""
    attended: bool = False
    """Only where a user sits before it."""
    unattended: bool = False
    """Only without one."""


def tool(*calls: str) -> str:
    """A script of one reply with these calls, and an answer after them."""
    return f"[[reply]]\ntools = [ {', '.join(calls)} ]\n{ENDS}"


def bash(line: str, more: str = "") -> str:
    """A call of bash."""
    return f'{{ name = "bash", input = {{ command = """{line}"""{more} }} }}'


OVERLOADED = '[[reply]]\nstatus = 529\nheaders = {{ retry-after = "{}" }}\n'
TOO_LONG = '[[reply]]\nstatus = 400\nmessage = "prompt is too long: 210000 tokens > 200000 maximum"\n'


class Silent:
    """A server that takes connections and says nothing, or does not even take them."""

    def __init__(self, *, takes: bool) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(9 if takes else 0)
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._waiting = []
        for _ in range(0 if takes else 4):  # the queue is full, so that a further one gets no answer
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(self._socket.getsockname())
            self._waiting.append(one)

    def __enter__(self) -> "Silent":
        return self

    def __exit__(self, *_: object) -> None:
        for one in (*self._waiting, self._socket):
            one.close()


class Scene:
    """A folder for a call that will hang."""

    def __init__(self, hang: Hang, folder: Path, server: Silent | None) -> None:
        self._hang = hang
        self.up = folder / UP
        self.trace = Trace(uuid4().hex)
        self.place = Place(folder / "work", server.address if server else None)
        self.place.folder.mkdir()
        hang.lay(self.place.folder)
        self.typed = self._here(hang.typed)
        self.variables = {NAME: self.trace.value, **hang.variables}
        self.flags = [*hang.flags]
        if hang.script:
            (folder / "script.toml").write_text(self._here(hang.script))
            self.flags += ["--practice", str(folder / "script.toml")]
        if hang.settings:
            (folder / "config" / "harness").mkdir(parents=True)
            (folder / "config" / "harness" / "settings.toml").write_text(self._here(hang.settings))
        if hang.git:
            (folder / "bin").mkdir()
            (folder / "bin" / "git").write_text(f"#!/bin/sh\n{self._here(hang.git)}\n")
            (folder / "bin" / "git").chmod(0o755)
            self.variables["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def _here(self, text: str) -> str:
        return text.replace(UP, str(self.up))

    @property
    def events(self) -> list[str]:
        """The journal's events by name. Fails for an unreadable line."""
        names = []
        for path in self.place.state.glob("sessions/*/*.jsonl"):
            reading = read(path)
            assert not reading.skipped
            names += [type(record.event).__name__ for record in reading.records]
        return names

    async def hangs(self) -> None:
        """Wait until the call has begun."""
        sign = self._hang.sign
        await until(self.up.exists if sign == UP else lambda: sign in self.events)


@contextmanager
def scene(hang: Hang, folder: Path) -> Iterator[Scene]:
    """The folder, and the server that does not answer; nothing of it is left, whatever the program did."""
    with hang.server() if hang.server else nullcontext() as server:
        here = Scene(hang, folder, server)
        try:
            yield here
        finally:
            for process in here.trace.living():
                process.kill()


TASK = '{ name = "agent", input = { description = "part", prompt = "Do it." } }'
WRITE = '{ name = "write_file", input = { path = "a", content = "b" } }'


def hook(event: str, seconds: int = 300) -> str:
    """A setting: a hook that does not end in its time."""
    return f'[[hooks]]\nevent = "{event}"\ncommand = "touch UP; exec sleep 600"\ntimeout = {seconds}\n'


HANGS = (
    Hang("connect", server=lambda: Silent(takes=False), sign="RequestSent"),
    Hang("response headers", server=lambda: Silent(takes=True), sign="RequestSent"),
    Hang("first event", SILENT + ", at = 0 }", sign="RequestSent"),
    Hang("between events", SILENT + ", at = 5 }", sign="RequestSent"),
    Hang("retry wait", OVERLOADED.format("30") + ENDS, sign="RetryScheduled"),
    Hang("summary", TOO_LONG + SILENT + ', at = 3 }\nwhen = { purpose = "summary" }\n', sign="CompactionStarted"),
    Hang("command that ignores TERM", tool(bash(STUBBORN))),
    Hang("command without an end", tool(bash("touch UP; while true; do :; done"))),
    Hang("command that prints endlessly", tool(bash("touch UP; yes"))),
    Hang("command that grows", tool(bash("touch UP; printf '%s' {1..1000000000}"))),
    Hang("command that reads a pipe", tool(bash("mkfifo p; touch UP; cat p"))),
    Hang("command in the background", tool(bash(STUBBORN, ", background = true"))),
    Hang(
        "search of another program",
        tool('{ name = "grep", input = { pattern = "(a+)+$", path = "line" } }'),
        sign="ToolStarted",
        lay=lambda folder: (folder / "line").write_text("a" * 40 + "b\n"),
    ),
    Hang("subagent", f'[[reply]]\ntools = [ {TASK} ]\nwhen = {{ offers = "agent" }}\n{tool(bash(STUBBORN))}'),
    Hang(
        "admission",
        f'[[reply]]\ntools = [ {TASK}, {TASK} ]\nwhen = {{ offers = "agent" }}\n'
        + SILENT
        + ' }\nwhen = { lacks = "agent" }\ntimes = 9\n',
        sign="AgentCreated",
        settings="max_concurrent = 1\n",
    ),
    Hang("hook at the beginning", ENDS, settings=hook("session_start")),
    Hang("hook before a prompt", ENDS, settings=hook("prompt_submit")),
    Hang("hook before a tool", tool(bash("true")), settings=hook("before_tool")),
    Hang("hook after a tool", tool(bash("true")), settings=hook("after_tool")),
    Hang("hook before a summary", TOO_LONG + ENDS, settings=hook("before_compaction")),
    Hang("hook at the end of a turn", ENDS, settings=hook("stop")),
    Hang("hook at the end", ENDS, settings=hook("session_end", 30), unattended=True),
    Hang("git of a checkpoint", tool(WRITE), git="touch UP\nsleep 600", attended=True),
    Hang("permission", tool(WRITE), sign="PermissionAsked", flags=(), attended=True),
    Hang("long wait", OVERLOADED.format("600"), sign="WaitOffered", attended=True),
    Hang("command of the user", ENDS, typed="!touch UP; sleep 600", over="ToolEnded", attended=True),
)
