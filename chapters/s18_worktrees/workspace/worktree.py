"""The worktrees that you write: a folder of its own for each task."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen


def git(folder, *words):
    command = ["git", "-C", folder, *words]
    pipes = {"stdout": PIPE, "stderr": PIPE, "text": True}
    with Popen(command, **pipes) as process:
        output, _ = process.communicate()
    return output.strip()


def make(main, name):
    tree = Path(f"{main}-{name}")
    git(main, "worktree", "add", "-b", f"wt/{name}", tree, "HEAD")
    return tree


def may_remove(tree):
    changed = git(tree, "status", "--porcelain")
    unpushed = git(tree, "log", "--oneline", "@{push}..")
    return not changed and not unpushed


def remove(main, tree):
    if not may_remove(tree):
        raise RuntimeError(f"there is work in {tree}")
    branch = git(tree, "branch", "--show-current")
    git(main, "worktree", "remove", "--force", tree)
    git(main, "branch", "-D", branch)


if __name__ == "__main__":
    main, command, name = Path.cwd(), *sys.argv[1:]
    if command == "make":
        print(make(main, name))
    else:
        remove(main, Path(f"{main}-{name}"))
