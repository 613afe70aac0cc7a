"""What an exception of a tool says: to its breaker, and about whether to try again."""

from harness.events import ErrorClass, Failure, FailureCategory
from harness.policies.breakers.failure_signature import signature_of
from harness.policies.loops.error_classes import classify


def failure_of(error: Exception, tool: str) -> Failure:
    """What the breaker of a tool counts."""
    category = _category(error)
    text = str(error)
    return Failure(category, text or type(error).__name__, signature_of(category, text, tool))


def class_of(error: Exception) -> ErrorClass:
    """Whether trying again can help: by its type, its numbers and its code; by its text last."""
    status, code = getattr(error, "status", None), getattr(error, "code", None)
    return classify(
        kind=type(error).__name__,
        errno=error.errno if isinstance(error, OSError) else None,
        status=status if isinstance(status, int) else None,
        code=code if isinstance(code, str) else None,
        text=str(error),
    )


def _category(error: Exception) -> FailureCategory:
    match error:
        case TimeoutError():
            return FailureCategory.TIMEOUT
        case ConnectionError():
            return FailureCategory.TRANSPORT
        case FileNotFoundError() | PermissionError():
            return FailureCategory.CANNOT_START
        case OSError():
            return FailureCategory.SYSTEM
    return FailureCategory.TRANSPORT if isinstance(getattr(error, "status", None), int) else FailureCategory.CRASHED
