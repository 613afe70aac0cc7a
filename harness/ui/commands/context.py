"""/context: where the tokens are, how much room is left, and what happens when there is none."""

from collections.abc import Iterator

from harness.session import ContextUse, Session
from harness.ui.commands.results import Result, Say


def context(session: Session, argument: str) -> Result:
    """Everything that fills the model's window, on one screen."""
    return Say("\n".join(context_lines(session.context_use)))


def context_lines(use: ContextUse) -> Iterator[str]:
    """The table, and what is done about a full window."""
    rows = [(part.name, part.tokens, part.count) for part in use.parts if part.tokens or part.count is None]
    rows += [("kept for the answer", use.answer, None), ("free", use.free, None)]
    width = max(len(name) for name, _, _ in rows)
    for name, tokens, number in rows:
        share = tokens / use.window if use.window else 0.0
        times = "" if number is None else f"{number:>6,}"
        yield f"  {name:<{width}}  {tokens:>9,}  {share:>4.0%}{times}".rstrip()
    share = use.tokens / use.window if use.window else 0.0
    yield f"about {use.tokens:,} of {use.window:,} tokens are used ({share:.0%}); /compact shortens the history"
    yield _policy(use)
    if use.automatic and use.window:
        yield f"that is at {use.levels.compact / use.window:.0%} of the window; the setting compact_at moves it"
    done = use.shortenings
    if done.drained:
        yield "drained results show a few lines; each names the file that holds the whole"
    yield f"so far: {_times(done.drains, 'drain')}, {_times(done.summaries, 'summary')}, {_times(done.cuts, 'cut')}"


def _policy(use: ContextUse) -> str:
    if not use.automatic:
        return f"nothing is shortened on its own; no request goes out from {use.levels.block:,} tokens on"
    drain = f"from {use.levels.compact:,} tokens on, old tool results are drained to {use.levels.drained:,}"
    if use.gave_up:
        return f"{drain}; summaries are off after three failures, and /compact tries again"
    return f"{drain}, or the history is summarised"


def _times(number: int, what: str) -> str:
    plural = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else plural}"
