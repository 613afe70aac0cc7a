"""Stores of memories to try things with."""

from collections.abc import Mapping
from pathlib import Path

from harness.base.secrets import Secret
from harness.memory import MemoryDraft, MemoryOwner, MemoryStore, MemoryType

NOON = 1_795_262_400.0
"""2026-11-21, twelve o'clock UTC."""


class Minutes:
    """A clock that advances by a minute with each reading."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> float:
        self.at += 60
        return self.at


def folders(root: Path) -> Mapping[MemoryOwner, Path]:
    """The folders of a user and of a project, not created yet."""
    return {MemoryOwner.PERSON: root / "person" / "memory", MemoryOwner.PROJECT: root / "project" / "memory"}


def store(root: Path, *secrets: Secret) -> MemoryStore:
    """A store with both places."""
    return MemoryStore(folders(root), session="20261121-1159-abc123", now=Minutes(), secrets=secrets)


def draft(
    name: str, text: str = "Tabs.", description: str = "What they want.", type: MemoryType = MemoryType.USER
) -> MemoryDraft:
    """Something to remember."""
    return MemoryDraft(name, description, type, text)


def names(store: MemoryStore) -> list[str]:
    """What there is."""
    return [memory.name for memory in store.find().memories]


def reported(store: MemoryStore) -> str:
    """The reported problems."""
    return "\n".join(f"{problem.file.name}: {problem.text}" for problem in store.find().problems)
