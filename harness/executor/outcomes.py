"""What the breaker of a tool counts of a result. The executor classifies; the breakers believe it (resilience A5)."""

from harness.breakers.decisions import Finish, Result
from harness.breakers.signature import signature_of
from harness.events import Failure, FailureCategory, ToolOutcome
from harness.tools.tool import ToolResult


def finish_of(result: ToolResult, tool: str, *, count_errors: bool) -> Result:
    """A failure where the tool itself failed; anything else says nothing against it (resilience Q3).

    `count_errors`: also a plain no of the tool counts, such as a failed test or a missing file.
    """
    match result.outcome:
        case ToolOutcome.BROKEN:
            return _failure(result.category or FailureCategory.CRASHED, result, tool)
        case ToolOutcome.ERROR if count_errors:
            return _failure(FailureCategory.REFUSED, result, tool)
        case ToolOutcome.DENIED:
            return Finish.DENIED
        case ToolOutcome.INVALID:
            return Finish.INVALID
        case ToolOutcome.CANCELLED | ToolOutcome.SKIPPED:
            return Finish.CANCELLED
        case ToolOutcome.OK | ToolOutcome.ERROR:
            return Finish.OK


def _failure(category: FailureCategory, result: ToolResult, tool: str) -> Failure:
    said = result.summary or result.content
    return Failure(category, said, signature_of(category, said, tool))
