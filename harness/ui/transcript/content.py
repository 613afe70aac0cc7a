"""Entries as text for the screen. Each line fits the given width.

Colour is kept for what needs attention: failures being handled are warnings, and only the end of a failed turn and
removed lines of a diff are red. A mark or a word repeats everything that colour says.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

from harness.base.external_text import CUT, counted, visible
from harness.events import Alternative, Dispatch, ItemStatus, PlanItem, ToolOutcome
from harness.session import report_lines
from harness.ui.folds.work import how_far
from harness.ui.lines.diff import DiffKind, diff_rows, path_of_diff, with_changed_words
from harness.ui.lines.events import OUTCOMES, ending_line
from harness.ui.lines.line import Line, Tone, output_excerpt, seconds, thought, whole_text
from harness.ui.lines.reports import stuck_lines
from harness.ui.transcript.calls import COMMANDS
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    ChecklistEntry,
    DiffEntry,
    Entry,
    ExamplesEntry,
    ListEntry,
    LoopReportEntry,
    NoteEntry,
    PauseEntry,
    PlanEntry,
    PromptEntry,
    TextEntry,
    ThinkingEntry,
    TurnEndEntry,
)
from harness.ui.transcript.wrap import (
    FAILED,
    GOOD,
    MUTED,
    NAME,
    TAB,
    WARNING,
    hanging,
    listing_content,
    one_line,
)

TONES = {Tone.QUIET: MUTED, Tone.TROUBLE: WARNING, Tone.BAD: WARNING}
ENDS = TONES | {Tone.BAD: FAILED}
MOST_SAID, FEW_SAID = 16, 10
"""A prompt of more than the first number of lines is cut to the second, until it is expanded."""
BAR = "▌ "
YOU = "bold $accent"
PROMPT_TINT = "$text-on-tint on $tint"
LIVE_ROWS = 8
"""Lines of the output of a running command, where the screen is not known."""


def entry_content(
    entry: Entry, width: int, *, expanded: bool = False, now: float = 0.0, key: str = "", rows: int = LIVE_ROWS
) -> Content:
    """An entry as text.

    Args:
        width: cells of a line.
        expanded: include the details of a call and the text of thinking.
        now: Unix time, for the duration of a running call; 0: without it.
        key: what expands an entry, to be named there; empty: nothing does.
        rows: most lines of the output of a running command.
    """
    match entry:
        case PromptEntry(text=text, shell=shell):
            said = Content(visible(text)) if expanded else _beginning(text, key)
            return _prompt(Content("! " if shell else ""), said, width)
        case AnswerEntry(text=text):
            from harness.ui.transcript.markdown import markdown_content  # with the first answer, not the first paint

            return markdown_content(text, width)
        case ThinkingEntry():
            return _thinking(entry, width, expanded)
        case CallEntry():
            return call_content(entry, width, expanded=expanded, now=now, key=key, rows=rows)
        case NoteEntry(line=line):
            return _line(line, width, TONES[line.tone], "" if line.tone is not Tone.QUIET else MUTED)
        case TextEntry(text=text, heading=heading):
            return Content("\n").join([*_heading(heading, width), hanging(Content(""), Content(visible(text)), width)])
        case DiffEntry(heading=heading, parts=parts):
            return Content("\n").join([*_heading(heading, width), *_diffs(parts, width)])
        case ListEntry(groups=groups):
            return listing_content(groups, width)
        case ExamplesEntry(prompts=prompts):
            return _examples(prompts, width)
        case PauseEntry(report=report):
            return _report(report_lines(report, width), width)
        case LoopReportEntry(report=report):
            return _report(stuck_lines(report, width), width)
        case PlanEntry():
            return _plan(entry, width)
        case ChecklistEntry(items=items):
            return checklist_content(items, width)
        case TurnEndEntry(end=end):
            line = ending_line(end)
            return _line(line, width, ENDS[line.tone], ENDS[line.tone])


def _heading(heading: str, width: int) -> list[Content]:
    return [one_line(Content.styled(_flat(heading), NAME), width)] if heading else []


def _diffs(parts: Sequence[str], width: int) -> Iterator[Content]:
    from harness.ui.transcript.diff import diff_content  # with the first diff, not the first paint

    for part in parts:
        if (path := path_of_diff(part)) is None:
            yield hanging(Content(""), Content(visible(part)), width)
        else:
            yield from diff_content(with_changed_words(diff_rows(part)), path, width)


def _beginning(text: str, key: str) -> Content:
    """The prompt, or the first lines of a long one."""
    lines = text.split("\n")
    if len(lines) <= MOST_SAID:
        return Content(visible(text))
    left = len(lines) - FEW_SAID
    named = f" ({key})" if key else ""
    return Content.assemble(visible("\n".join(lines[:FEW_SAID])), (f"\n… {left:,} more lines{named}", MUTED))


def _prompt(sign: Content, text: Content, width: int) -> Content:
    """A prompt behind a bar, on a tint as wide as the line."""
    lines = hanging(sign, text, width - cell_len(BAR)).split("\n", allow_blank=True)
    bar = Content.styled(BAR, YOU)
    return Content("\n").join(
        Content.assemble(bar, line, " " * (width - cell_len(BAR) - line.cell_length)).stylize_before(PROMPT_TINT)
        for line in lines
    )


def set_off(above: Entry, below: Entry) -> bool:
    """Whether a blank line separates two entries: all but the end of a turn and the notes on what precedes them."""
    match above, below:
        case (_, TurnEndEntry()) | (PromptEntry(shell=True), CallEntry()) | (CallEntry() | NoteEntry(), NoteEntry()):
            return False
        case _:
            return True


def _line(line: Line, width: int, of_mark: str, of_text: str) -> Content:
    text = " ".join(visible(line.text).split())
    mark = f"{visible(line.mark)} " if line.mark else ""
    return hanging(Content.styled(mark, of_mark), Content.styled(text, of_text), width)


def _thinking(entry: ThinkingEntry, width: int, expanded: bool) -> Content:
    words = thought(entry.duration_s, entry.tokens) if entry.done else "thinking …"
    head = one_line(Content.styled(f"· {words}", MUTED), width)
    if not expanded or not entry.text.strip():
        return head
    text = Content.styled(visible(entry.text.strip()), "italic dim")
    return Content("\n").join([head, hanging(Content("  "), text, width)])


def _plan(entry: PlanEntry, width: int) -> Content:
    from harness.ui.transcript.markdown import markdown_content  # with the first plan, not the first paint

    steps = "\n".join(f"- [ ] {step}" for step in entry.plan.steps)
    head = Content.styled("the plan, as you edited it" if entry.edited else "the plan", YOU)
    return Content("\n").join([head, markdown_content(f"{entry.plan.text}\n\n{steps}", width)])


BOXES = {
    ItemStatus.DONE: ("☑ ", GOOD, MUTED),
    ItemStatus.IN_PROGRESS: ("▸ ", "$accent", "bold"),
    ItemStatus.PENDING: ("☐ ", MUTED, ""),
}
"""The mark of an item of the checklist, its style, and that of the item."""


def checklist_content(items: Sequence[PlanItem], width: int) -> Content:
    """The checklist: how far it is, and a line with a mark for each item."""
    lines = [Content.styled(f"checklist · {how_far(items)} done", MUTED)]
    for item in items:
        mark, of_mark, of_text = BOXES[item.status]
        lines.append(hanging(Content.styled(f"  {mark}", of_mark), Content.styled(_flat(item.text), of_text), width))
    return Content("\n").join(lines)


def _examples(prompts: Sequence[str], width: int) -> Content:
    """The prompts; a click puts one into the prompt."""
    lines = [Content.styled("To try; Tab or a click puts one into the prompt:", MUTED)]
    for number, prompt in enumerate(prompts):
        text = Content.styled(prompt, NAME).stylize(Style.from_meta({"@click": f"app.example({number})"}))
        lines.append(hanging(Content("  "), text, width))
    where = "? keys · / commands · `harness learn` in the shell: how it recovers, chapter by chapter"
    return Content("\n").join([*lines, hanging(Content(""), Content.styled(where, MUTED), width)])


def _report(report: Sequence[str], width: int) -> Content:
    first, *others = report
    head = Content.styled(visible(first), f"bold {WARNING}")
    lines = [head, *(Content(visible(line)) for line in others)]
    return hanging(Content(""), Content("\n").join(lines), width)


# ── tool calls ──────────────────────────────────────────────────────────────────────────────────

MOST_LINES = 2_000
"""Lines of detail in an expanded call."""
FEW_LINES = {"output": 3, "own": 12, "diff": 12, "error": 12}
"""Lines shown without expanding: of a command of the model, of one of the user after `!`, a diff and an error."""
INDENT = Content("  ")
LONGEST_LINE = 2_000
"""Characters of a line of detail."""
TIME = 8
"""Cells of the column with the duration."""
WIDE = 60
"""Cells; a wider screen has a column for the duration."""
GAP = 2
BETWEEN = " · "

NOT_RUN = frozenset({ToolOutcome.INVALID, ToolOutcome.DENIED})
NAMED = NOT_RUN | {ToolOutcome.CANCELLED}
"""Outcomes that are named, because their mark is ambiguous."""


def call_content(
    call: CallEntry,
    width: int,
    *,
    expanded: bool = False,
    now: float = 0.0,
    key: str = "",
    rows: int = LIVE_ROWS,
) -> Content:
    """A call on one line, with details when expanded. `key` is named as what expands it, if it does. Of a running
    command the last `rows` lines are shown."""
    lines = [_head(call, width, now)]
    if expanded and call.joined:
        lines += [one_line(Content.styled(f"  {_flat(task)}", MUTED), width) for task in (call.summary, *call.joined)]
    if call.label:
        lines.append(one_line(Content.styled(f"  ! {_flat(call.label)}", WARNING), width))
    if expanded and call.route and call.summary:
        lines.append(hanging(Content("  "), Content.styled(_flat(call.summary), MUTED), width))
    if expanded and call.why:
        lines.append(hanging(Content("  "), Content.styled(_flat(call.why), MUTED), width))
    if call.live is not None:
        lines += [_live_line(line, width, grows=line == call.live.open_line) for line in call.live.last(rows)]
    lines += _detail(call, width, expanded=expanded, key=key)
    return Content("\n").join(lines)


# ── the line ────────────────────────────────────────────────────────────────────────────────────


def _head(call: CallEntry, width: int, now: float) -> Content:
    if call.outcome is ToolOutcome.SKIPPED:
        return one_line(_skipped(call), width)
    about = f"× {len(call.joined) + 1:,}" if call.joined else _flat(call.summary)
    left = Content.assemble(_name(call), f" {about}").rstrip()
    for tag in _tags(call):
        left = Content.assemble(left, (f"  {tag}", WARNING if call.asks else MUTED))
    if call.outcome is None:
        time = _elapsed(now - call.at) if call.running and now > call.at else ""
        written = counted(call.live.count, "line") if call.live is not None else ""
        return _apart(left, Content.styled(" · ".join(filter(None, (written, time))), MUTED), width)
    lines = _output_lines(call) if call.outcome is ToolOutcome.OK else 0
    text = counted(lines, "line") if lines > 1 else _changes(call) or _result(call)
    if _error(call, width):
        text = _numbered(OUTCOMES[call.outcome][1], call.failures)
    result = Content.styled(text, MUTED if call.outcome is ToolOutcome.OK else WARNING)
    time = "" if call.outcome in NOT_RUN else seconds(call.duration_s)
    return _in_columns(left, time, result, width)


def _error(call: CallEntry, width: int) -> str:
    """The text of a failure that has no room in the line of the call; empty: the line says it all."""
    if call.outcome in (None, ToolOutcome.OK, ToolOutcome.SKIPPED):
        return ""
    text = whole_text(call.result, call.detail).removeprefix(f"{OUTCOMES[call.outcome][1]}: ")
    about = min(width // 2, cell_len(f"  {_flat(call.tool)} {_flat(call.summary)}") + GAP)
    beside = TIME + len(BETWEEN) if width >= WIDE and call.outcome not in NOT_RUN else 0
    return text if call.result.endswith(CUT) or about + beside + cell_len(_result(call)) > width else ""


def _changes(call: CallEntry) -> str:
    """The numbers of added and removed lines, if the whole diff is known: "+2 -1"."""
    if path_of_diff(call.detail) is None or call.detail_of > call.detail.removesuffix("\n").count("\n") + 1:
        return ""
    kinds = Counter(row.kind for row in diff_rows(call.detail))
    return f"+{kinds[DiffKind.ADDED]:,} -{kinds[DiffKind.REMOVED]:,}"


def _name(call: CallEntry) -> Content:
    mark, style = _mark(call)
    return Content.assemble((f"{mark} ", style), (_flat(call.tool), "bold"))


def _mark(call: CallEntry) -> tuple[str, str]:
    match call.outcome:
        case None if call.running:
            return "◍", "$accent"
        case None:
            return "◌", MUTED
        case ToolOutcome.OK:
            return "●", GOOD
        case ToolOutcome.DENIED | ToolOutcome.CANCELLED | ToolOutcome.SKIPPED:
            return "○", WARNING
        case _:
            return "✗", WARNING


def _tags(call: CallEntry) -> list[str]:
    tags = ["probe"] if call.dispatch is Dispatch.PROBE else []
    tags += [f"in place of {_flat(call.in_place_of)}"] if call.in_place_of else []
    if not call.agent or call.outcome is not None:  # the result names the agent
        return tags
    return [*tags, f"{_flat(call.agent)} · {_flat(call.doing)}"]


def _result(call: CallEntry) -> str:
    word = OUTCOMES[call.outcome][1] if call.outcome else ""
    text = _flat(call.result).removeprefix(f"{call.tool} was ")
    if call.outcome in NAMED and word not in text:
        text = f"{word}, {text}".removesuffix(", ")
    return _numbered(text or word, call.failures)


def _numbered(text: str, failures: int) -> str:
    return f"{text} ({_ordinal(failures)})" if failures > 1 else text


def _skipped(call: CallEntry) -> Content:
    name = Content.assemble(_name(call), f" {_flat(call.summary)}").rstrip()
    if call.dispatch is Dispatch.PAUSE:
        return Content.assemble(name, (" not run: the turn pauses", WARNING))
    if call.route is None:
        return Content.assemble(name, (" skipped", WARNING), (f"  {_flat(call.why or call.result)}", MUTED))
    lost = f"   loses: {_flat(call.route.degradation)}"
    return Content.assemble(_name(call), (" skipped", WARNING), f" → {_way(call.route)}", (lost, MUTED))


def _way(route: Alternative) -> str:
    return _flat(f"{route.tool}: {route.method}" if route.tool else route.method)


def _in_columns(left: Content, time: str, result: Content, width: int) -> Content:
    """Time and result in columns of their own, as long as there is room for them and for the call."""
    between = BETWEEN if result else " " * len(BETWEEN)
    before = time.rjust(TIME) + between if time and width >= WIDE else ""
    columns = Content.assemble((before, MUTED), result)
    usual = width - max(columns.cell_length, width // 4 + len(before))
    start = max(usual, min(left.cell_length + GAP, width - columns.cell_length))
    return _apart(left, columns, width, start)


def _apart(left: Content, right: Content, width: int, start: int | None = None) -> Content:
    """`left`, then `right` from cell `start`, or at the end of the line."""
    if not right:
        return one_line(left, width)
    least = min(width // 2, left.cell_length + GAP)
    start = max(least, width - right.cell_length if start is None else start)
    left = one_line(left, start - GAP)
    return one_line(Content.assemble(left, " " * (start - left.cell_length), right), width)


def _elapsed(duration_s: float) -> str:
    whole = int(duration_s)
    return f"{whole} s" if whole < 120 else seconds(whole)


def _ordinal(number: int) -> str:
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


# ── the details of a call ───────────────────────────────────────────────────────────────────────


def detail_content(text: str, width: int, most: int = 200) -> Content:
    """A command for the user to judge, line by line without wrapping."""
    lines = text.rstrip("\n").split("\n")
    shown = _detail_lines(lines[:most], width)
    if len(lines) > most:
        shown.append(Content.styled(f"  … {len(lines) - most:,} more lines", MUTED))
    return Content("\n").join(shown)


def _detail(call: CallEntry, width: int, *, expanded: bool, key: str) -> list[Content]:
    if error := _error(call, width):
        return _error_lines(error, width, expanded=expanded, key=key)
    if path_of_diff(call.detail) is not None:
        return _diff(call, width, expanded=expanded, key=key)
    if not call.detail.strip() or not (expanded or call.by_user or call.tool in COMMANDS):
        return []
    shown = output_excerpt(
        call.detail,
        *_first_and_last(call, expanded=expanded),
        end=call.detail_end,
        detail_of=call.detail_of,
        full_output=_flat(call.full_output or ""),
    )
    notes = list(shown.notes if expanded or call.by_user else shown.notes[:1])
    if shown.hidden and key and call.detail.removesuffix("\n").count("\n") >= len(shown.lines):
        notes[0] += f" ({key})"
    below = [hanging(Content.styled("  … ", MUTED), Content.styled(note, MUTED), width) for note in notes]
    between = [below.pop(0)] if shown.hidden else []
    first, last = (_detail_lines(lines, width, wrapped=expanded) for lines in (shown.lines, shown.last))
    return [*first, *between, *last, *below]


def _error_lines(text: str, width: int, *, expanded: bool, key: str) -> list[Content]:
    lines = [visible(line[:LONGEST_LINE].rstrip("\r")) for line in text.strip("\n").split("\n")]
    most = len(lines) if expanded else FEW_LINES["error"]
    drawn = [hanging(Content("  "), Content.styled(line, WARNING), width) for line in lines[:most]]
    return [*drawn, *_hidden(len(lines) - most, key)]


def _diff(call: CallEntry, width: int, *, expanded: bool, key: str) -> list[Content]:
    from harness.ui.transcript.diff import diff_content  # with the first diff, not the first paint

    rows = diff_rows(call.detail)
    unknown = max(0, call.detail_of - call.detail.removesuffix("\n").count("\n") - 1)
    most = MOST_LINES if expanded else FEW_LINES["diff"]
    if len(rows) + unknown == most + 1:
        most += 1  # instead of a note that there is one more
    drawn = diff_content(
        with_changed_words(rows, most), path_of_diff(call.detail) or "", width - len(INDENT), wrapped=expanded
    )
    lines = [INDENT + line for row in drawn for line in row.split("\n", allow_blank=True)]
    hidden = max(0, len(rows) - most)
    return [*lines, *_hidden(hidden + unknown, key if hidden else "")]


def _hidden(count: int, key: str) -> list[Content]:
    """A note on the lines that are not shown, with the key that shows them."""
    named = f" ({key})" if key else ""
    return [Content.styled(f"  … {counted(count, 'more line')}{named}", MUTED)] if count > 0 else []


def _live_line(line: str, width: int, *, grows: bool) -> Content:
    """A line of the output of a running command; of one that grows, or has lost its beginning, the end."""
    text, room = visible(line).expandtabs(TAB), max(1, width - 2)
    if (grows or text.startswith("…")) and cell_len(text) > room:
        while cell_len(text) >= room:
            text = text[max(1, (cell_len(text) - room) // 2) :]
        text = f"…{text}"
    return one_line(Content.styled(f"  {text}", MUTED), width)


def _first_and_last(call: CallEntry, *, expanded: bool) -> tuple[int, int]:
    """Lines to show. Of a command that failed the last ones say why."""
    if expanded:
        return MOST_LINES, FEW_LINES["output"]
    if call.by_user:
        return FEW_LINES["own"], 0
    few = FEW_LINES["output"]
    return (few, 0) if call.outcome is ToolOutcome.OK else (0, few)


def _output_lines(call: CallEntry) -> int:
    """Lines of the output of a command; 0 for other calls."""
    if call.tool not in COMMANDS or not call.detail:
        return 0
    return max(call.detail_of, call.detail.removesuffix("\n").count("\n") + 1)


def _detail_lines(lines: Sequence[str], width: int, *, wrapped: bool = False) -> list[Content]:
    """Lines of detail, cut or wrapped at `width`."""
    styled = [Content.styled(visible(line[:LONGEST_LINE].rstrip("\r")).expandtabs(TAB), MUTED) for line in lines]
    if wrapped:
        fits = width - len(INDENT)
        return [
            (INDENT + line).rstrip() if line.cell_length <= fits else hanging(INDENT, line, width) for line in styled
        ]
    return [one_line(INDENT + line, width) for line in styled]


def _flat(text: str) -> str:
    """Text on one line."""
    return " ".join(visible(text[:LONGEST_LINE]).split())
