"""Commands after `!` that need the terminal for themselves, such as editors and pagers."""

import re
import shlex
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

from harness.ui.lines.line import Line

EDITORS = "emacs helix hx joe kak mcedit micro nano nvim pico vi view vim vimdiff"
PAGERS = "info less man more most"
MONITORS = "atop btop glances htop iotop nvtop top watch"
REMOTE = "ftp mosh screen sftp ssh telnet tmux zellij"
CHOOSERS = "fzf gitui lazygit lf mc ncdu nnn ranger tig vd visidata"
OTHERS = "gdb ipdb lldb login passwd pudb su vipw visudo"
ALWAYS = frozenset(" ".join((EDITORS, PAGERS, MONITORS, REMOTE, CHOOSERS, OTHERS)).split())
"""Programs that need a terminal with any arguments."""
_SHELLS = "bash bpython dash fish ghci iex ipython irb jshell julia lua node ptpython python python3 R sh zsh"
SHELLS = frozenset(_SHELLS.split())
"""Programs that read from the terminal if they are given no file and no code."""
CLIENTS = {"mariadb": "-e", "mongosh": "--eval", "mysql": "-e", "psql": "-c -f -l", "redis-cli": "", "sqlite3": ""}
"""Clients of databases, and the options with which they do not read keys."""
WITH_ARGUMENT = {
    "crontab": ("-e",),
    "docker": ("-it", "-ti", "--tty"),
    "kubectl": ("-it", "-ti", "--tty", "edit"),
    "podman": ("-it", "-ti", "--tty"),
    "systemctl": ("edit",),
}
"""Programs that need a terminal with one of these arguments."""
OPTIONS_OF_CODE = ("-c", "-m", "-e", "-p", "-h", "-V", "--help", "--version", "--eval", "--print")
GIT_INTERACTIVE = {
    "add": ("-p", "-i", "-e", "--patch", "--interactive", "--edit"),
    "checkout": ("-p", "--patch"),
    "rebase": ("-i", "--interactive"),
    "reset": ("-p", "--patch"),
    "restore": ("-p", "--patch"),
    "stash": ("-p", "--patch"),
}
GIT_MESSAGE = re.compile(r"-[a-zA-Z]*[mFC]|--(message|file|no-edit|reuse-message|dry-run|fixup)(=|$)")
BEFORE = frozenset(["command", "doas", "env", "exec", "nice", "nohup", "sudo", "time"])
"""Programs that run the program after them."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OPERATOR = re.compile(r"[();<>|&]+")


def command_after_sign(line: str) -> tuple[str, bool]:
    """The command in a line that starts with `!`, and whether it gets the terminal: known programs, any after `!!`."""
    command = line.lstrip("!").strip()
    return command, line.startswith("!!") or needs_terminal(command)


def needs_terminal(line: str) -> bool:
    """Whether the last command of a command line reads keys or draws a screen."""
    splitter = shlex.shlex(line, posix=True, punctuation_chars=True)
    splitter.whitespace_split = True
    try:
        words = list(splitter)
    except ValueError:  # an open quote; the shell will say so
        return False
    operators = [number for number, word in enumerate(words) if _OPERATOR.fullmatch(word)]
    if any(set(words[number]) & set("<>()") for number in operators):
        return False
    last = operators[-1] if operators else -1
    fed = last >= 0 and words[last] in ("|", "|&")
    return _is_interactive(_program_of(words[last + 1 :]), fed=fed)


def _program_of(words: Sequence[str]) -> Sequence[str]:
    """The words from the program on."""
    skipped = takewhile(lambda word: word in BEFORE or word.startswith("-") or _ASSIGNMENT.match(word), words)
    return words[sum(1 for _ in skipped) :]


def _is_interactive(words: Sequence[str], *, fed: bool) -> bool:
    """`fed`: the program reads from a pipe."""
    if not words:
        return False
    name, arguments = PurePath(words[0]).name, words[1:]
    if name in ALWAYS:
        return not {"--help", "--version"} & set(arguments)
    if name == "git":
        return _is_interactive_git(arguments)
    if name in WITH_ARGUMENT:
        return bool({*WITH_ARGUMENT[name]} & set(arguments))
    if fed:
        return False
    if name in CLIENTS:
        positional = [word for word in arguments if not word.startswith("-")]
        return not {*CLIENTS[name].split(), "--help", "--version"} & set(arguments) and (
            name in ("psql", "mysql", "mariadb", "mongosh") or len(positional) <= (name == "sqlite3")
        )
    if name in SHELLS:
        return all(word.startswith("-") and not word.startswith(OPTIONS_OF_CODE) for word in arguments)
    return False


def _is_interactive_git(arguments: Sequence[str]) -> bool:
    if not arguments:
        return False
    if arguments[0] == "commit":
        return not any(GIT_MESSAGE.match(word) for word in arguments[1:])
    return bool({*GIT_INTERACTIVE.get(arguments[0], ())} & set(arguments[1:]))


def ended_line(command: str, code: int) -> Line:
    """The note that a command has given the terminal back.

    `code`: its exit code, or the negative number of the signal that ended it.
    """
    end = f"exit {code}" if code >= 0 else f"ended by signal {-code}"
    return Line("·", f"ran {command} ({end}); what it showed is not in the conversation")
