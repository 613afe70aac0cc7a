"""The drawings of the chapter, made from the decision tables of the program."""

from itertools import zip_longest
from textwrap import wrap

from harness.events import FaultKind, TransitionCode
from harness.policies.recovery.transitions import RESPONSES, RETRIED, TRANSITIONS, Response, TransitionKind

WAYS: tuple[tuple[str, frozenset[Response]], ...] = (
    ("wait, then the same request", RETRIED),
    ("shorten the history", frozenset({Response.COMPACT})),
    (
        "change the request",
        frozenset(
            {
                Response.LOWER_CAP,
                Response.STRIP_MEDIA,
                Response.STRIP_THINKING,
                Response.DROP_CACHE_MARKS,
                Response.DROP_REPLY_SETTINGS,
                Response.DROP_SERVER_TOOLS,
                Response.DROP_FORMAT,
                Response.DROP_DIAGNOSTICS,
                Response.REPAIR,
            }
        ),
    ),
    ("read the key again", frozenset({Response.RELOAD_KEY})),
    ("keep it, ask for the rest", frozenset({Response.CUT_SHORT})),
    ("ask another model", frozenset({Response.SWITCH_ONCE, Response.RETRY_THEN_SWITCH})),
    ("stop, with what to do", frozenset({Response.STOP})),
)
"""Ways back, with the responses that take each."""
REPLIES: dict[str, tuple[TransitionCode, ...]] = {
    "change the request": (TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE,),
    "keep it, ask for the rest": (TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,),
}
"""Ways back of replies that were cut."""
WIDTH, LEFT = 36, 28
HEAD = """   request ──▶ model ──▶ Reply or Fault ──▶ decide ──▶ Decision
      ▲                                                    │
      │          one of these, by the kind of the fault ◀──┘"""


def kinds(responses: frozenset[Response]) -> tuple[FaultKind, ...]:
    """The kinds of fault whose first response is one of these, in the order of the table."""
    return tuple(kind for kind, response in RESPONSES.items() if response in responses)


def ways_back() -> str:
    """Each way back with the kinds of fault that take it."""
    lines = [HEAD]
    for number, (way, responses) in enumerate(WAYS):
        names = [kind.value for kind in kinds(responses)] + [code.value for code in REPLIES.get(way, ())]
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
