"""The folders of `PATH`: those that the workspace controls, and the others."""

import os
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path


def outside_folders(environ: Mapping[str, str], *roots: Path) -> tuple[str, ...]:
    """The folders of `PATH` that no file below one of `roots` decides about; never a relative one."""
    tops = {os.path.realpath(root) for root in roots} - {os.sep}
    found = (folder for folder in _folders(environ) if Path(folder).is_absolute() and not _decide(tops, folder))
    return tuple(found) or tuple(os.defpath.split(os.pathsep))  # an empty PATH is the current folder


def own_search_path(*roots: Path) -> str:
    """`PATH` for the programs that this program starts for itself: no file of its folder or below `roots` is one.

    A folder that holds the home of the user has programs of the user, and is no such root.
    """
    with suppress(OSError):  # the current folder is gone
        roots = (*roots, Path.cwd())
    home = [os.path.realpath(os.environ.get("HOME", os.sep))]
    below = (root for root in roots if not _is_in(home, {os.path.realpath(root)}))
    return os.pathsep.join(outside_folders(os.environ, *below))


def inside_folders(environ: Mapping[str, str], workspace: Path) -> tuple[str, ...]:
    """The other ones, relative as they are written: those count from the folder where a command runs."""
    found = (folder for folder in _folders(environ) if _decide({os.path.realpath(workspace)}, folder))
    return tuple(dict.fromkeys(os.path.realpath(one) if Path(one).is_absolute() else one for one in found))


def is_inside(path: str, root: Path) -> bool:
    """It is relative, or a part of the way to it lies in `root`, under any of its names."""
    return not Path(path).is_absolute() or _is_in(_steps(path), {os.path.realpath(root)})


def _folders(environ: Mapping[str, str]) -> list[str]:
    """Those of the default where there is no `PATH`, in place of that of the shell, which may have the current folder
    in it; an empty one is the current folder."""
    return [folder or "." for folder in environ.get("PATH", os.defpath).split(os.pathsep)]


def _steps(path: str) -> list[str]:
    """Where an absolute path and the folders above it are; with no link on the way, its own place says it all."""
    real = os.path.realpath(path)
    return [real] if real == path else [real, *map(os.path.realpath, Path(path).parents)]


def _is_in(steps: Sequence[str], tops: Set[str]) -> bool:
    return any(step == top or step.startswith(f"{top.rstrip(os.sep)}{os.sep}") for step in steps for top in tops)


def _decide(tops: Set[str], folder: str) -> bool:
    if not Path(folder).is_absolute():
        return True
    steps = _steps(folder)
    # asdf runs what .tool-versions names, also a program of the folder.
    return _is_in(steps, tops) or steps[0].endswith("/.asdf/shims")
