"""/memory: what is remembered from session to session, and what a person does with it."""

import time
from collections.abc import Iterator

from harness.base.terminal_text import visible
from harness.session import Memory, MemoryPlace, Session
from harness.ui.commands.results import CommandError, Result, Say

DESCRIPTION = 80
"""Characters of a description on a line."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def memory(session: Session, argument: str) -> Result:
    """List the memories, show one, say where its file is, forget it, or bring back what it was before."""
    if not session.memory.on:
        raise CommandError("Memory is switched off; set memory = true in your settings.")
    match argument.split():
        case []:
            return Say("\n".join(_list(session)))
        case ["edit" | "forget" | "undo" as what]:
            raise CommandError(f"Which memory? Type /memory {what} and its name; /memory lists them.")
        case ["edit" | "forget" | "undo" as what, *words]:
            return Say(_done(session, what, *_name(words)))
        case words:
            return Say("\n\n".join(_shown(session, *_name(words))))


def _name(words: list[str]) -> tuple[str, MemoryPlace | None]:
    """A name of one or more words; the last one may say where it is."""
    if len(words) > 1 and words[-1] in tuple(MemoryPlace):
        return " ".join(words[:-1]), MemoryPlace(words[-1])
    return " ".join(words), None


def _done(session: Session, what: str, name: str, place: MemoryPlace | None) -> str:
    store = session.memory.store
    match what:
        case "edit":
            return visible(str(store.file_to_edit(name, place)))
        case "forget":
            at = store.forget(name, place)
            return f"Forgotten, for the {at}; /memory undo {visible(name)} brings it back."
        case _:
            return f"What {visible(name)} was before is back, for the {store.undo(name, place)}."


def _shown(session: Session, name: str, place: MemoryPlace | None) -> Iterator[str]:
    found = session.memory.store.find().named(name, place)
    if not found:
        raise CommandError(session.memory.store.unknown(name))
    for one in found:
        source = f" · written in session {visible(one.session)}" if one.session else ""
        yield (
            f"{one.name} · {one.type} · {one.place} · {_age(one)} old · {one.size:,} bytes{source}\n"
            f"{visible(str(one.file))}\n{visible(one.description)}\n\n{visible(one.text)}"
        )


def _list(session: Session) -> Iterator[str]:
    store = session.memory.store
    found = store.find()
    width = max((len(one.name) for one in found.memories), default=0)
    for one in found.memories:
        description = visible(one.description)
        shown = description if len(description) <= DESCRIPTION else description[: DESCRIPTION - 1] + "…"
        yield f"  {one.name:<{width}}  {one.place:<7}  {one.type:<9}  {_age(one):>6}  {one.size:>5,} B  {shown}"
    for problem in found.problems:
        yield f"  ! {visible(str(problem.file))}: {' '.join(visible(problem.text).split())}"
    if not found.memories:
        yield "Nothing is remembered yet; say “remember that …”."
    else:
        yield "/memory NAME shows one; /memory edit, forget or undo and a name change it."
    if kept := store.forgotten():
        yield f"/memory undo can bring back: {visible(', '.join(kept[-10:]))}."


def _age(one: Memory) -> str:
    seconds = max(0.0, time.time() - one.updated)
    return next((f"{seconds // unit:.0f} {name}" for unit, name in _UNITS if seconds >= unit), "0 min")
