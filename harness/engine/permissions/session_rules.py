"""The rules of a session: where they come from, and how the user changes them."""

import asyncio
import logging
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.base.errors import HarnessError, SettingsError
from harness.base.files import home_folder
from harness.engine.conversation import ignore
from harness.events import ADDED_FOLDER, Event, SettingChanged
from harness.permissions import (
    Allow,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
    PermissionRule,
    Permissions,
    RuleBook,
    RuleError,
    RuleScope,
    Surroundings,
    Verdict,
)
from harness.permissions.shell.syntax import BASH, PORTABLE, Dialect
from harness.processes.search_path import inside_folders
from harness.sandbox.git_places import main_tree, other_trees
from harness.settings import Settings
from harness.settings.permission_file import HOSTS, PermissionFile
from harness.tools.bash import shell_command
from harness.tools.workspace import PathError, Workspace, added_folder


def surroundings_of(workspace: Path) -> Surroundings:
    """Where a session works, links resolved."""
    root = workspace.expanduser().resolve()
    dialect: Dialect = BASH if shell_command("", root)[0].endswith("bash") else PORTABLE
    programs = inside_folders(os.environ, root)
    return Surroundings(str(root), str(home_folder().resolve()), programs, dialect, apart=other_trees(root))


def added_folders(settings: Settings) -> list[Path]:
    """The folders that settings add to the workspace, links resolved. Raises SettingsError for one that cannot be."""
    try:
        return [added_folder(one) for one in settings.add_dirs]
    except PathError as error:
        raise SettingsError(f"Cannot use --add-dir (add_dirs): {error}") from error


class SessionRules:
    """The permissions of a session, and the file with the rules of the user."""

    def __init__(
        self,
        settings: Settings,
        log: logging.Logger,
        emit: Callable[[Event], None] = ignore,
        own_tools: Collection[str] = (),
    ) -> None:
        """`own_tools`: names of the tools that a program has added. Raises SettingsError for a rule or a file that
        cannot be used."""
        self._emit = emit
        self._log = log
        resolved = settings.workspace.expanduser().resolve()
        folder = str(main_tree(resolved) or resolved)
        self._file = None if settings.permissions_file is None else PermissionFile(settings.permissions_file, folder)
        self._changed = asyncio.Event()
        self._book = RuleBook(surroundings_of(settings.workspace), own_tools=own_tools)
        self.permissions = Permissions(Mode(settings.permission_mode), book=self._book)
        self.workspace = Workspace(settings.workspace)
        """The folders that tools may use as their own."""
        self._trees: dict[Path, Workspace] = {}
        for added in added_folders(settings):
            self._use_folder(added)
        self.before_plan = Mode.ASK if self.mode is Mode.PLAN else self.mode
        """The mode that plan mode gives back when it ends."""
        self._stepping = False
        """The mode was stepped to since the last turn began, perhaps on the way to another."""
        given = {
            Verdict.ALLOW: settings.permissions_allow,
            Verdict.ASK: settings.permissions_ask,
            Verdict.DENY: settings.permissions_deny,
        }
        for verdict, rules in given.items():
            for rule in rules:
                self._begin_with(verdict, rule, RuleScope.SETTINGS, f"permissions_{verdict.value}")
        self.host_scopes = dict.fromkeys(settings.sandbox_hosts, RuleScope.SETTINGS)
        """Hosts that commands in the sandbox reach without a question, and for how long."""
        if self._file is not None:
            saved = self._file.read()
            for host in saved[HOSTS]:
                self.host_scopes.setdefault(host, RuleScope.ALWAYS)
            for verdict in Verdict:
                for rule in saved[verdict]:
                    self._begin_with(verdict, rule, RuleScope.ALWAYS, f"{self._file.path}: {verdict.value}")

    def _begin_with(self, verdict: Verdict, rule: str, scope: RuleScope, origin: str) -> None:
        try:
            self._book.add(self._parsed(verdict, rule, scope))
        except RuleError as error:
            raise SettingsError(f"Cannot use {origin}: {rule!r} {error}.") from error

    def _parsed(self, verdict: Verdict, text: str, scope: RuleScope) -> PermissionRule:
        """The rule, and where the folder of its path really is. Raises RuleError."""
        rule = self._book.parse(verdict, text, scope)
        if rule.path is None or rule.path.folder == "/":
            return rule
        return replace(rule, real_folder=str(Path(rule.path.folder).resolve()))

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """The rules of the settings, of the user's file and of this session."""
        return self._book.rules

    @property
    def hosts(self) -> tuple[str, ...]:
        """Hosts that commands in the sandbox reach without a question."""
        return tuple(self.host_scopes)

    def kept(self, tools: Iterable[str]) -> tuple[str, ...]:
        """Those tools that no rule denies. What the model's server runs passes no check, so it must not be offered."""
        return tuple(tool for tool in tools if not self._book.denies(tool))

    async def changed(self) -> None:
        """Return at the next change of the mode or of a rule."""
        await self._changed.wait()

    def _report(self, setting: str, value: str, *, removed: bool = False) -> None:
        self._emit(SettingChanged(setting, value, removed))
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def mode(self) -> Mode:
        """The mode that decides what no rule decides."""
        return self.permissions.mode

    def begin_turn(self) -> None:
        """The mode is the one that the user wanted."""
        self._stepping = False

    def add_folder(self, folder: Path) -> None:
        """Let tools use a folder like the workspace, from the next call on. Raises HarnessError for a path that is
        none."""
        try:
            resolved = added_folder(folder)
        except PathError as error:
            raise HarnessError(str(error)) from error
        self._use_folder(resolved)
        self._emit(SettingChanged(ADDED_FOLDER, str(resolved)))

    def recall(self, events: Iterable[Event]) -> None:
        """Use the folders again that an earlier run of this session added; those that are gone are left out."""
        for event in events:
            if isinstance(event, SettingChanged) and event.name == ADDED_FOLDER:
                with suppress(PathError):
                    self._use_folder(added_folder(Path(event.value)))

    def _use_folder(self, folder: Path) -> None:
        if not any(map(folder.is_relative_to, self.workspace.roots)):
            self.workspace = replace(self.workspace, added=(*self.workspace.added, folder))
            added = tuple(map(str, self.workspace.added))
            self._book.around = replace(self._book.around, added=added)

    def add_tree(self, root: Path) -> None:
        """Let agents work in another working tree of the repository, by these rules and in no other folder."""
        tree = Workspace(root)
        if tree.root != self.workspace.root and tree.root not in self._trees:
            self._trees[tree.root] = tree
            self._book.add_tree(surroundings_of(tree.root))

    def workspace_at(self, folder: Path | None) -> Workspace:
        """The folders that tools may use for an agent that works there; None: for that of the session."""
        tree = None if folder is None or not self._trees else self._trees.get(folder.resolve())
        return self.workspace if tree is None else replace(tree, added=self.workspace.added)

    def set_mode(self, mode: str, *, stepping: bool = False) -> None:
        """Decide by another mode from the next call on, also in a turn under way.

        `stepping`: it is the next one of a cycle. Raises HarnessError for a mode that does not exist.
        """
        if mode not in tuple(Mode):
            raise HarnessError(f"There is no permission mode {mode}; there are {', '.join(Mode)}.")
        if self.mode is not Mode.PLAN and not (stepping and self._stepping):
            self.before_plan = self.mode
        self._stepping = stepping
        self.permissions.mode = Mode(mode)
        self._report("permission_mode", mode)

    def add(self, verdict: str, text: str, *, keep: bool = False) -> PermissionRule:
        """Add a rule such as "bash(npm run *)" from the next call on.

        Args:
            verdict: allow, ask or deny.
            keep: write it to the file of the user, for later sessions.

        Raises HarnessError for a rule that is not understood or cannot be kept.
        """
        if verdict not in tuple(Verdict):
            raise HarnessError(f"A rule cannot {verdict}; it can {', '.join(Verdict)}.")
        try:
            rule = self._parsed(Verdict(verdict), text, RuleScope.ALWAYS if keep else RuleScope.SESSION)
        except RuleError as error:
            raise HarnessError(f"{text!r} {error}.") from error
        if keep:
            self._kept_in().add(rule.verdict, rule.text)
        self._book.add(rule)
        self._report("permissions", f"{rule.verdict} {rule.text} ({rule.scope})")
        return rule

    def allow_hosts(self, hosts: Iterable[str], *, keep: bool) -> None:
        """Let commands in the sandbox reach these hosts, from now on.

        With `keep` they are saved for later sessions in this folder; raises HarnessError where they cannot be.
        """
        hosts = tuple(hosts)
        self.host_scopes |= dict.fromkeys(hosts, RuleScope.SESSION)
        try:
            for host in hosts if keep else ():
                self._kept_in().add(HOSTS, host, here=True)
                self.host_scopes[host] = RuleScope.ALWAYS
        finally:
            scopes = set(map(self.host_scopes.__getitem__, hosts))
            self._report(HOSTS, f"{', '.join(hosts)} ({'always' if scopes == {RuleScope.ALWAYS} else 'session'})")

    def forget_host(self, host: str) -> None:
        """Ask about a host again, also in later sessions. Raises HarnessError for one that the settings allow."""
        scope = self.host_scopes.get(host)
        if scope is None:
            raise HarnessError(f"{host!r} is not allowed; /sandbox lists the hosts that are.")
        if scope is RuleScope.SETTINGS:
            raise HarnessError(f"{host} is in sandbox_hosts of the settings; remove it there.")
        if scope is RuleScope.ALWAYS:
            self._kept_in().remove(HOSTS, host)
        del self.host_scopes[host]
        self._report(HOSTS, host, removed=True)

    def remove(self, text: str) -> tuple[PermissionRule, ...]:
        """Remove a rule, also from the file of the user. Raises HarnessError for one of the settings."""
        plain = "".join(text.split())
        found = [rule for rule in self._book.rules if "".join(rule.text.split()) == plain]
        removable = [rule for rule in found if rule.scope is not RuleScope.SETTINGS]
        if not found:
            raise HarnessError(f"There is no rule {text!r}; /permissions lists them.")
        if not removable:
            raise HarnessError(f"The rule {text!r} is in the settings; remove it there.")
        for rule in removable:
            if rule.scope is RuleScope.ALWAYS:
                self._kept_in().remove(rule.verdict, rule.text)
            self._book.remove(rule)
            self._report("permissions", f"{rule.verdict} {rule.text}", removed=True)
        return tuple(removable)

    def remember(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow | Deny:
        """What an answer means, as `Permissions.remember`; permanent rules are saved for this folder.

        "edits" changes the mode.

        A call that was allowed is allowed even if its rule cannot be kept; the decision then says so.
        """
        before = self._book.rules
        decision = self.permissions.remember(request, answer)
        if answer.choice == "edits":
            self.set_mode(Mode.EDITS)
        try:
            for rule in self._book.rules:
                if rule not in before and rule.scope is RuleScope.ALWAYS:
                    self._kept_in().add(rule.verdict, rule.text, here=True)
        except HarnessError as error:
            self._log.warning("a rule is not kept: %s", error)
            return Allow(answer.why, by=answer.by, not_kept=f"the rule holds for this session only: {error}")
        return decision

    def _kept_in(self) -> PermissionFile:
        if self._file is None:
            raise HarnessError("There is no file for rules that are kept; set permissions_file.")
        return self._file
