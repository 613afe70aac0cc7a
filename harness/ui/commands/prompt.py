"""/prompt: what the model is told before the conversation, and how much of its window that takes."""

from collections.abc import Iterator
from difflib import get_close_matches

from harness.base.terminal_text import visible
from harness.session import PromptPart, Session
from harness.ui.commands.results import CommandError, Result, Say


def prompt(session: Session, argument: str) -> Result:
    """List the parts with their sizes, or show the text of one."""
    parts = {part.name: part for part in session.prompt_parts}
    if not argument:
        return Say("\n".join(_table(tuple(parts.values()), session.context[1])))
    if argument not in parts:
        near = get_close_matches(argument, parts, n=1, cutoff=0.4)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(parts)}."
        raise CommandError(f"The prompt has no part {argument!r}; {hint}")
    return Say(visible(parts[argument].text))


def _table(parts: tuple[PromptPart, ...], window: int) -> Iterator[str]:
    total = sum(part.tokens for part in parts)
    width = max(len(part.name) for part in parts)
    for part in parts:
        yield f"  {part.name:<{width}}  {part.tokens:>7,} tokens"
        for source in part.sources:
            yield f"  {'':<{width}}  {'':>7}    {visible(source)}"
    yield f"  {'together':<{width}}  {total:>7,} tokens of {window:,}; /prompt and a name show the text"
