"""The permission gate as a session has it: the real rules, and the real look at the disk."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.engine.permissions.disk_lookup import disk_of
from harness.permissions import (
    Decision,
    Mode,
    PermissionRequest,
    Permissions,
    RuleBook,
    RuleScope,
    Surroundings,
    Verdict,
)
from harness.permissions.shell.syntax import BASH, Dialect
from harness.sandbox import Profile
from harness.tools.tool import Effect


class CommandGate:
    """Decides command lines in a workspace."""

    def __init__(
        self,
        workspace: Path,
        home: Path,
        mode: Mode = Mode.ASK,
        rules: Mapping[str, Sequence[str]] | None = None,
        *,
        dialect: Dialect = BASH,
        sandbox: Profile | None = None,
    ) -> None:
        """`rules`: texts of rules under "allow", "ask" and "deny". `dialect`: of the shell that runs the lines.
        `sandbox`: what the profile WORK grants in a full sandbox; None: there is none."""
        book = RuleBook(Surroundings(str(workspace.resolve()), str(home.resolve()), dialect=dialect))
        for verdict, texts in (rules or {}).items():
            for text in texts:
                book.add(book.parse(Verdict(verdict), text, RuleScope.SETTINGS))
        self._permissions = Permissions(mode, book=book)
        self._sandbox = sandbox

    def decide(self, line: str) -> Decision:
        """What the gate decides about a command line."""
        request = PermissionRequest("1", "bash", Effect.RUN, line, line, {"command": line}, sandbox=self._sandbox)
        return self._permissions.decide(replace(request, disk=disk_of(self._permissions, request)))
