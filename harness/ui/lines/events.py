"""What an event has to say in one line; most say nothing."""

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.base.terminal_text import counted
from harness.events import (
    BudgetReached,
    CacheMissed,
    CompactionEnded,
    CompactionStarted,
    Event,
    FaultOrdered,
    HistoryRepaired,
    HistoryReplaced,
    ModelSwitched,
    Notice,
    OutputCapChanged,
    PlanReminded,
    RetryBudgetSpent,
    RetryEnded,
    RetryScheduled,
    SettingChanged,
    SilenceHint,
    Source,
    ThinkingOmitted,
    Transition,
    TransitionCode,
    WaitAnswered,
    WaitOffered,
    WebUsed,
)
from harness.ui.lines.breakers import health_line
from harness.ui.lines.hooks import hook_line
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.loops import escape_line

EXPLAINED = frozenset(
    {
        TransitionCode.MAX_OUTPUT_TOKENS_EFFORT,
        TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,
        TransitionCode.TOKEN_BUDGET_CONTINUATION,
        TransitionCode.COLLAPSE_DRAIN_RETRY,
    }
)
"""Transitions that no other event tells of."""


def line_of(event: Event) -> Line | None:
    """What to print for an event that reports trouble, a change or a wait; None for all others."""
    match event:
        case RetryScheduled():
            return Line("↻", _retry(event), Tone.TROUBLE)
        case RetryBudgetSpent():
            return Line("✗", f"no more retries: {spent_retries(event)}", Tone.TROUBLE)
        case RetryEnded(why="asked"):
            return Line("↻", "trying now")
        case WaitOffered():
            return Line("◌", f"the server asks for a wait of {seconds(event.seconds)}: {event.detail}", Tone.TROUBLE)
        case WaitAnswered(choice):
            return Line("◌", {"wait": "waiting", "switch": "asking another model", "stop": "not waiting"}[choice])
        case ModelSwitched():
            return Line("→", f"{event.to_model} answers instead of {event.from_model}: {event.reason}", Tone.TROUBLE)
        case SettingChanged():
            return Line("→", f"{event.name.replace('_', ' ')} is now {event.value}")
        case FaultOrdered():
            return Line("↯", f"broken on purpose: {event.typed}", Tone.TROUBLE)
        case OutputCapChanged():
            return Line("↻", f"output cap {event.from_cap:,} → {event.to_cap:,} tokens: {event.reason}", Tone.TROUBLE)
        case Transition(code=code) if code in EXPLAINED:
            return Line("↻", event.reason, Tone.TROUBLE)
        case CompactionStarted():
            return Line("◌", f"compacting a history of about {event.tokens_before:,} tokens")
        case CompactionEnded(succeeded=True) if event.tokens_after >= event.tokens_before:
            sizes = f"about {event.tokens_before:,} → {event.tokens_after:,} tokens"
            return Line("✗", f"compaction gained nothing: {sizes}", Tone.TROUBLE)
        case CompactionEnded(succeeded=True, drained=drained) if drained:
            results = "one old tool result" if len(drained) == 1 else f"{len(drained)} old tool results"
            sizes = f"about {event.tokens_before:,} → {event.tokens_after:,} tokens"
            return Line("✓", f"shortened {results}: {sizes} ({event.detail})")
        case CompactionEnded(succeeded=True):
            detail = f" ({event.detail})" if event.detail else ""
            sizes = f"about {event.tokens_before:,} → {event.tokens_after:,} tokens"
            return Line("✓", f"compacted by {event.method}: {sizes}{detail}")
        case CompactionEnded():
            return Line("✗", f"compaction failed: {event.detail}", Tone.TROUBLE)
        case PlanReminded(rounds=rounds, left=left):
            passed = "1 round" if rounds == 1 else f"{rounds} rounds"
            return Line("·", f"the model is reminded of its plan after {passed}; open: {'; '.join(left)}")
        case BudgetReached(percent=percent, cost_usd=cost, budget_usd=budget):
            whole = f"{percent} % of the budget is spent: {dollars(cost)} of {dollars(budget)}"
            return Line("$", whole, Tone.QUIET if percent < 80 else Tone.TROUBLE)
        case HistoryRepaired():
            return Line("·", f"history repaired before sending: {'; '.join(event.repairs)}")
        case HistoryReplaced(reason="media" | "thinking" as reason):
            return Line("·", f"history sent without {reason}")
        case WebUsed(tool=tool, asked=asked, failed=failed):
            mark, word, tone = ("✗", "failed, ", Tone.TROUBLE) if failed else ("✓", "", Tone.QUIET)
            return Line(mark, f"{' '.join(f'{tool} {asked}'.split())}: {word}{event.outcome}", tone)
        case ThinkingOmitted(reason=reason):
            return Line("·", f"earlier thinking is left out from here on: {reason}")
        case SilenceHint():
            silence = f"silent for {seconds(event.silent_s)} ({event.phase})"
            return Line("◌", f"the model is {silence}; given up in {seconds(event.gives_up_in_s)}", Tone.TROUBLE)
        case Notice(level="info", text=text):
            return Line("·", text)
        case Notice(level=level, text=text):
            return Line("!", f"{level}: {text}", Tone.BAD if level == "error" else Tone.TROUBLE)
        case _:
            return health_line(event) or escape_line(event) or hook_line(event)


def source_lines(sources: Iterable[Source]) -> tuple[Line, ...]:
    """The pages that an answer cites, numbered."""
    texts = (" ".join(f"{source.title} {source.url}".split()) for source in sources)
    return tuple(Line(f"[{number}]", text) for number, text in enumerate(texts, 1))


def _retry(event: RetryScheduled) -> str:
    status = f" ({event.status})" if event.status else ""
    what = "" if event.scope == "model" else f" of the {event.scope}"
    due = f"retry{what} {event.attempt} of {event.max_attempts} in {seconds(event.delay_s)}"
    category = event.category.replace("_", " ")
    detail = f", {event.detail}" if event.detail.lower() != category else ""
    return f"{due}: {category}{status}{detail}"


def spent_retries(event: RetryBudgetSpent) -> str:
    """What was used of the retries that all agents share: "…, 12 retries for 20 requests"."""
    retries = "1 retry" if event.retries == 1 else f"{event.retries:,} retries"
    requests = "1 request" if event.requests == 1 else f"{event.requests:,} requests"
    return f"the agents together have used all they share, {retries} for {requests}"


def seconds(value: float) -> str:
    """A duration: "0.4 s", "12 s", "3 min 20 s"."""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole % 60 else f"{whole // 60} min"


SHORTEST_S = 0.05
"""Seconds that are shown as more than none."""


def thought(duration_s: float = 0.0, tokens: int = 0) -> str:
    """Thinking in one line: "thought for 12 s · 1.2k tokens"; 0 is not known and left out."""
    counted = f"{tokens} tokens" if tokens < 1_000 else f"{tokens / 1_000:.1f}k tokens"
    return "thought" + f" for {seconds(duration_s)}" * (duration_s >= SHORTEST_S) + f" · {counted}" * bool(tokens)


def priced(cost_usd: float, unpriced: int) -> str:
    """What requests cost: "$1.25"; "cost unknown" or "at least $1.25" where `unpriced` of them have no known price."""
    if not unpriced:
        return dollars(cost_usd)
    return f"at least {dollars(cost_usd)}" if cost_usd else "cost unknown"


def dollars(value: float) -> str:
    """An amount: "$0.0012" below a cent, "$1.25" above."""
    return f"${value:.2f}" if value >= 0.1 else f"${value:.4f}"


_MISSES = {
    "model_changed": "the model changed",
    "system_changed": "the system prompt changed",
    "tools_changed": "the tools changed",
    "messages_changed": "earlier messages changed",
}
_NOT_COMPARED = frozenset({"previous_message_not_found", "unavailable"})
"""Reasons that say nothing about the request."""


def cache_miss_line(misses: Sequence[CacheMissed]) -> str:
    """Why the prompt cache missed, in one line with the number of times and tokens; empty where it never did."""
    known = [miss for miss in misses if miss.reason not in _NOT_COMPARED]
    said = []
    if known:
        reasons = Counter(_MISSES.get(miss.reason, miss.reason) for miss in known)
        named = ", ".join(f"{reason} ({count})" for reason, count in reasons.most_common())
        tokens = sum(miss.tokens or 0 for miss in known)
        said.append(f"prompt cache missed in {counted(len(known), 'request')}, about {tokens:,} tokens: {named}")
    if unknown := len(misses) - len(known):
        said.append(f"the server could not compare {counted(unknown, 'request')} with the one before")
    return "; ".join(said)
