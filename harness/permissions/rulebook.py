"""The rules of a session applied to a call. Pure: facts from the disk come with the request."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.hooks import Verdict
from harness.permissions.decision import PermissionRequest
from harness.permissions.disk import Disk, DiskQuestions, TreeContents
from harness.permissions.needs import Requirement, RequirementKind, questions_of, requirements_of
from harness.permissions.offers import offer
from harness.permissions.protected_places import Surroundings, leads_to
from harness.permissions.rules import READ, PermissionRule, RuleMatch, RuleScope, parse_rule
from harness.permissions.variables import harmless_assignment


@dataclass(frozen=True, slots=True)
class RuleVerdict:
    """The verdict of rules and command tables on a call. Every text names the part that decided."""

    denied: str = ""
    """A rule denies it."""
    perhaps_denied: str = ""
    """A rule may deny it; that cannot be determined."""
    asked: str = ""
    """A rule requires a question."""
    dangers: tuple[str, ...] = ()
    """Each part that needs confirmation even if a pattern allows it, and why."""
    missing: str = ""
    """The parts that are not allowed yet; empty: all are."""
    allowed: str = ""
    """The reason if nothing is missing."""
    by_rule: bool = False
    offers: tuple[str, ...] = ()
    """Rules that together would have allowed the missing parts, if rules can express it."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """Why a path or a command is not allowed."""

    why: str
    patterns: bool = True
    """A rule with a wildcard can allow it."""


class RuleBook:
    """A set of rules; their order does not matter: deny beats ask, ask beats allow."""

    def __init__(self, around: Surroundings, rules: Iterable[PermissionRule] = ()) -> None:
        self.around = around
        self._rules = tuple(rules)

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """All rules, in the order they were added."""
        return self._rules

    def parse(self, verdict: Verdict, text: str, scope: RuleScope) -> PermissionRule:
        """A rule for these surroundings. Raises RuleError."""
        return parse_rule(verdict, text, self.around, scope)

    def add(self, rule: PermissionRule) -> None:
        """Add a rule."""
        if rule not in self._rules:
            self._rules = (*self._rules, rule)

    def remove(self, rule: PermissionRule) -> None:
        """Remove a rule."""
        self._rules = tuple(one for one in self._rules if one != rule)

    def questions(self, request: PermissionRequest) -> DiskQuestions:
        """The facts that `judge` needs from the disk."""
        asked = questions_of(requirements_of(request, self.around))
        if any(rule.verdict is not Verdict.ALLOW and rule.subject == READ for rule in self._rules):
            return asked
        return replace(asked, trees=frozenset(tree for tree in asked.trees if not tree.changes))

    def matters(self, path: str) -> bool:
        """Whether the answer to `questions` must name a file found in a folder; takes its real absolute path."""
        return self.around.key_inside(path) or self.withholds(path)

    def withholds(self, path: str) -> bool:
        """Whether a rule excludes this file from searches: it denies reading it or requires a question."""
        return any(rule.verdict is not Verdict.ALLOW and rule.touches_read(path) for rule in self._rules)

    def judge(self, request: PermissionRequest) -> RuleVerdict:
        """The verdict on a call."""
        needs, disk = requirements_of(request, self.around), request.disk
        denied = self._met(Verdict.DENY, needs, disk, RuleMatch.YES)
        if denied:
            return RuleVerdict(denied=denied)
        missing: list[tuple[Requirement, _Problem]] = []
        dangers: dict[str, None] = {}
        used: list[PermissionRule] = []
        for need in needs:
            problem = self._problem(need, disk)
            if problem is None:
                continue
            covering = self._covering(need, disk, problem)
            if covering is not None:
                used.append(covering)
                continue
            missing.append((need, problem))
            if not problem.patterns:
                dangers |= dict.fromkeys(f"{_quoted(need)}: {why}" for why in need.dangers or (problem.why,))
        offers = [] if dangers else [offer(need, self.around) for need, _ in missing]
        return RuleVerdict(
            perhaps_denied=self._met(Verdict.DENY, needs, disk, RuleMatch.MAYBE),
            asked=self._met(Verdict.ASK, needs, disk, RuleMatch.YES)
            or self._met(Verdict.ASK, needs, disk, RuleMatch.MAYBE),
            dangers=tuple(dangers),
            missing=_missing(missing, request),
            allowed=used[0].told() + " allows it" if used else "it is read-only",
            by_rule=bool(used),
            offers=() if None in offers else tuple(dict.fromkeys(filter(None, offers))),
        )

    def _met(self, verdict: Verdict, needs: tuple[Requirement, ...], disk: Disk, wanted: RuleMatch) -> str:
        for rule in self._rules:
            if rule.verdict is not verdict:
                continue
            for need in needs:
                if rule.meets(need, disk) is wanted:
                    link = "is about" if wanted is RuleMatch.YES else "may be about"
                    return f"{rule.told()} {link} {_quoted(need)}"
        return ""

    def _covering(self, need: Requirement, disk: Disk, problem: _Problem) -> PermissionRule | None:
        for rule in self._rules:
            if rule.verdict is Verdict.ALLOW and rule.covers(need, disk) and (problem.patterns or rule.exact):
                return rule
        return None

    def _problem(self, need: Requirement, disk: Disk) -> _Problem | None:
        """Why a requirement is not met without a rule; None if it is."""
        if need.dangers:
            return _Problem("; ".join(need.dangers), patterns=False)
        match need.kind:
            case RequirementKind.UNREADABLE:
                return _Problem(need.shown)
            case RequirementKind.COMMAND if need.shows:
                return _Problem(f"it uses {', '.join(f'${name}' for name in need.shows)}, which may hold a secret")
            case RequirementKind.COMMAND:
                return None if need.looks or need.implied else _command_problem(need)
            case RequirementKind.TOOL:
                return _Problem("")
            case RequirementKind.PROGRAM:
                found = disk.programs.intersection(need.paths)
                return _Problem(f"{self.around.shown(min(found))} would run") if found else None
            case RequirementKind.REPOSITORY:
                why = next(filter(None, (disk.repositories.get(path, "") for path in need.paths)), "")
                return _Problem(f"the configuration of the repository may run a program: {why}") if why else None
            case RequirementKind.ADDRESSES:
                key = next(filter(None, (disk.addresses.get(path, "") for path in need.paths)), "")
                return _Problem(f"it shows the password in {key} of the repository", patterns=False) if key else None
            case _:
                return self._path_problem(need, disk)

    def _path_problem(self, need: Requirement, disk: Disk) -> _Problem | None:
        if not need.paths:
            return None if need.looks else _Problem("the file is not known")
        leads = tuple(lead for path in need.paths for lead in leads_to(path, disk))
        real = tuple(lead for path in need.paths for lead in disk.places.get(path) or leads_to(path, disk)[:1])
        outside = (need.shell or not need.held) and not all(map(self.around.inside, real))
        if need.pattern and (odd := _odd_match(need, disk)):
            return _Problem(odd)
        match need.kind:
            case RequirementKind.LIST:
                return _Problem("it is outside the workspace") if outside else self._tree_problem(need, disk)
            case RequirementKind.READ | RequirementKind.TREE | RequirementKind.EXECUTE:
                if self.around.key(leads):
                    return _Problem("a place for keys", patterns=False)
                return _Problem("it is outside the workspace") if outside else self._tree_problem(need, disk)
            case _ if self.around.protected(leads):
                return _Problem(
                    "a protected place, for keys or for files that other programs run or obey", patterns=False
                )
            case RequirementKind.TOUCH:
                return None
            case _ if outside:
                return _Problem("it is outside the workspace", patterns=self._named_outside(need, disk))
            case _:
                return None if need.implied else _Problem("")

    def _tree_problem(self, need: Requirement, disk: Disk) -> _Problem | None:
        """Why the files below a folder are not allowed."""
        for tree in need.trees:
            if tree.changes:
                continue
            contents = disk.trees.get(tree, TreeContents(complete=False))
            if not contents.complete:
                return _Problem("the files it reads there are not known")
            if need.listed and contents.odd:
                return _Problem(f"the name {contents.odd!r} would be misread")
            if need.kind is RequirementKind.LIST:
                continue
            if keys := [file for file in contents.files if self.around.key_inside(file)]:
                return _Problem(f"it reads {self.around.shown(keys[0])}, a place for keys", patterns=False)
            if not all(map(self.around.inside, contents.files)):
                return _Problem("a link leads outside the workspace")
        return None

    def _named_outside(self, need: Requirement, disk: Disk) -> bool:
        """A write rule names this place explicitly, so its pattern counts."""
        return any(
            rule.verdict is Verdict.ALLOW
            and rule.path is not None
            and not self.around.inside(rule.path.folder)
            and rule.path.folder != "/"
            and rule.covers(need, disk)
            for rule in self._rules
        )


def _odd_match(need: Requirement, disk: Disk) -> str:
    """Why the names that match a pattern are not allowed; empty: they are."""
    for path in need.paths:
        matches = disk.matches.get(path)
        if matches is None:
            return "which files that are, is not known"
        start = len(path) - len(need.shown) if path.endswith(f"/{need.shown}") else 0  # what is in front is literal
        for match in matches:
            if need.turning and match[start:].startswith("-"):
                return f"the name {match[start:]} would be read as an option"
            if need.listed and re.search(r"[\s*?\[\\]", match):
                return f"the name {match[start:]!r} would be read as several"
    return ""


def _command_problem(need: Requirement) -> _Problem:
    sets = [one.name for one in need.assignments if not harmless_assignment(one)]
    return _Problem(f"it sets {', '.join(sets)}" if sets else "")


def _quoted(need: Requirement) -> str:
    match need.kind:
        case RequirementKind.UNREADABLE:
            return f"this line, which cannot be read: {need.shown}"
        case RequirementKind.TOOL:
            return need.tool
        case _:
            shown = " ".join(need.shown.split())
            return f"`{shown if len(shown) <= 80 else shown[:79] + '…'}`"


def _missing(missing: list[tuple[Requirement, _Problem]], request: PermissionRequest) -> str:
    """The missing parts in words; "the call" if it is all of it."""
    if not missing:
        return ""
    need, problem = missing[0]
    if need.kind is RequirementKind.UNREADABLE:
        return f"the line, which cannot be read: {need.shown}"
    whole = need.kind is RequirementKind.TOOL or need.shown.strip() == str(request.input.get("command", "")).strip()
    if len(missing) == 1 and whole and not problem.why:
        return "the call"
    parts = dict.fromkeys(_quoted(need) + (f" ({problem.why})" if problem.why else "") for need, problem in missing[:3])
    return ", ".join(parts) + (" and more" if len(missing) > 3 else "")
