"""What the panel says of the model, in the words of the field."""

from collections.abc import Iterator, Sequence
from math import ceil

from textual.content import Content

from harness.events import Fault, TransitionCode, Usage
from harness.ui.lines import dollars, seconds
from harness.ui.panel.layout import LABEL, Lines, bar, count, flat, labelled, plural, wrapped
from harness.ui.panel.state import ModelView, Panel, Phase

FULL = 0.8
"""Share of the window from which the context deserves a look."""
WELL = (TransitionCode.COMPLETED, TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)


def model(panel: Panel, width: int, now: float, actions: Sequence[tuple[str, str]]) -> Sequence[Lines]:
    """What happens now, in one line; then why, what was kept, and what can be pressed."""
    view = panel.model
    if not view.chosen:
        return ()
    headline = labelled("model", _headline(panel, now))
    urgent = list(_urgent(view, now))
    details = [*_details(panel, width), *_kept(view)]
    keys = [labelled("", _keys(actions))] if actions else []
    return ([headline, *urgent, *details, *keys], [headline, *urgent, *keys], [headline, *urgent], [headline])


def _headline(panel: Panel, now: float) -> Content:
    view = panel.model
    lasted = max(0, int(now - view.since))
    after = f" · {lasted} s" if lasted >= 2 else ""
    match view.phase:
        case Phase.IDLE if panel.ended is not None and panel.ended.code not in WELL:
            return Content.styled(f"{_name(view)} · {panel.ended.code.replace('_', ' ')}", "$text-error")
        case Phase.IDLE:
            return Content.styled(f"{_name(view)} · ready", "$text-muted")
        case Phase.WAITING if view.retry is not None:
            retry = view.retry
            what = "" if retry.scope == "model" else " of the summary"
            status = f"{retry.status} " if retry.status else ""
            kind = retry.category.replace("_", " ")
            text = f"{status}{kind} · attempt{what} {retry.attempt} of {retry.max_attempts}"
            return Content.styled(text, "$text-warning bold")
        case Phase.OFFERED if view.offered is not None:
            return Content.styled(f"the server asks for {seconds(view.offered.seconds)}", "$text-warning bold")
        case Phase.COMPACTING if view.compacting is not None:
            tokens = count(view.compacting.tokens_before)
            return Content.styled(f"compacting about {tokens} tokens{after}", "$text-warning")
        case Phase.PERMISSION if panel.asked is not None:
            return Content.styled(f"waits for you: {flat(panel.asked.tool)}", "$text-warning bold")
        case Phase.TOOLS if panel.running:
            names = ", ".join(dict.fromkeys(flat(one.tool) for one in panel.running))
            return Content(f"runs {names}{after}")
        case Phase.ANSWERING:
            return Content(f"{_name(view)} answers{after}")
        case Phase.ASKING:
            again = f", attempt {view.attempt}" if view.attempt > 1 else ""
            return Content(f"asking {_name(view)}{again}{after}")
        case _:
            return Content(f"{_name(view)} · working")


def _name(view: ModelView) -> str:
    return flat(view.active)


def _urgent(view: ModelView, now: float) -> Iterator[Content]:
    """What a person wants to know first when something is waited for."""
    if view.retry is not None:
        left = max(0, ceil(view.retry.retry_at - now))
        yield labelled("", Content.assemble("next try in ", (seconds(left) if left >= 10 else f"{left} s", "bold")))
    if view.silence is not None:
        text = f"silent for {seconds(view.silence.silent_s)}, given up in {seconds(view.silence.gives_up_in_s)}"
        yield labelled("", Content.styled(text, "$text-warning"))


def _details(panel: Panel, width: int) -> Lines:
    view = panel.model
    if view.retry is not None:
        return wrapped(view.retry.detail, width, style="$text-muted")
    if view.offered is not None:
        return wrapped(view.offered.detail, width, style="$text-muted")
    if view.phase is Phase.PERMISSION and panel.asked is not None:
        return wrapped(panel.asked.summary, width, style="$text-muted")
    if view.phase is Phase.IDLE and panel.ended is not None and panel.ended.code not in WELL:
        return wrapped(panel.ended.reason, width, most=3)
    if view.fault is not None and view.phase is not Phase.IDLE:
        return wrapped(_fault(view.fault), width, style="$text-muted")
    return []


def _fault(fault: Fault) -> str:
    status = f"{fault.status} " if fault.status else ""
    return f"after {status}{fault.kind.replace('_', ' ')}: {fault.message}"


def _kept(view: ModelView) -> Lines:
    if view.phase is Phase.IDLE or view.fault is None:
        return []
    parts = [plural(view.kept_characters, "character")] if view.kept_characters else []
    parts += [plural(view.kept_calls, "tool call")] if view.kept_calls else []
    lines = [labelled("", f"kept: {', '.join(parts)}")] if parts else []
    if view.discarded_characters:
        lines.append(
            labelled("", Content.styled(f"taken back: {plural(view.discarded_characters, 'character')}", "$text-muted"))
        )
    return lines


def _keys(actions: Sequence[tuple[str, str]]) -> Content:
    return Content("   ").join([Content.assemble((key, "bold $text-accent"), " ", what) for key, what in actions])


def events(panel: Panel, width: int) -> Sequence[Lines]:
    """What was done in this turn so that it goes on: another model, another cap, a shorter history."""
    view = panel.model
    lines: Lines = []
    if view.switched is not None and view.active != view.chosen:
        lines.append(_event("→ ", f"{flat(view.active)} answers for {flat(view.chosen)}"))
        lines += wrapped(view.switched.reason, width, most=1, style="$text-muted")
    if view.cap is not None:
        lines.append(_event("▲ ", f"output cap {count(view.cap.from_cap)} → {count(view.cap.to_cap)} tokens"))
    if view.continuations:
        of = f" of {view.most_continuations}" if view.most_continuations else ""
        lines.append(_event("» ", f"continuation {view.continuations}{of}"))
    if (done := view.compacted) is not None and done.succeeded:
        sizes = f"{count(done.tokens_before)} → {count(done.tokens_after)} tokens"
        lines.append(_event("✂ ", f"compacted by {done.method}: {sizes}"))
    elif done is not None:
        lines.append(_event("✂ ", f"compaction failed: {flat(done.detail)}"))
    if not lines:
        return ()
    short = [line for line in lines if line.plain[:LABEL].strip() or line.plain[LABEL : LABEL + 2].strip()]
    return (lines, short, short[-1:], [])


def _event(mark: str, text: str) -> Content:
    return labelled("", Content.styled(mark + text, "$text-warning"))


def context(panel: Panel, width: int) -> Sequence[Lines]:
    """How full the window is."""
    if not panel.window:
        return ()
    share = panel.context_tokens / panel.window
    style = "$text-warning" if share >= FULL else "$text-muted"
    room = 10 if width >= LABEL + 28 else 5
    text = f"{bar(share, room)} {count(panel.context_tokens)} of {count(panel.window)}"
    return ([labelled("context", Content.styled(text, style))], [])


def spent(panel: Panel) -> Sequence[Lines]:
    """Money where there is any, else tokens; and what of it went into retries."""
    spend = panel.spend
    if not spend.requests:
        return ()
    retried = _tokens(spend.retry_usage)
    if spend.cost_usd:
        wasted = f", {dollars(spend.retry_cost_usd)} on retries" if spend.retry_cost_usd else ""
        text = f"{dollars(spend.cost_usd)}{wasted}"
    else:
        wasted = f", {count(retried)} on retries" if retried else ""
        text = f"{count(_tokens(spend.usage))} tokens{wasted}"
    return ([labelled("spent", Content.styled(text, "$text-warning" if wasted else "$text-muted"))], [])


def _tokens(usage: Usage) -> int:
    return usage.prompt + usage.output
