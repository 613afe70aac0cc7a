"""The folders of `PATH`: those that the workspace controls, and the others."""

import os
from collections.abc import Mapping
from pathlib import Path


def outside_folders(environ: Mapping[str, str], *roots: Path) -> tuple[str, ...]:
    """The folders of `PATH` that no file below one of `roots` decides about; never a relative one."""
    tops = [root for root in roots if root != root.parent]
    own = (folder for folder in _folders(environ) if Path(folder).is_absolute())
    found = (folder for folder in own if not any(_decides(top, folder) for top in tops))
    return tuple(found) or tuple(os.defpath.split(os.pathsep))  # an empty PATH is the current folder


def inside_folders(environ: Mapping[str, str], workspace: Path) -> tuple[str, ...]:
    """The other ones, relative as they are written: those count from the folder where a command runs."""
    found = (folder for folder in _folders(environ) if _decides(workspace, folder))
    return tuple(dict.fromkeys(os.path.realpath(one) if Path(one).is_absolute() else one for one in found))


def is_inside(path: str, root: Path) -> bool:
    """It is relative, or a part of the way to it lies in `root`, under any of its names."""
    place, top = Path(path), Path(os.path.realpath(root))
    if not place.is_absolute():
        return True
    return any(Path(os.path.realpath(step)).is_relative_to(top) for step in (place, *place.parents))


def _folders(environ: Mapping[str, str]) -> list[str]:
    """Those of the default where there is no `PATH`, in place of that of the shell, which may have the current folder
    in it; an empty one is the current folder."""
    return [folder or "." for folder in environ.get("PATH", os.defpath).split(os.pathsep)]


def _decides(root: Path, folder: str) -> bool:
    # asdf runs what .tool-versions names, also a program of the folder.
    return is_inside(folder, root) or Path(os.path.realpath(folder)).parts[-2:] == (".asdf", "shims")
