"""The drawings of the chapter, made from the decision tables of the program."""

from itertools import zip_longest
from textwrap import wrap

from harness.events import FaultKind, TransitionCode
from harness.policies.recovery.transitions import REMEDIES, RETRIED, TRANSITIONS, Remedy, TransitionKind

WAYS: tuple[tuple[str, frozenset[Remedy]], ...] = (
    ("wait, then the same request", RETRIED),
    ("shorten the history", frozenset({Remedy.COMPACT})),
    (
        "change the request",
        frozenset(
            {
                Remedy.LOWER_CAP,
                Remedy.STRIP_MEDIA,
                Remedy.STRIP_THINKING,
                Remedy.DROP_CACHE_MARKS,
                Remedy.DROP_REPLY_SETTINGS,
                Remedy.DROP_SERVER_TOOLS,
                Remedy.DROP_FORMAT,
                Remedy.BRIDGE_RESULTS,
                Remedy.DROP_DIAGNOSTICS,
                Remedy.REPAIR,
            }
        ),
    ),
    ("read the key again", frozenset({Remedy.RELOAD_KEY})),
    ("keep it, ask for the rest", frozenset({Remedy.CUT_SHORT})),
    ("ask another model", frozenset({Remedy.SWITCH_ONCE, Remedy.RETRY_THEN_SWITCH})),
    ("stop, with what to do", frozenset({Remedy.STOP})),
)
"""Ways back, with the remedies that take each."""
REPLIES: dict[str, tuple[TransitionCode, ...]] = {
    "change the request": (TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE,),
    "keep it, ask for the rest": (TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,),
}
"""Ways back of replies that were cut."""
WIDTH, LEFT = 36, 28
HEAD = """   request ──▶ model ──▶ Reply or Fault ──▶ decide ──▶ Decision
      ▲                                                    │
      │          one of these, by the kind of the fault ◀──┘"""


def kinds(remedies: frozenset[Remedy]) -> tuple[FaultKind, ...]:
    """The kinds of fault whose first remedy is one of these, in the order of the table."""
    return tuple(kind for kind, remedy in REMEDIES.items() if remedy in remedies)


def ways_back() -> str:
    """Each way back with the kinds of fault that take it."""
    lines = [HEAD]
    for number, (way, remedies) in enumerate(WAYS):
        names = [kind.value for kind in kinds(remedies)] + [code.value for code in REPLIES.get(way, ())]
        left = len(WAYS) - number
        sign, bar = ("├─", "│ ") if left > 2 else ("└─", "  ") if left == 2 else ("✗ ", "  ")
        first, *rest = wrap(", ".join(names), WIDTH)
        lines.append(f"      {sign} {way:<{LEFT}} {first}")
        lines += [f"      {bar} {'':<{LEFT}} {line}" for line in rest]
    return "\n".join(lines)


def reason_codes() -> str:
    """The codes with which a step can end: those after which the turn continues, and those that end it."""
    on, over = (
        [code.value for code, row in TRANSITIONS.items() if row.kind is kind]
        for kind in (TransitionKind.CONTINUE, TransitionKind.END)
    )
    lines = [f"   {'the turn continues':<{LEFT + 4}}the turn ends", ""]
    lines += [f"   {left:<{LEFT + 4}}{right}" for left, right in zip_longest(on, over, fillvalue="")]
    return "\n".join(line.rstrip() for line in lines)
