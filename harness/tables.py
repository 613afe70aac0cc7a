"""The recovery policy as tables to print, straight from the data that it runs on."""

from collections.abc import Iterable, Sequence
from textwrap import wrap

from harness.recovery.responses import RESPONSES
from harness.recovery.transitions import TRANSITIONS

COLUMNS = ("code", "does", "when", "what happens", "guarded by", "exit", "reserved for")
WIDTH = 72


def transitions(*, markdown: bool) -> str:
    """All transition codes and what each kind of fault is answered with, for a terminal or as Markdown."""
    if markdown:
        return _markdown()
    blocks = [*_codes(), "What each fault is answered with first:", _faults()]
    return "\n\n".join(blocks)


def _rows() -> Iterable[tuple[str, ...]]:
    for row in TRANSITIONS.values():
        code = "" if row.exit_code is None else str(row.exit_code)
        yield row.code.value, row.kind.value, row.trigger, row.effect, row.guard, code, row.reserved or ""


def _codes() -> Iterable[str]:
    for code, kind, trigger, effect, guard, exit_code, reserved in _rows():
        end = f"ends the turn, exit code {exit_code}" if exit_code else f"{kind}s"
        facts = {"when": trigger, "then": effect, "guard": guard, "reserved": reserved}
        lines = [f"{code}  ({end})"]
        for name, text in facts.items():
            if text.strip("-"):
                first, *more = wrap(text, WIDTH)
                lines += [f"  {name:<9} {first}", *(f"  {'':<9} {line}" for line in more)]
        yield "\n".join(lines)


def _faults() -> str:
    width = max(map(len, RESPONSES))
    return "\n".join(f"  {kind.value:<{width}}  {response.value}" for kind, response in RESPONSES.items())


def _markdown() -> str:
    faults = ((kind.value, response.value) for kind, response in RESPONSES.items())
    return f"{_table(COLUMNS, _rows())}\n\n{_table(('fault', 'answered with'), faults)}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)
    return "\n".join((f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines))
