"""What can go wrong outside a model call or a tool: each error is one sentence for the person.

The sentence names the thing and the remedy. A front end prints it and ends with `exit_code`;
nobody needs a traceback to act on it.
"""


class HarnessError(Exception):
    """Something the person can put right. `str(error)` is one sentence: the thing, what is wrong, the remedy."""

    exit_code: int = 1
    """What the process ends with: 1 failed with a reason, 2 bad usage."""


class SettingsError(HarnessError):
    """A flag, variable or settings file holds something that cannot be used."""

    exit_code = 2


class JournalError(HarnessError):
    """A journal cannot be opened or written."""


class UnknownSession(HarnessError):  # noqa: N818 (reads better where it is raised)
    """No session answers to the given id."""

    exit_code = 2
