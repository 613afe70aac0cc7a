"""Entries as text for the screen. A line of one entry is never wider than the screen.

Colour is kept for what needs a look: what failed and is dealt with is a warning, and nothing but the end of a turn
that failed is red, and what a change removes. Everything that colour says a mark or a word says as well.
"""

from collections.abc import Sequence

from textual.content import Content

from harness.base.terminal_text import visible
from harness.session import report_lines
from harness.ui.lines.events import thought
from harness.ui.lines.line import Line, Tone
from harness.ui.lines.loop_report import stuck_lines
from harness.ui.lines.outcomes import ending_line
from harness.ui.transcript.call_lines import call_content
from harness.ui.transcript.entries import Answer, Call, Ended, Entry, Listed, Note, Paused, Said, Shown, Stuck, Thinking
from harness.ui.transcript.wrap import FAILED, MUTED, WARNING, hanging, listing_content, one_line

TONES = {Tone.QUIET: MUTED, Tone.TROUBLE: WARNING, Tone.BAD: WARNING}
ENDS = TONES | {Tone.BAD: FAILED}
MOST_SAID, FEW_SAID = 16, 10
"""A prompt of more lines than the first is shown with so many as the second says, until it is expanded."""
YOU = "bold $accent"
WORDS = Said | Answer | Shown | Listed | Paused | Stuck


def entry_content(entry: Entry, width: int, *, expanded: bool = False, now: float = 0.0) -> Content:
    """How an entry looks.

    Args:
        width: cells of a line.
        expanded: show what stands behind a call or a thought as well.
        now: Unix time, for how long a call has been running; 0: do not say.
    """
    match entry:
        case Said(text=text, shell=shell):
            sign = Content.styled("you ! " if shell else "you ▸ ", YOU)
            return hanging(sign, Content(visible(text)) if expanded else _beginning(text), width)
        case Answer(text=text):
            from harness.ui.transcript.markdown import markdown_content  # with the first answer, not the first paint

            return markdown_content(text, width)
        case Thinking():
            return _thinking(entry, width, expanded)
        case Call():
            return call_content(entry, width, expanded=expanded, now=now)
        case Note(line=line):
            return _line(line, width, TONES[line.tone], "" if line.tone is not Tone.QUIET else MUTED)
        case Shown(text=text):
            return hanging(Content(""), Content(visible(text)), width)
        case Listed(groups=groups):
            return listing_content(groups, width)
        case Paused(report=report):
            return _report(report_lines(report, width), width)
        case Stuck(report=report):
            return _report(stuck_lines(report, width), width)
        case Ended(end=end):
            line = ending_line(end)
            return _line(line, width, ENDS[line.tone], ENDS[line.tone])


def _beginning(text: str) -> Content:
    """What was typed; of something long that was pasted the first lines."""
    lines = text.split("\n")
    if len(lines) <= MOST_SAID:
        return Content(visible(text))
    left = len(lines) - FEW_SAID
    return Content.assemble(visible("\n".join(lines[:FEW_SAID])), (f"\n… {left:,} more lines", MUTED))


def set_off(above: Entry, below: Entry) -> bool:
    """Whether a blank line belongs between two entries: words stand apart, calls and notes together."""
    match above, below:
        case (_, Ended()) | (Said(shell=True), Call()):
            return False
        case (Ended(), _):
            return True
        case _:
            return isinstance(above, WORDS) or isinstance(below, WORDS)


def _line(line: Line, width: int, of_mark: str, of_text: str) -> Content:
    text = " ".join(visible(line.text).split())
    mark = f"{visible(line.mark)} " if line.mark else ""
    return hanging(Content.styled(mark, of_mark), Content.styled(text, of_text), width)


def _thinking(entry: Thinking, width: int, expanded: bool) -> Content:
    words = thought(entry.duration_s, entry.tokens) if entry.done else "thinking …"
    head = one_line(Content.styled(f"· {words}", MUTED), width)
    if not expanded or not entry.text.strip():
        return head
    text = Content.styled(visible(entry.text.strip()), "italic dim")
    return Content("\n").join([head, hanging(Content("  "), text, width)])


def _report(report: Sequence[str], width: int) -> Content:
    first, *others = report
    head = Content.styled(visible(first), f"bold {WARNING}")
    lines = [head, *(Content(visible(line)) for line in others)]
    return hanging(Content(""), Content("\n").join(lines), width)
