"""Errors outside a model call or a tool. Each is one sentence for the user, with the remedy; front ends print it and
exit with `exit_code`.
"""


class HarnessError(Exception):
    """An error that the user can fix. `str(error)` is one sentence: subject, problem, remedy."""

    exit_code: int = 1
    """Exit code of the process: 1 failed with a reason, 2 bad usage."""


class SettingsError(HarnessError):
    """A flag, variable or settings file holds something that cannot be used."""

    exit_code = 2


class JournalError(HarnessError):
    """A journal cannot be opened or written."""


class UnknownSession(HarnessError):  # noqa: N818 (reads better where it is raised)
    """No session has the given id."""

    exit_code = 2
