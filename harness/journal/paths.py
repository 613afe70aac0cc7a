"""Where sessions live and what they are called."""

import hashlib
import os
import re
import secrets
import time
from pathlib import Path


def workspace_slug(workspace: Path) -> str:
    """A folder name for a workspace: its last part to recognise it, and a digest that tells two alike apart."""
    root = workspace.resolve()
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    name = re.sub(r"\W+", "-", os.fsencode(root.name).decode("utf-8", "replace"))[:40].strip("-")
    return f"{name or 'root'}-{digest}"


def state_folder(state_dir: Path | None = None) -> Path:
    """Where everything is kept that outlives a run; `state_dir` replaces the platform's folder for it."""
    if state_dir is None:
        from platformdirs import user_state_path

        state_dir = user_state_path("harness", appauthor=False)
    return state_dir


def session_folder(workspace: Path, state_dir: Path | None = None) -> Path:
    """Where the sessions of a workspace live; `state_dir` replaces the platform's state folder of this program."""
    return state_folder(state_dir) / "sessions" / workspace_slug(workspace)


def outputs_folder(path: Path) -> Path:
    """Where the long tool outputs of the session with the journal at `path` are kept."""
    return path.with_name(path.stem + ".outputs")


def agents_folder(path: Path) -> Path:
    """Where the journals of the agents that worked for the session with the journal at `path` are kept."""
    return path.with_name(path.stem + ".agents")


def new_session_id() -> str:
    """A fresh id that sorts by time (UTC): "20261121-0345-7f3a9c"."""
    return time.strftime("%Y%m%d-%H%M-", time.gmtime()) + secrets.token_hex(3)
