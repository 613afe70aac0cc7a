"""Slash commands about what the model knows: window, plan, system prompt, skills, memories, hooks."""

import time
from collections.abc import Iterator
from difflib import get_close_matches

from harness.base.external_text import visible
from harness.session import ContextUse, Memory, MemoryOwner, PromptPart, Session
from harness.ui.commands.results import CommandError, CommandResult, ShowText
from harness.ui.lines.reports import whole_plan

SKILL_CHARACTERS = 100
MEMORY_CHARACTERS = 80
"""Longest description in a list."""
NO_CHECKLIST = "There is no checklist. The model writes one with todo_write when work has several parts."
NO_HOOKS = "There are no hooks; [[hooks]] in your settings file runs commands at fixed points (docs/hooks.md)."
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def context(session: Session, argument: str) -> CommandResult:
    """Show how the context window is used."""
    return ShowText("\n".join(context_lines(session.context.usage)))


def context_lines(use: ContextUse) -> Iterator[str]:
    """A table of the parts of the window, and what happens when it is full."""
    rows = [(part.name, part.tokens, part.count) for part in use.parts if part.tokens or part.count is None]
    rows += [("reserved for the answer", use.answer, None), ("free", use.free, None)]
    width = max(len(name) for name, _, _ in rows)
    for name, tokens, number in rows:
        share = tokens / use.window if use.window else 0.0
        times = "" if number is None else f"{number:>6,}"
        yield f"  {name:<{width}}  {tokens:>9,}  {share:>4.0%}{times}".rstrip()
    share = use.tokens / use.window if use.window else 0.0
    yield f"about {use.tokens:,} of {use.window:,} tokens are used ({share:.0%}); /compact shortens the history"
    yield _policy(use)
    if use.automatic and use.window:
        yield f"that is {use.levels.compact / use.window:.0%} of the window; change it with the setting compact_at"
    done = use.shortenings
    if done.drained:
        yield "drained results show a few lines; each names the file with the full text"
    yield f"so far: {_times(done.drains, 'drain')}, {_times(done.summaries, 'summary')}, {_times(done.cuts, 'cut')}"


def _policy(use: ContextUse) -> str:
    if not use.automatic:
        return f"automatic compaction is off; requests are blocked at {use.levels.block:,} tokens"
    drain = f"from {use.levels.compact:,} tokens on, old tool results are drained to {use.levels.drained:,}"
    if use.gave_up:
        return f"{drain}; summaries are off after three failures, and /compact tries again"
    return f"{drain}, or the history is summarised"


def _times(number: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"


def checklist(session: Session, argument: str) -> CommandResult:
    """Show the checklist, one item per line."""
    return ShowText("\n".join(whole_plan(session.conversation.plan)) if session.conversation.plan else NO_CHECKLIST)


def hooks(session: Session, argument: str) -> CommandResult:
    """List the hooks."""
    return ShowText("\n".join(session.hook_lines) or NO_HOOKS)


def prompt(session: Session, argument: str) -> CommandResult:
    """List the parts of the system prompt with their sizes, or show one."""
    parts = {part.name: part for part in session.context.prompt_parts}
    if not argument:
        return ShowText("\n".join(_prompt_table(tuple(parts.values()), session.context.size[1])))
    if argument not in parts:
        near = get_close_matches(argument, parts, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(parts)}."
        raise CommandError(f"The prompt has no part {argument!r}; {hint}")
    return ShowText(visible(parts[argument].text))


def _prompt_table(parts: tuple[PromptPart, ...], window: int) -> Iterator[str]:
    total = sum(part.tokens for part in parts)
    width = max(len(part.name) for part in parts)
    for part in parts:
        yield f"  {part.name:<{width}}  {part.tokens:>7,} tokens"
        for source in part.sources:
            yield f"  {'':<{width}}  {'':>7}    {visible(source)}"
    yield f"  {'total':<{width}}  {total:>7,} tokens of {window:,}; /prompt and a name show the text"


# ── skills ──────────────────────────────────────────────────────────────────────────────────────


def skills(session: Session, argument: str) -> CommandResult:
    """List the skills and the problems of their files; `reload` reads the files again first."""
    if argument not in ("", "reload"):
        raise CommandError(f"Unknown action {argument!r}; type /skills, /skills reload, or /skill and a name.")
    if argument:
        session.reload_skills()
    return ShowText("\n".join(_skill_list(session)))


def skill(session: Session, argument: str) -> CommandResult:
    """Send a skill with the next prompt."""
    if not argument:
        raise CommandError("Which skill? Type /skill and its name; /skills lists them.")
    return ShowText(f"Skill {session.use_skill(argument).name} will be sent with your next prompt.")


def _skill_list(session: Session) -> Iterator[str]:
    found = session.skills.skills
    width = max((len(one.name) for one in found), default=0)
    for one in found:
        yield f"  {visible(one.name):<{width}}  {one.origin:<7}  {_cut(visible(one.description), SKILL_CHARACTERS)}"
        yield f"  {'':<{width}}  {'':<7}  {visible(str(one.folder))}"
    for problem in session.skills.problems:
        yield f"  ! {visible(str(problem.file))}: {' '.join(visible(problem.text).split())}"
    if not found:
        yield "There are no skills; add one as .harness/skills/NAME/SKILL.md."
    elif not session.has_skill_tool:
        yield "The model can load them from the next session on; /skill NAME sends one now."
    else:
        yield "/skill NAME sends one with your next prompt; /skills reload reads the files again."


# ── memories ────────────────────────────────────────────────────────────────────────────────────


def memory(session: Session, argument: str) -> CommandResult:
    """List the memories, show one, print its file, forget it, or restore its previous text."""
    if not session.memory.on:
        raise CommandError("Memory is off; set memory = true in your settings.")
    match argument.split():
        case []:
            return ShowText("\n".join(_memory_list(session)))
        case ["edit" | "forget" | "undo" as what]:
            raise CommandError(f"Which memory? Type /memory {what} and its name; /memory lists them.")
        case ["edit" | "forget" | "undo" as what, *words]:
            return ShowText(_change_memory(session, what, *_memory_name(words)))
        case words:
            return ShowText("\n\n".join(_memory_details(session, *_memory_name(words))))


def _memory_name(words: list[str]) -> tuple[str, MemoryOwner | None]:
    """A name of one or more words, and the place if the last word is one."""
    if len(words) > 1 and words[-1] in tuple(MemoryOwner):
        return " ".join(words[:-1]), MemoryOwner(words[-1])
    return " ".join(words), None


def _change_memory(session: Session, what: str, name: str, place: MemoryOwner | None) -> str:
    store = session.memory.store
    match what:
        case "edit":
            return visible(str(store.file_to_edit(name, place)))
        case "forget":
            at = store.forget(name, place)
            return f"Forgotten, for the {at}; /memory undo {visible(name)} restores it."
        case _:
            return f"Restored {visible(name)}, for the {store.undo(name, place)}."


def _memory_details(session: Session, name: str, place: MemoryOwner | None) -> Iterator[str]:
    found = session.memory.store.find().named(name, place)
    if not found:
        raise CommandError(session.memory.store.unknown(name))
    for one in found:
        source = f" · written in session {visible(one.session)}" if one.session else ""
        yield (
            f"{one.name} · {one.type} · {one.place} · {_age(one)} old · {one.size:,} bytes{source}\n"
            f"{visible(str(one.file))}\n{visible(one.description)}\n\n{visible(one.text)}"
        )


def _memory_list(session: Session) -> Iterator[str]:
    store = session.memory.store
    found = store.find()
    width = max((len(one.name) for one in found.memories), default=0)
    for one in found.memories:
        description = _cut(visible(one.description), MEMORY_CHARACTERS)
        yield f"  {one.name:<{width}}  {one.place:<7}  {one.type:<9}  {_age(one):>6}  {one.size:>5,} B  {description}"
    for problem in found.problems:
        yield f"  ! {visible(str(problem.file))}: {' '.join(visible(problem.text).split())}"
    if not found.memories:
        yield "There are no memories yet; say “remember that …”."
    else:
        yield "/memory NAME shows one; /memory edit, forget or undo NAME changes it."
    if forgotten := store.forgotten():
        yield f"/memory undo can restore: {visible(', '.join(forgotten[-10:]))}."


def _age(one: Memory) -> str:
    seconds = max(0.0, time.time() - one.updated)
    return next((f"{seconds // unit:.0f} {name}" for unit, name in _UNITS if seconds >= unit), "0 min")


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
