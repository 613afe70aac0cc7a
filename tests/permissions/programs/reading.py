"""One command as the tables read it, and what a folder looks like before and after it ran."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.permissions.programs import PROGRAMS, ParsedCommand, parse
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Unreadable


def parsed(line: str) -> ParsedCommand | None:
    """The only command of a line, by the table of its program; None: it is not known to look."""
    try:
        [simple] = read_line(line)
    except (Unreadable, ValueError):
        return None
    program = PROGRAMS.get(simple.words[0].text)
    return None if program is None else parse(program, simple.words[1:])


def looks(line: str) -> bool:
    """The command does nothing but look, and ends."""
    command = parsed(line)
    return command is not None and command.ends


def state(folder: Path) -> dict[str, str]:
    """All entries below a folder: names, kinds, contents and permissions."""
    states = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        link, file = path.is_symlink(), path.is_file()
        content = str(path.readlink()) if link else path.read_bytes().hex() if file else ""
        states[str(path.relative_to(folder))] = f"{about.st_mode:o} {about.st_mtime_ns} {content}"
    return states


PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""The programs that these tests are run with, and those of the system."""


def found(line: str) -> bool:
    """The program of a line is installed."""
    return shutil.which(line.split()[0], path=PATH) is not None


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line by bash, without input."""
    return subprocess.run(
        ["bash", "--norc", "-c", line],
        cwd=folder,
        env={**os.environ, "PATH": PATH},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=60,
        check=False,
    )
