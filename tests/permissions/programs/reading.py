"""One command as the tables read it, and what a folder looks like before and after it ran."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from harness.permissions.programs import PROGRAMS, ParsedCommand, WordRole, parse
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.syntax import Unreadable


def parsed(line: str) -> ParsedCommand | None:
    """The only command of a line, by the table of its program."""
    [simple] = read_line(line)
    return parse(PROGRAMS[simple.words[0].text], simple.words[1:])


def parsed_line(line: str) -> ParsedCommand | None:
    """The same; None also where the line is not understood."""
    try:
        return parsed(line)
    except (Unreadable, ValueError):
        return None


def looks(line: str) -> bool:
    """The command does nothing but look."""
    command = parsed(line)
    return command is not None and command.looks


def uses(line: str) -> set[str]:
    """Each role with its word, such as "read a"; without mere text."""
    command = parsed(line)
    assert command is not None, line
    return {f"{use.role.value} {use.word.text}" for use in command.uses if use.role is not WordRole.TEXT}


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
