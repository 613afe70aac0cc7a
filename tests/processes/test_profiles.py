"""Every place of the program that starts a process says what the process may read, write and reach."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import harness

PACKAGE = Path(harness.__file__).parent

OWN_WAYS = {
    "checkpoints/git.py": "free: git of this program, which starts no hook and no monitor",
    "cli/cron.py": "free: this program again, which holds its own commands",
    "engine/user_commands.py": "free: a command of the user, who sees it on the terminal",
    "processes/command.py": "that of the command: all that `Processes` starts is started here",
    "processes/git_safety.py": "free: git reads settings, and runs nothing that they name",
    "processes/watcher_link.py": "free: this program again",
    "sandbox/network_entry.py": "that of the command, which it becomes",
    "sandbox/probe.py": "free: tries the sandbox itself",
    "ui/app/clipboard_image.py": "free: a program of the user's desktop",
    "ui/clipboard.py": "free: a program of the user's desktop",
    "ui/commands/session_commands.py": "free: this program again",
    "ui/editor.py": "free: the editor of the user",
    "ui/web/served_app.py": "free: this program again",
}
"""The files that start processes without `Processes`, and what these may do."""
BEGINS = {
    "subprocess": r"Popen|run|call|check_call|check_output|getoutput|getstatusoutput",
    "asyncio": r"create_subprocess_\w+",
    "loop": r"subprocess_\w+",
    "os": r"exec\w+|spawn\w+|posix_spawnp?|fork\w*|system|popen|startfile",
    "pty": r"fork|spawn",
}
"""What starts a process, by the module."""


def begins(path: Path) -> Iterator[str]:
    """What a file names that starts processes."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if re.fullmatch(BEGINS.get(module, ""), name):
                yield f"{module}.{name}"
            case ast.ImportFrom(module=str(module), names=names):
                yield from (one.name for one in names if re.fullmatch(BEGINS.get(module, ""), one.name))


FILES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_a_process_starts_in_few_files_and_each_says_with_which_profile() -> None:
    assert {name for name, path in FILES.items() if any(begins(path))} == OWN_WAYS.keys()


def test_what_the_owner_of_processes_starts_has_a_profile() -> None:
    """Also inside `partial`: a command in the background begins later."""
    started = {"run", "pipe", "start"}
    without, within = set[str](), set[str]()
    for name, path in FILES.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            names = {ast.unparse(one).rpartition(".")[2] for one in (node.func, *node.args[:1])}
            keywords = {keyword.arg for keyword in node.keywords}
            if names & started and {"cwd", "environment"} <= keywords:
                (within if "profile" in keywords else without).add(name)
    assert without == set()
    assert within == {
        *("engine/background/commands.py", "engine/hooks.py", "engine/worktrees.py", "mcp/stdio.py"),
        *("processes/processes.py", "tools/bash.py", "tools/grep.py", "tools/held_commands.py", "worktrees/git.py"),
    }
