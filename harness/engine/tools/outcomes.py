"""What the breaker of a tool counts of a result. The executor classifies; see docs/breakers.md."""

from collections.abc import Iterator

from harness.events import Failure, FailureCategory, ToolOutcome
from harness.policies.breakers.decisions import Finish, Result
from harness.policies.breakers.failure_signature import signature_of
from harness.tools.tool import ToolResult, shorten_line

LAST_LINES = 20
"""How far from its end an output is searched for the cause: programs name it last."""


def finish_of(result: ToolResult, tool: str, part: str = "", *, count_errors: bool) -> Result:
    """A failure where the tool itself failed; anything else says nothing against it.

    Args:
        part: what of the tool failed, if it did; empty: the tool itself.
        count_errors: also a plain no of the tool counts, such as a failed test or a missing file.
    """
    match result.outcome:
        case ToolOutcome.BROKEN:
            # Every tool of ours names a category; one of somebody else's may not.
            return _failure(result.category or FailureCategory.CRASHED, result, tool, part)
        case ToolOutcome.ERROR if count_errors:
            return _failure(FailureCategory.REFUSED, result, tool, part)
        case ToolOutcome.DENIED:
            return Finish.DENIED
        case ToolOutcome.INVALID:
            return Finish.INVALID
        case ToolOutcome.CANCELLED | ToolOutcome.SKIPPED:
            return Finish.CANCELLED
        case ToolOutcome.OK | ToolOutcome.ERROR:
            return Finish.OK


def _failure(category: FailureCategory, result: ToolResult, tool: str, part: str) -> Failure:
    signatures = (signature_of(category, line, tool) for line in _telling(result))
    message = shorten_line(result.summary or result.content)
    return Failure(category, message, next(filter(None, signatures), ""), part)


def _telling(result: ToolResult) -> Iterator[str]:
    """The lines that may name the cause, the likeliest first."""
    first, _, rest = result.content.partition("\n")
    begins = result.summary.removesuffix(" …")
    # A summary that is only the start of the text may be cut before the cause: "a/long/path: Input/out …".
    yield first if first.startswith(begins) else result.summary
    yield from reversed((first, *rest.splitlines())[-LAST_LINES:])
