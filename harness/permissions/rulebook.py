"""The rules of a session, and what they say about a call. Pure: what only the disk knows comes with the request."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.hooks import Verdict
from harness.permissions.decision import PermissionRequest
from harness.permissions.disk import Contents, Disk, Questions
from harness.permissions.needs import Need, NeedKind, needs_of, questions_of
from harness.permissions.offers import offer
from harness.permissions.protected_places import Surroundings, leads_to
from harness.permissions.rules import READ, Match, PermissionRule, Scope, parse_rule
from harness.permissions.variables import harmless_assignment


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the rules, and what is known of commands, say about a call. Every text names the part that decided."""

    denied: str = ""
    """A rule denies it."""
    perhaps_denied: str = ""
    """It cannot be told whether a rule denies it."""
    asked: str = ""
    """A rule wants a person to be asked."""
    dangers: tuple[str, ...] = ()
    """Each part that is asked about although a pattern may allow it, and why."""
    missing: str = ""
    """What nobody has allowed yet; empty where all of it is allowed."""
    allowed: str = ""
    """Why, where nothing is missing."""
    by_rule: bool = False
    offers: tuple[str, ...] = ()
    """Rules that together would have allowed what is missing; none where that cannot be said in rules."""


@dataclass(frozen=True, slots=True)
class _Problem:
    """What is the matter with a path or a command."""

    why: str
    patterns: bool = True
    """A rule with a wildcard can allow it."""


class RuleBook:
    """Rules in an order that does not matter: deny beats ask, ask beats allow."""

    def __init__(self, around: Surroundings, rules: Iterable[PermissionRule] = ()) -> None:
        self.around = around
        self._rules = tuple(rules)

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """All rules, in the order in which they came."""
        return self._rules

    def parse(self, verdict: Verdict, text: str, scope: Scope) -> PermissionRule:
        """A rule for these surroundings. Raises RuleError."""
        return parse_rule(verdict, text, self.around, scope)

    def add(self, rule: PermissionRule) -> None:
        """Go by this rule as well."""
        if rule not in self._rules:
            self._rules = (*self._rules, rule)

    def remove(self, rule: PermissionRule) -> None:
        """Do not go by this rule any longer."""
        self._rules = tuple(one for one in self._rules if one != rule)

    def questions(self, request: PermissionRequest) -> Questions:
        """What has to be looked up on the disk before `judge` knows all it could."""
        asked = questions_of(needs_of(request, self.around))
        if any(rule.verdict is not Verdict.ALLOW and rule.subject == READ for rule in self._rules):
            return asked
        return replace(asked, trees=frozenset(tree for tree in asked.trees if not tree.changes))

    def matters(self, path: str) -> bool:
        """A file found in a folder, by its real absolute path, has to be named in the answer to `questions`."""
        return self.around.key_inside(path) or self.withholds(path)

    def withholds(self, path: str) -> bool:
        """A rule keeps a search out of this file: it denies reading it, or wants a person to be asked."""
        return any(rule.verdict is not Verdict.ALLOW and rule.touches_read(path) for rule in self._rules)

    def judge(self, request: PermissionRequest) -> Judgement:
        """What is to be said about a call."""
        needs, disk = needs_of(request, self.around), request.disk
        denied = self._met(Verdict.DENY, needs, disk, Match.YES)
        if denied:
            return Judgement(denied=denied)
        missing: list[tuple[Need, _Problem]] = []
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
        return Judgement(
            perhaps_denied=self._met(Verdict.DENY, needs, disk, Match.MAYBE),
            asked=self._met(Verdict.ASK, needs, disk, Match.YES) or self._met(Verdict.ASK, needs, disk, Match.MAYBE),
            dangers=tuple(dangers),
            missing=_missing(missing, request),
            allowed=used[0].told() + " allows it" if used else "it only looks",
            by_rule=bool(used),
            offers=() if None in offers else tuple(dict.fromkeys(filter(None, offers))),
        )

    def _met(self, verdict: Verdict, needs: tuple[Need, ...], disk: Disk, wanted: Match) -> str:
        for rule in self._rules:
            if rule.verdict is not verdict:
                continue
            for need in needs:
                if rule.meets(need, disk) is wanted:
                    link = "is about" if wanted is Match.YES else "may be about"
                    return f"{rule.told()} {link} {_quoted(need)}"
        return ""

    def _covering(self, need: Need, disk: Disk, problem: _Problem) -> PermissionRule | None:
        for rule in self._rules:
            if rule.verdict is Verdict.ALLOW and rule.covers(need, disk) and (problem.patterns or rule.exact):
                return rule
        return None

    def _problem(self, need: Need, disk: Disk) -> _Problem | None:
        """Why a need is not met by itself; None where it is."""
        if need.dangers:
            return _Problem("; ".join(need.dangers), patterns=False)
        match need.kind:
            case NeedKind.UNREADABLE:
                return _Problem(need.shown)
            case NeedKind.COMMAND if need.shows:
                return _Problem(f"it uses {', '.join(f'${name}' for name in need.shows)}, which may hold a secret")
            case NeedKind.COMMAND:
                return None if need.looks or need.implied else _command_problem(need)
            case NeedKind.TOOL:
                return _Problem("")
            case NeedKind.PROGRAM:
                found = disk.programs.intersection(need.paths)
                return _Problem(f"{self.around.shown(min(found))} would run") if found else None
            case NeedKind.REPOSITORY:
                why = next(filter(None, (disk.repositories.get(path, "") for path in need.paths)), "")
                return _Problem(f"the configuration of the repository may run a program: {why}") if why else None
            case NeedKind.ADDRESSES:
                key = next(filter(None, (disk.addresses.get(path, "") for path in need.paths)), "")
                return _Problem(f"it shows the password in {key} of the repository", patterns=False) if key else None
            case _:
                return self._path_problem(need, disk)

    def _path_problem(self, need: Need, disk: Disk) -> _Problem | None:
        if not need.paths:
            return None if need.looks else _Problem("which file that is, is not known")
        leads = tuple(lead for path in need.paths for lead in leads_to(path, disk))
        real = tuple(lead for path in need.paths for lead in disk.places.get(path) or leads_to(path, disk)[:1])
        outside = (need.shell or not need.held) and not all(map(self.around.inside, real))
        if need.pattern and (odd := _odd_match(need, disk)):
            return _Problem(odd)
        match need.kind:
            case NeedKind.LIST:
                return _Problem("it is outside the workspace") if outside else self._tree_problem(need, disk)
            case NeedKind.READ | NeedKind.TREE | NeedKind.EXECUTE:
                if self.around.key(leads):
                    return _Problem("a place for keys", patterns=False)
                return _Problem("it is outside the workspace") if outside else self._tree_problem(need, disk)
            case _ if self.around.protected(leads):
                return _Problem("a protected place, for keys or for what others run by themselves", patterns=False)
            case NeedKind.TOUCH:
                return None
            case _ if outside:
                return _Problem("it is outside the workspace", patterns=self._named_outside(need, disk))
            case _:
                return None if need.implied else _Problem("")

    def _tree_problem(self, need: Need, disk: Disk) -> _Problem | None:
        """What is the matter with the files below a folder."""
        for tree in need.trees:
            if tree.changes:
                continue
            contents = disk.trees.get(tree, Contents(complete=False))
            if not contents.complete:
                return _Problem("which files it reads there, is not known")
            if need.listed and contents.odd:
                return _Problem(f"the name {contents.odd!r} would be taken for something else")
            if need.kind is NeedKind.LIST:
                continue
            if keys := [file for file in contents.files if self.around.key_inside(file)]:
                return _Problem(f"it reads {self.around.shown(keys[0])}, a place for keys", patterns=False)
            if not all(map(self.around.inside, contents.files)):
                return _Problem("a link leads outside the workspace")
        return None

    def _named_outside(self, need: Need, disk: Disk) -> bool:
        """A rule about writing names this very place, so that its pattern may count."""
        return any(
            rule.verdict is Verdict.ALLOW
            and rule.path is not None
            and not self.around.inside(rule.path.folder)
            and rule.path.folder != "/"
            and rule.covers(need, disk)
            for rule in self._rules
        )


def _odd_match(need: Need, disk: Disk) -> str:
    """What is the matter with the names that fit a pattern; empty: nothing."""
    for path in need.paths:
        matches = disk.matches.get(path)
        if matches is None:
            return "which files that are, is not known"
        start = len(path) - len(need.shown) if path.endswith(f"/{need.shown}") else 0  # what is in front is literal
        for match in matches:
            if need.turning and match[start:].startswith("-"):
                return f"the name {match[start:]} would be taken for an option"
            if need.listed and re.search(r"[\s*?\[\\]", match):
                return f"the name {match[start:]!r} would be taken for several"
    return ""


def _command_problem(need: Need) -> _Problem:
    sets = [one.name for one in need.assignments if not harmless_assignment(one)]
    return _Problem(f"it sets {', '.join(sets)}" if sets else "")


def _quoted(need: Need) -> str:
    match need.kind:
        case NeedKind.UNREADABLE:
            return f"this line, which cannot be read: {need.shown}"
        case NeedKind.TOOL:
            return need.tool
        case _:
            shown = " ".join(need.shown.split())
            return f"`{shown if len(shown) <= 80 else shown[:79] + '…'}`"


def _missing(missing: list[tuple[Need, _Problem]], request: PermissionRequest) -> str:
    """The parts that nobody has allowed, in words; "the call" where that is all of it."""
    if not missing:
        return ""
    need, problem = missing[0]
    if need.kind is NeedKind.UNREADABLE:
        return f"the line, which cannot be read: {need.shown}"
    whole = need.kind is NeedKind.TOOL or need.shown.strip() == str(request.input.get("command", "")).strip()
    if len(missing) == 1 and whole and not problem.why:
        return "the call"
    parts = dict.fromkeys(_quoted(need) + (f" ({problem.why})" if problem.why else "") for need, problem in missing[:3])
    return ", ".join(parts) + (" and more" if len(missing) > 3 else "")
