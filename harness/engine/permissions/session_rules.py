"""The rules of a session: where they come from, and how a person changes them."""

import logging
import os
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError, SettingsError
from harness.permissions import (
    Allow,
    Answer,
    Deny,
    Mode,
    PermissionRequest,
    PermissionRule,
    Permissions,
    RuleBook,
    RuleError,
    Scope,
    Surroundings,
    Verdict,
)
from harness.permissions.shell.words import BASH, PORTABLE, Dialect
from harness.settings import Settings
from harness.settings.rules_file import PermissionFile
from harness.tools.bash import shell_command


def surroundings_of(workspace: Path) -> Surroundings:
    """Where a session works, links resolved."""
    root = workspace.expanduser().resolve()
    search = [(root / folder).resolve() for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)]
    # asdf runs what .tool-versions names, also a program of the folder.
    decided = (folder for folder in search if folder.is_relative_to(root) or folder.parts[-2:] == (".asdf", "shims"))
    inside = tuple(dict.fromkeys(map(str, decided)))
    dialect: Dialect = BASH if shell_command("")[0].endswith("bash") else PORTABLE
    return Surroundings(str(root), str(Path.home().resolve()), inside, dialect)


class Granting:
    """The permissions of a session together with the file of what the person keeps."""

    def __init__(self, settings: Settings, log: logging.Logger) -> None:
        """Raises SettingsError for a rule or a file that cannot be used."""
        self._log = log
        self._file = None if settings.permissions_file is None else PermissionFile(settings.permissions_file)
        self._book = RuleBook(surroundings_of(settings.workspace))
        self.permissions = Permissions(Mode(settings.permission_mode), book=self._book)
        given = {
            Verdict.ALLOW: settings.permissions_allow,
            Verdict.ASK: settings.permissions_ask,
            Verdict.DENY: settings.permissions_deny,
        }
        for verdict, rules in given.items():
            for rule in rules:
                self._begin_with(verdict, rule, Scope.SETTINGS, f"permissions_{verdict.value}")
        if self._file is not None:
            for verdict, rules in self._file.read().items():
                for rule in rules:
                    self._begin_with(verdict, rule, Scope.ALWAYS, f"{self._file.path}: {verdict.value}")

    def _begin_with(self, verdict: Verdict, rule: str, scope: Scope, origin: str) -> None:
        try:
            self._book.add(self._parsed(verdict, rule, scope))
        except RuleError as error:
            raise SettingsError(f"Cannot use {origin}: {rule!r} {error}.") from error

    def _parsed(self, verdict: Verdict, text: str, scope: Scope) -> PermissionRule:
        """The rule, and where the folder of its path really is. Raises RuleError."""
        rule = self._book.parse(verdict, text, scope)
        if rule.path is None or rule.path.folder == "/":
            return rule
        return replace(rule, real_folder=str(Path(rule.path.folder).resolve()))

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """All rules that are gone by."""
        return self._book.rules

    def add(self, verdict: str, text: str, *, keep: bool) -> PermissionRule:
        """Go by a rule from now on; `keep`: in later sessions, too. Raises HarnessError, one sentence."""
        if verdict not in tuple(Verdict):
            raise HarnessError(f"A rule cannot {verdict}; it can {', '.join(Verdict)}.")
        try:
            rule = self._parsed(Verdict(verdict), text, Scope.ALWAYS if keep else Scope.SESSION)
        except RuleError as error:
            raise HarnessError(f"{text!r} {error}.") from error
        if keep:
            self._kept_in().add(rule.verdict, rule.text)
        self._book.add(rule)
        return rule

    def remove(self, text: str) -> tuple[PermissionRule, ...]:
        """Do not go by a rule any longer, whatever it says, and do not keep it. Raises HarnessError."""
        plain = "".join(text.split())
        found = [rule for rule in self._book.rules if "".join(rule.text.split()) == plain]
        removable = [rule for rule in found if rule.scope is not Scope.SETTINGS]
        if not found:
            raise HarnessError(f"There is no rule {text!r}; /permissions lists them.")
        if not removable:
            raise HarnessError(f"The rule {text!r} stands in the settings; take it out there.")
        for rule in removable:
            if rule.scope is Scope.ALWAYS:
                self._kept_in().remove(rule.verdict, rule.text)
            self._book.remove(rule)
        return tuple(removable)

    def remember(self, request: PermissionRequest, answer: Answer) -> Allow | Deny:
        """What an answer means, as `Permissions.remember`; what is to be kept is written down.

        A call that was allowed is allowed even if its rule cannot be kept; the decision then says so.
        """
        before = self._book.rules
        decision = self.permissions.remember(request, answer)
        try:
            for rule in self._book.rules:
                if rule not in before and rule.scope is Scope.ALWAYS:
                    self._kept_in().add(rule.verdict, rule.text)
        except HarnessError as error:
            self._log.warning("a rule is not kept: %s", error)
            return Allow(answer.why, by=answer.by, not_kept=f"the rule holds for this session only: {error}")
        return decision

    def _kept_in(self) -> PermissionFile:
        if self._file is None:
            raise HarnessError("There is no file for rules that are kept; set permissions_file.")
        return self._file
