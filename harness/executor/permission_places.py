"""Where the paths of a call really lead: the one look at the disk before a decision about it."""

import os
from collections.abc import Mapping
from glob import iglob
from itertools import islice
from pathlib import Path

from harness.permissions import PermissionRequest, Permissions

MOST_FITTING = 500
"""Files that a pattern may fit to be looked up."""


def places_of(permissions: Permissions, request: PermissionRequest) -> Mapping[str, tuple[str, ...]]:
    """For each path that the decision wants to know, what it leads to with every link resolved.

    A pattern leads to what fits it, and to itself, as the shell takes it where nothing fits. One that fits too much is
    left out, so that nobody takes it for known.
    """
    found = {}
    for path, is_pattern in permissions.paths(request).items():
        leads = {_real(path)}
        if is_pattern:
            fitting = list(islice(iglob(path), MOST_FITTING + 1))  # noqa: PTH207  as in a shell, no hidden files
            if len(fitting) > MOST_FITTING:
                continue
            leads |= set(map(_real, fitting))
        found[path] = tuple(sorted(leads))
    return found


def _real(path: str) -> str:
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError, RuntimeError):  # a name too long, links in a circle: nothing that could be opened
        return os.path.normpath(path)
