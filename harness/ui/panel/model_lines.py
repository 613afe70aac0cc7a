"""The exchange with the model on the panel: state, countdowns, context and cost."""

from collections.abc import Iterator, Sequence
from math import ceil

from rich.cells import cell_len
from textual.content import Content

from harness.base.clock import time_of_day
from harness.base.external_text import counted
from harness.events import PermissionAsked, QuestionAsked, TransitionCode, Usage
from harness.ui.folds.model import ModelStatus, Phase, held_in_words, limit_in_words
from harness.ui.key_labels import clickable
from harness.ui.lines.line import seconds
from harness.ui.panel.layout import (
    BAD,
    KEY,
    LABEL,
    QUIET,
    TROUBLE,
    Lines,
    bar,
    count,
    flat,
    flowing,
    hung,
    labelled,
    priced,
    wrapped,
)
from harness.ui.panel.state import Panel

FULL = 0.8
"""Share of the window; a fuller context is highlighted."""
ROOMY = 64
"""Columns; a wider panel shows more details per line."""
LONGEST_DOING = " answers · 9,999 s"
NOTICED = 2
"""Seconds; shorter durations are not shown."""
WELL = (TransitionCode.COMPLETED, TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)
"""Ends of a turn that need no explanation."""
ORDINARY = (
    *WELL,
    TransitionCode.NEXT_TURN,
    TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE,
    TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY,
    TransitionCode.TOKEN_BUDGET_CONTINUATION,
    TransitionCode.REACTIVE_COMPACT_RETRY,
    TransitionCode.REFUSAL_FALLBACK,
)
"""Transitions that are ordinary or shown by other lines."""
ASKS = (Phase.PERMISSION, Phase.QUESTION, Phase.OFFERED, Phase.LOOP)
"""Phases that wait for an answer of the user."""
PRESSING = (Phase.WAITING, *ASKS)
"""Phases that wait for a decision of the user."""


def model(panel: Panel, width: int, now: float, actions: Sequence[tuple[str, str]]) -> Sequence[Lines]:
    """The state in one line; then the reason, the kept parts of a reply, and keys."""
    view = panel.model
    if not view.chosen:
        return ()
    headline = hung("model", _headline(panel, width, now), width)
    urgent = list(_urgent(view, width, now))
    details = [*_details(panel, width), *_kept(view, width)]
    keys = flowing((clickable(key, what, KEY) for key, what in actions), width)
    brief = labelled("model", _brief(panel, width, now))
    return ([*headline, *urgent, *details, *keys], [*headline, *urgent, *keys], [*headline, *urgent], [brief])


def _headline(panel: Panel, width: int, now: float) -> Content:
    view, name = panel.model, flat(panel.model.active)
    if view.active == view.chosen and LABEL + cell_len(name) + len(LONGEST_DOING) > width:
        name = ""  # the status line has it
    lasted = max(0, int(now - view.since))
    for_so_long = f" · {lasted} s" if lasted >= NOTICED else ""
    match view.phase:
        case Phase.IDLE if _ended_badly(panel):
            return _bad_end(panel)
        case Phase.IDLE:
            return Content.styled(f"{flat(view.chosen)} · ready", QUIET)
        case Phase.WAITING if view.retry is not None:
            retry = view.retry
            what = "" if retry.scope == "model" else f" of the {retry.scope}"
            text = f"{what_failed(view)}, try{what} {retry.attempt} of {retry.max_attempts}"
            return Content.styled(text, f"bold {TROUBLE}")
        case Phase.WAITING if view.held is not None:
            return Content.styled(f"{name} waits for other sessions{for_so_long}".strip(), f"bold {TROUBLE}")
        case Phase.OFFERED if view.offered is not None:
            return Content.styled(f"the server asks for a wait of {seconds(view.offered.seconds)}", f"bold {TROUBLE}")
        case Phase.LOOP:
            return Content.styled("a loop was found; what now?", f"bold {TROUBLE}")
        case Phase.COMPACTING if view.compacting is not None:
            tokens = count(view.compacting.tokens_before)
            return Content.styled(f"compacting about {tokens} tokens{for_so_long}", TROUBLE)
        case Phase.QUESTION:
            return Content.styled("a question for you", f"bold {TROUBLE}")
        case Phase.PERMISSION if isinstance(panel.asked, PermissionAsked):
            asker = f"agent {flat(panel.asked.agent)}: " if panel.asked.agent else ""
            return Content.styled(f"{asker}may {flat(panel.asked.tool)} run?", f"bold {TROUBLE}")
        case Phase.TOOLS if panel.running:
            return Content(f"running {running_tools(panel)}{for_so_long}")
        case Phase.THINKING:
            return Content(f"{name} thinks{for_so_long}" if name else f"thinking{for_so_long}")
        case Phase.ANSWERING:
            return Content(f"{name} answers{for_so_long}" if name else f"answering{for_so_long}")
        case Phase.ASKING:
            again = f", attempt {view.attempt}" if view.attempt > 1 else ""
            return Content(f"asking {name}".rstrip() + again + for_so_long)
        case _:
            return Content(flat(view.active))


def _brief(panel: Panel, width: int, now: float) -> Content:
    """The headline including the countdown, for a panel without room for a second line."""
    view = panel.model
    if view.retry is None or view.phase is not Phase.WAITING:
        return _headline(panel, width, now)
    return Content.styled(" · ".join(retry_facts(view, now)), f"bold {TROUBLE}")


def running_tools(panel: Panel) -> str:
    """The names of the tools that run, each once."""
    return ", ".join(dict.fromkeys(flat(one.tool) for one in panel.running))


def retry_facts(view: ModelStatus, now: float) -> Sequence[str]:
    """The fault, the time of the next attempt and its number; empty: nothing waits for a retry."""
    if (retry := view.retry) is None:
        return ()
    left = _time_left(retry.retry_at, now)
    return (what_failed(view), f"next try in {left}", f"{retry.attempt} of {retry.max_attempts}")


def what_failed(view: ModelStatus) -> str:
    """The status and category of the fault before the retry that is waited for."""
    retry = view.retry
    if retry is None:
        return ""
    status = f"{retry.status} " if retry.status else ""
    return f"{status}{retry.category.replace('_', ' ')}"


def _time_left(moment: float, now: float) -> str:
    left = max(0, ceil(moment - now))
    return seconds(left) if left >= 10 else f"{left} s"


def _ended_badly(panel: Panel) -> bool:
    return panel.ended is not None and panel.ended.code not in WELL


def _shown_elsewhere(panel: Panel) -> bool:
    """Whether another section shows why the turn ended."""
    return panel.paused is not None or panel.loops.stuck is not None


def _bad_end(panel: Panel) -> Content:
    name = flat(panel.model.chosen)
    if panel.paused is not None:
        return Content.styled(f"{name} · the turn is paused", TROUBLE)
    if panel.loops.stuck is not None:
        return Content.styled(f"{name} · stopped in a loop", TROUBLE)
    code = panel.ended.code.replace("_", " ") if panel.ended else ""
    return Content.styled(f"{name} · {code}", BAD)


def _urgent(view: ModelStatus, width: int, now: float) -> Iterator[Content]:
    """Countdowns."""
    if view.retry is not None:
        yield labelled("", Content.assemble("next try in ", (_time_left(view.retry.retry_at, now), "bold")))
    if view.offered is not None:
        yield labelled("", f"that is until {time_of_day(view.offered.until)}")
    if view.silence is not None:
        text = f"silent for {seconds(view.silence.silent_s)} · asks again in {seconds(view.silence.gives_up_in_s)}"
        yield from wrapped(text, width, style=TROUBLE)


def _details(panel: Panel, width: int) -> Lines:
    view = panel.model
    match view.phase:
        case Phase.WAITING if view.retry is not None:
            detail = flat(view.retry.detail)
            return [] if detail.lower() in what_failed(view).lower() else wrapped(detail, width, style=QUIET)
        case Phase.WAITING if view.held is not None:
            return wrapped(held_in_words(view.held), width, style=QUIET)
        case Phase.OFFERED if view.offered is not None:
            return wrapped(view.offered.detail, width, style=QUIET)
        case Phase.QUESTION if isinstance(panel.asked, QuestionAsked):
            return wrapped(panel.asked.question, width)
        case Phase.PERMISSION if isinstance(panel.asked, PermissionAsked):
            return [*wrapped(panel.asked.summary, width), *wrapped(panel.asked.why, width, most=1, style=QUIET)]
        case Phase.TOOLS if len(panel.running) == 1:
            return wrapped(panel.running[0].summary, width, most=1, style=QUIET)
        case Phase.IDLE if panel.ended is not None and _ended_badly(panel) and not _shown_elsewhere(panel):
            return wrapped(panel.ended.reason, width, most=3)
        case Phase.ASKING | Phase.COMPACTING if (fault := view.fault) is not None:
            status = f"{fault.status} " if fault.status else ""
            what, message = f"{status}{fault.kind.replace('_', ' ')}", flat(fault.message)
            said = "" if message.lower().rstrip(".") in what.lower() else f": {message}"
            return wrapped(f"after {what}{said}", width, style=QUIET)
        case _:
            return []


def _kept(view: ModelStatus, width: int) -> Lines:
    if view.phase is Phase.IDLE or (view.fault is None and not view.continuations):
        return []
    parts = [counted(view.kept_characters, "character")] if view.kept_characters else []
    parts += [counted(view.kept_calls, "tool call")] if view.kept_calls else []
    kept = wrapped(f"kept: {', '.join(parts)}", width) if parts else []
    lost = view.discarded_characters
    discarded = wrapped(f"discarded: {counted(lost, 'character')}", width, style=QUIET) if lost else []
    return [*kept, *discarded]


def events(panel: Panel, width: int) -> Sequence[Lines]:
    """Recoveries in this turn: another model, another cap, a shorter history."""
    found = list(_events(panel, width))
    return ([line for lines in found for line in lines], found[-1], []) if found else ()


def _events(panel: Panel, width: int) -> Iterator[Lines]:
    view = panel.model
    runs = view.phase is not Phase.IDLE
    if runs and view.active != view.chosen:
        reason = f": {view.switched.reason}" if view.switched is not None and width >= ROOMY else ""
        yield _event(width, "→", f"instead of {view.chosen}{reason}")
    if runs and view.cap is not None:
        yield _event(width, "▲", f"output cap {count(view.cap.from_cap)} → {count(view.cap.to_cap)} tokens")
    if runs and view.continuations:
        of = f" of {view.most_continuations}" if view.most_continuations else ""
        yield _event(width, "…", f"continuation {view.continuations}{of}")
    if (limit := view.limits.get(view.active)) is not None:
        yield _event(width, "▼", limit_in_words(limit), TROUBLE if runs else QUIET)
    if (spent := view.retries_spent) is not None:
        requests = counted(spent.requests, "request")
        yield _event(width, "✗", f"no retries left: {spent.retries:,} for {requests} of all agents")
    if (done := view.compacted) is not None and done.succeeded:
        sizes = f"{count(done.tokens_before)} → {count(done.tokens_after)} tokens"
        how = f", by {done.method}" if width >= ROOMY else ""
        what = "compacted" if done.tokens_after < done.tokens_before else "compaction gained nothing:"
        yield _event(width, "✂", f"{what} {sizes}{how}", TROUBLE if runs else QUIET)
    elif done is not None:
        yield _event(width, "✂", f"compaction failed: {done.detail}")
    last = view.transition
    if runs and last is not None and last.code not in ORDINARY and last.step >= panel.step - 1:
        yield _event(width, "↻", f"{last.code.replace('_', ' ')}: {last.reason}")


def _event(width: int, mark: str, text: str, style: str = TROUBLE) -> Lines:
    return wrapped(f"{mark} {text}", width, style=style, hang=2)


def context(panel: Panel, width: int) -> Sequence[Lines]:
    """The use of the context window."""
    if not panel.window:
        return ()
    share = panel.context_tokens / panel.window
    style = TROUBLE if share >= FULL else QUIET
    numbers = f"{count(panel.context_tokens)} of {count(panel.window)}"
    text = f"{bar(share, max(5, min(10, width - LABEL - len(numbers) - 2)))} {numbers}"
    return ([labelled("context", Content.styled(text, style))], [])


def spent(panel: Panel, width: int) -> Sequence[Lines]:
    """Cost and tokens, and the share of retries."""
    spend = panel.spend
    if not spend.cost_usd and not _tokens(spend.usage):
        return ()
    total = _spent(spend.cost_usd, spend.unpriced, spend.usage, width)
    retried = bool(spend.retry_cost_usd or _tokens(spend.retry_usage))
    if not retried:
        return ([labelled("spent", Content.styled(total, QUIET))], [])
    wasted = f"retries {_spent(spend.retry_cost_usd, 0, spend.retry_usage, width)}"
    line = labelled("spent", Content.assemble((f"{total}, ", QUIET), wasted))
    if line.cell_length <= width:
        return ([line], [])
    return ([labelled("spent", Content.styled(total, QUIET)), labelled("", wasted)], [])


def _spent(cost_usd: float, unpriced: int, usage: Usage, width: int) -> str:
    tokens = f"{count(_tokens(usage))} tokens"
    if not cost_usd and not unpriced:
        return tokens
    cost = priced(cost_usd, unpriced)
    return f"{cost} · {tokens}" if width >= ROOMY else cost


def _tokens(usage: Usage) -> int:
    return usage.prompt + usage.output
