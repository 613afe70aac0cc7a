"""One memory as a file: Markdown with YAML front matter, which the user can read and edit.

    --- name: indentation description: The user wants tabs. type: user created: 2026-11-21T10:00:00Z updated:
    2026-11-21T10:00:00Z session: 20261121-0959-7f3a9c ---

    Tabs everywhere, also in Python.

Reading never raises for the content of a file: missing fields get defaults and unusable files are skipped; both are
reported.
"""

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from harness.base.files import NotRegularError, open_regular
from harness.base.front_matter import front_matter, one_line
from harness.memory.memory import (
    LONGEST_DESCRIPTION,
    MOST_BYTES,
    USUAL_TYPE,
    Memory,
    MemoryOwner,
    MemoryProblem,
    MemoryType,
    refusal,
    secret_in,
    slug,
)

SUFFIX = ".md"
KEYS = ("name", "description", "type", "created", "updated", "session")
_FORM = "%Y-%m-%dT%H:%M:%SZ"


def file_of(memory: Memory) -> bytes:
    """The file that `memory_in` reads the same memory from."""
    values = {
        "name": memory.name,
        "description": memory.description,
        "type": memory.type.value,
        "created": _written(memory.created),
        "updated": _written(memory.updated),
        "session": memory.session,
    }
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in values.items() if value)
    return f"---\n{head}---\n\n{memory.text}\n".encode()


class UnusableError(Exception):
    """A file is no memory; the text says why, as the end of a sentence."""


def memory_in(file: Path, place: MemoryOwner, problems: list[MemoryProblem]) -> Memory | None:
    """Read a file; None where it cannot be used. Problems are added to `problems`. Never raises."""
    try:
        data, changed = _data(file)
        text = data.decode("utf-8-sig")
        if secret := secret_in(text):
            raise UnusableError(f"it seems to hold {secret}; take that out")
        memory, wrong = _read(file, place, text, len(data), changed)
    except FileNotFoundError:
        return None  # another session has moved it meanwhile
    except UnicodeDecodeError:
        problems.append(MemoryProblem(file, "is left out: it is no text in UTF-8"))
        return None
    except UnusableError as unusable:
        problems.append(MemoryProblem(file, f"is left out: {unusable}"))
        return None
    except OSError as error:
        problems.append(MemoryProblem(file, f"cannot be read: {error.strerror or error}"))
        return None
    problems.extend(MemoryProblem(file, one) for one in wrong)
    return memory


def _data(file: Path) -> tuple[bytes, float]:
    """The bytes of a regular file and when they were written. Raises OSError or UnusableError."""
    if file.is_symlink():  # one may lead anywhere
        raise UnusableError("it is not a regular file but a link")
    try:
        with open_regular(file, follow=False) as opened:
            data = opened.read(MOST_BYTES + 1)
            changed = os.fstat(opened.fileno()).st_mtime
    except (NotRegularError, IsADirectoryError) as error:
        raise UnusableError("it is not a regular file") from error
    if len(data) > MOST_BYTES:
        raise UnusableError(f"it has more than {MOST_BYTES:,} bytes")
    if b"\0" in data:
        raise UnusableError("it is no text in UTF-8")
    return data, changed


def _read(file: Path, place: MemoryOwner, text: str, size: int, changed: float) -> tuple[Memory, list[str]]:
    """The memory and its minor problems. Raises UnusableError."""
    name = file.name.removesuffix(SUFFIX)
    if slug(name) != name or refusal(name):
        better = slug(name)
        raise UnusableError(f"it cannot be called so; rename it to {better}{SUFFIX}" if better else "it has no name")
    parts = front_matter(text, KEYS)
    if not parts.body:
        raise UnusableError("it says nothing")
    wrong = [*parts.problems]
    if not parts.problems and (given := parts.values.get("name", "")) != name:
        wrong.append(
            f"its name is {given!r}; that of the file counts" if given else "it has no name; the file's is taken"
        )
    description = parts.values.get("description", "")
    if not description:
        if not parts.problems:
            wrong.append("it has no description; its first line is taken")
        description = next((one_line(line.lstrip("# ")) for line in parts.body.splitlines() if line.strip("# ")), "")
    kind = parts.values.get("type", "").lower()
    if kind not in tuple(MemoryType):
        usual = USUAL_TYPE[place]
        if not parts.problems:
            wrong.append(f"its type is none of {', '.join(MemoryType)}; {usual} is taken")
        kind = usual
    times = dict(_times(parts.values, wrong))
    created = times.get("created", float(int(changed)))
    memory = Memory(
        name,
        description if len(description) <= LONGEST_DESCRIPTION else description[: LONGEST_DESCRIPTION - 1] + "…",
        MemoryType(kind),
        parts.body,
        place,
        file,
        size,
        created=created,
        updated=max(created, times.get("updated", float(int(changed)))),
        session=parts.values.get("session", "")[:100],
    )
    return memory, wrong


def _times(values: Mapping[str, str], wrong: list[str]) -> Iterator[tuple[str, float]]:
    for key in ("created", "updated"):
        if value := values.get(key):
            try:
                at = datetime.fromisoformat(value)
                yield key, float(int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()))
            except (ValueError, OverflowError):
                wrong.append(f"{key} is no time, such as {_written(0)}")


def _written(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(_FORM)
