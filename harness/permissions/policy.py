"""The decision before a tool call. Pure: no clock, no questions asked here; facts from the disk come with the request.

In this order: rules in code, deny rules, reading, read-only sessions and plan mode, earlier answers of the user, the
mode that allows everything, ask rules, dangers, allow rules and read-only commands, and finally the mode. So deny beats
ask, ask beats allow, and dangerous calls need confirmation in every mode that asks. In plan mode nothing allows a call
that writes: no rule, also not one in code, and no earlier answer. `RuleBook` applies written rules and the knowledge
about commands and places, `Permissions` decides.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from harness.hooks import Verdict
from harness.permissions.decision import (
    Allow,
    Ask,
    DecidedBy,
    Decision,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
)
from harness.permissions.disk import Disk, DiskQuestions, TreeContents
from harness.permissions.held import (
    HeldBy,
    Parts,
    Problem,
    leaves_a_server,
    profile_for,
    real_paths,
    sees_outside,
    what_git_exchanges,
)
from harness.permissions.offers import exact_rule, family_rules
from harness.permissions.protected_places import Surroundings, leads_to
from harness.permissions.requirements import Requirement, RequirementKind, questions_of, requirements_of
from harness.permissions.rules import READ, PermissionRule, RuleError, RuleMatch, RuleScope, parse_rule
from harness.permissions.shell.resolution import base_name
from harness.permissions.shell.syntax import Word
from harness.permissions.variables import harmless_assignment
from harness.sandbox import NOTHING_MORE, Allowance, ProfileName
from harness.tools.tool import Effect

OF_OTHERS = "it is another working tree of this repository, where others work"
_CHANGES_OTHERS = Problem(OF_OTHERS, patterns=False, held=HeldBy.NOTHING)
THE_CALL = "the call"
"""The missing part of a call without parts."""
MOST_PARTS = 3
"""Parts of a call that a reason names."""
MOST_SHORT = 40
"""Characters of a command in a reason; the question shows all of it above."""


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
    """Rules that together would have allowed exactly the missing parts, if rules can express it."""
    family: str = ""
    """One wider rule that would have allowed all of it; empty: none is safe to offer."""
    profile: ProfileName | None = None
    """The profile in which a full sandbox holds it, so that it needs no question; None: there is none."""
    allowance: Allowance = NOTHING_MORE
    """What it may do there beyond the profile."""
    sees_outside: str = ""
    """A program that shows what a sandbox hides; empty: none."""
    reads_files: bool = False
    of_others: str = ""
    """It changes another working tree of the repository, which no mode allows unasked; empty: it does not."""


class RuleBook:
    """A set of rules; their order does not matter: deny beats ask, ask beats allow."""

    def __init__(
        self, around: Surroundings, rules: Iterable[PermissionRule] = (), own_tools: Collection[str] = ()
    ) -> None:
        """`own_tools`: names of tools that a program has added, which rules may name."""
        self.around = around
        self._own_tools = tuple(own_tools)
        self._rules = tuple(rules)
        self._trees: dict[str, tuple[Surroundings, tuple[PermissionRule, ...], RuleBook | None]] = {}
        """Other working trees by their folder: what is around each, and the book made of the rules as they were."""

    @property
    def rules(self) -> tuple[PermissionRule, ...]:
        """All rules, in the order they were added."""
        return self._rules

    def parse(self, verdict: Verdict, text: str, scope: RuleScope) -> PermissionRule:
        """A rule for these surroundings. Raises RuleError."""
        return parse_rule(verdict, text, self.around, scope, self._own_tools)

    def add(self, rule: PermissionRule) -> None:
        """Add a rule."""
        if rule not in self._rules:
            self._rules = (*self._rules, rule)

    def remove(self, rule: PermissionRule) -> None:
        """Remove a rule."""
        self._rules = tuple(one for one in self._rules if one != rule)

    def add_tree(self, around: Surroundings) -> None:
        """Decide calls of agents in another working tree of the repository by the same rules, whose relative paths are
        meant from there."""
        self._trees[around.workspace] = around, (), None

    def at(self, workspace: str) -> "RuleBook":
        """The book for calls of an agent that works in this folder."""
        if workspace not in self._trees:
            return self
        around, rules, book = self._trees[workspace]
        if book is None or rules is not self._rules or book.around.added != self.around.added:
            around = replace(around, added=self.around.added)
            moved = (_moved(rule, self.around.workspace, around, self._own_tools) for rule in self._rules)
            book = RuleBook(around, moved, self._own_tools)
            self._trees[workspace] = around, self._rules, book
        return book

    def of(self, path: str) -> "RuleBook":
        """The book of the working tree that holds this real absolute path."""
        return self.at(next((one for one in self._trees if f"{path}/".startswith(f"{one}/")), ""))

    def denies(self, tool: str) -> bool:
        """Whether a rule denies every call of this tool."""
        return any(rule.verdict is Verdict.DENY and rule.names_tool(tool) for rule in self._rules)

    def questions(self, request: PermissionRequest) -> DiskQuestions:
        """The facts that `judge` needs from the disk."""
        asked = questions_of(requirements_of(request, self.around))
        if any(rule.verdict is not Verdict.ALLOW and rule.subject == READ for rule in self._rules):
            return asked
        return replace(asked, trees=frozenset(tree for tree in asked.trees if not tree.changes))

    def matters(self, path: str) -> bool:
        """Whether the answer to `questions` must name a file found in a folder; takes its real absolute path."""
        book = self.of(path)
        return book.around.key_inside(path) or book.withholds(path)

    def withholds(self, path: str) -> bool:
        """Whether a rule excludes this file from searches: it denies reading it or requires a question."""
        return any(rule.verdict is not Verdict.ALLOW and rule.touches_read(path) for rule in self._rules)

    def judge(self, request: PermissionRequest, *, allowing: bool = True) -> RuleVerdict:
        """The verdict on a call; without `allowing`, as if there were no rules that allow."""
        needs, disk = requirements_of(request, self.around), request.disk
        denied = self._met(Verdict.DENY, needs, disk, RuleMatch.YES)
        if denied:
            return RuleVerdict(denied=denied)
        missing: list[tuple[Requirement, Problem]] = []
        dangers: dict[str, None] = {}
        used: list[PermissionRule] = []
        parts = [(need, self._problem(need, disk)) for need in needs]
        for need, problem in parts:
            if problem is None:
                continue
            covering = self._covering(need, disk, problem) if allowing else None
            if covering is not None:
                used.append(covering)
                continue
            missing.append((need, problem))
            if not problem.patterns:
                dangers |= dict.fromkeys(f"{_quoted(need)}: {why}" for why in need.dangers or (problem.why,))
        offers = [] if dangers else [self._sound(exact_rule(need, self.around), need, disk) for need, _ in missing]
        return RuleVerdict(
            perhaps_denied=self._met(Verdict.DENY, needs, disk, RuleMatch.MAYBE),
            asked=self._met(Verdict.ASK, needs, disk, RuleMatch.YES)
            or self._met(Verdict.ASK, needs, disk, RuleMatch.MAYBE),
            dangers=tuple(dangers),
            missing=_missing(missing),
            allowed=used[0].described() + " allows it" if used else "it is read-only",
            by_rule=bool(used),
            offers=() if None in offers else tuple(dict.fromkeys(filter(None, offers))),
            family=self._family(missing[0][0], request) if len(missing) == 1 and not dangers else "",
            profile=self._profile(request, parts),
            allowance=what_git_exchanges(parts, request.sandbox, self.around, disk)
            if request.sandbox
            else NOTHING_MORE,
            sees_outside=sees_outside(parts),
            reads_files=any(need.paths for need in needs),
            of_others=next((f"{_quoted(one)}: {OF_OTHERS}" for one, why in missing if why is _CHANGES_OTHERS), ""),
        )

    def _profile(self, request: PermissionRequest, parts: Parts) -> ProfileName | None:
        if request.sandbox is None or request.tool != SHELL:
            return None
        profile = profile_for(parts, request.sandbox, self.around, request.disk)
        # A server in a sandbox has ports of its own, which nobody else reaches.
        server = request.input.get("background") is True or leaves_a_server(str(request.input.get("command")), parts)
        return None if server and profile is ProfileName.WORK else profile

    def _family(self, need: Requirement, request: PermissionRequest) -> str:
        """The narrowest wider rule that covers all that is missing of a call; none for chains of commands."""
        command = str(request.input.get("command", ""))
        if need.kind is RequirementKind.COMMAND and not _is_plain(need, command):
            return ""
        found = (self._sound(text, need, request.disk) for text in family_rules(need, self.around))
        return next(filter(None, found), "")

    def _sound(self, text: str | None, need: Requirement, disk: Disk) -> str | None:
        """The rule if it really covers what it is offered for; None for a name that no rule can hold."""
        try:
            rule = None if text is None else self.parse(Verdict.ALLOW, text, RuleScope.SESSION)
        except RuleError:
            return None
        return text if rule is not None and rule.covers(need, disk) else None

    def _met(self, verdict: Verdict, needs: tuple[Requirement, ...], disk: Disk, wanted: RuleMatch) -> str:
        for rule in self._rules:
            if rule.verdict is not verdict:
                continue
            for need in needs:
                if rule.meets(need, disk) is wanted:
                    link = "is about" if wanted is RuleMatch.YES else "may be about"
                    return f"{rule.described()} {link} {_quoted(need)}"
        return ""

    def _covering(self, need: Requirement, disk: Disk, problem: Problem) -> PermissionRule | None:
        for rule in self._rules:
            if rule.verdict is Verdict.ALLOW and rule.covers(need, disk) and (problem.patterns or rule.exact):
                return rule
        return None

    def _problem(self, need: Requirement, disk: Disk) -> Problem | None:
        """Why a requirement is not met without a rule; None if it is."""
        if self._of_others(need, disk):
            return _CHANGES_OTHERS
        if need.dangers:
            return Problem("; ".join(need.dangers), patterns=False, held=HeldBy.NOTHING)
        match need.kind:
            case RequirementKind.UNREADABLE:
                return Problem(need.shown, held=HeldBy.NOTHING)
            case RequirementKind.COMMAND if need.shows:
                return Problem(f"it uses {', '.join(f'${name}' for name in need.shows)}, which may hold a secret")
            case RequirementKind.COMMAND:
                return None if need.looks or need.implied else _command_problem(need)
            case RequirementKind.TOOL:
                return Problem("", held=HeldBy.NOTHING)
            case RequirementKind.PROGRAM:
                found = disk.programs.intersection(need.paths)
                return Problem(f"{self.around.shown(min(found))} would run") if found else None
            case RequirementKind.REPOSITORY:
                why = next(filter(None, (disk.repositories.get(path, "") for path in need.paths)), "")
                return Problem(f"the configuration of the repository may run a program: {why}") if why else None
            case RequirementKind.ADDRESSES:
                key = next(filter(None, (disk.addresses.get(path, "") for path in need.paths)), "")
                why = f"it shows the password in {key} of the repository"
                return Problem(why, patterns=False, held=HeldBy.NOTHING) if key else None
            case _:
                return self._path_problem(need, disk)

    def _path_problem(self, need: Requirement, disk: Disk) -> Problem | None:
        if not need.paths:
            return None if need.looks else Problem("which file that is, is known only when it runs")
        leads = tuple(lead for path in need.paths for lead in leads_to(path, disk))
        real = real_paths(need, disk)
        outside = (need.shell or not need.held) and not all(map(self.around.inside, real))
        if need.pattern and (odd := _odd_match(need, disk)):
            return Problem(odd)
        elsewhere = "it is outside the workspace"
        match need.kind:
            case RequirementKind.LIST:
                return (
                    Problem(elsewhere, held=HeldBy.VISIBLE, paths=real) if outside else self._tree_problem(need, disk)
                )
            case RequirementKind.READ | RequirementKind.TREE | RequirementKind.EXECUTE:
                if self.around.key(leads):
                    return Problem("a place for keys", patterns=False, held=HeldBy.NOTHING)
                held = HeldBy.PROFILE if need.kind is RequirementKind.EXECUTE else HeldBy.VISIBLE
                return Problem(elsewhere, held=held, paths=real) if outside else self._tree_problem(need, disk)
            case RequirementKind.USE if self.around.key(leads):
                return Problem("a place for keys", patterns=False, held=HeldBy.NOTHING)
            case _ if self.around.protected(leads):
                why = "a protected place, for keys or for files that other programs run or obey"
                return Problem(why, patterns=False, held=HeldBy.NOTHING)
            case RequirementKind.TOUCH:
                return None
            case _ if outside:
                held = HeldBy.VISIBLE if need.kind is RequirementKind.USE else HeldBy.PRIVATE
                return Problem(elsewhere, patterns=self._named(need, disk), held=held, paths=real)
            case _ if self.around.obeyed(leads):
                named = self._named(need, disk, obeyed=True)
                why = "an agent, git, a shell, an editor or a CI obeys it"
                return Problem(why, patterns=named, held=HeldBy.NOTHING)
            case _:
                return None if need.implied else Problem("")

    def _of_others(self, need: Requirement, disk: Disk) -> bool:
        """It may change another working tree of the repository."""
        match need.kind:
            case RequirementKind.COMMAND:
                return not need.looks and any(map(self.around.of_others, need.folders))
            case RequirementKind.USE if _only_copies(need.words):
                return False
            case RequirementKind.WRITE | RequirementKind.USE | RequirementKind.TOUCH:
                return any(map(self.around.of_others, real_paths(need, disk)))
            case _:
                return False

    def _tree_problem(self, need: Requirement, disk: Disk) -> Problem | None:
        """Why the files below a folder are not allowed."""
        for tree in need.trees:
            if tree.changes:
                continue
            contents = disk.trees.get(tree, TreeContents(complete=False))
            if not contents.complete:
                return Problem("the files it reads there are not known")
            if need.kind is RequirementKind.LIST:
                continue
            if keys := tuple(file for file in contents.files if self.around.key_inside(file)):
                why = f"it reads {self.around.shown(keys[0])}, a place for keys"
                return Problem(why, patterns=False, held=HeldBy.HIDDEN, paths=keys)
            if not all(map(self.around.inside, contents.files)):
                return Problem("a link leads outside the workspace")
        return None

    def _named(self, need: Requirement, disk: Disk, *, obeyed: bool = False) -> bool:
        """A write rule names this place explicitly, so its pattern counts."""
        paths = (rule.path for rule in self._rules if rule.verdict is Verdict.ALLOW and rule.covers(need, disk))
        named = self.around.names_obeyed if obeyed else self.around.names_outside
        return any(path is not None and named(path) for path in paths)


def _only_copies(words: Sequence[Word]) -> bool:
    """It is cp, and only reads what it copies: what it writes is a part of its own."""
    options = [word.text for word in words[1:] if word.text.startswith("-")]
    return base_name(words[0].text) == "cp" and all(map(_OF_COPIES.fullmatch, options))


_OF_COPIES = re.compile(r"-[adfiLnpPrRTuv]+|--(?:archive|force|recursive|verbose)")


def _moved(rule: PermissionRule, workspace: str, around: Surroundings, own_tools: tuple[str, ...]) -> PermissionRule:
    """A rule as it is meant in another working tree. A link in the repository leads from there to its copy."""
    moved = parse_rule(rule.verdict, rule.text, around, rule.scope, own_tools)
    if moved.path is None or not rule.real_folder:
        return moved
    inside = rule.real_folder == workspace or rule.real_folder.startswith(f"{workspace}/")
    real = around.workspace + rule.real_folder.removeprefix(workspace) if inside else rule.real_folder
    absolute = rule.path is not None and moved.path.text == rule.path.text
    return replace(moved, real_folder=rule.real_folder if absolute else real)


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
            if need.split and re.search(r"[\s*?\[\\]", match):
                return f"the name {match[start:]!r} would be read as several"
    return ""


def _command_problem(need: Requirement) -> Problem:
    alone = not need.words
    sets = [one.name for one in need.assignments if not harmless_assignment(one, alone=alone)]
    return Problem(f"it sets {', '.join(sets)}" if sets else "")


def _quoted(need: Requirement) -> str:
    match need.kind:
        case RequirementKind.UNREADABLE:
            return f"this line, which cannot be read: {need.shown}"
        case RequirementKind.TOOL:
            return need.tool
        case _:
            shown = " ".join(need.shown.split())
            return f"`{shown if len(shown) <= 80 else shown[:79] + '…'}`"


def _missing(missing: list[tuple[Requirement, Problem]]) -> str:
    """The missing parts in a few words: programs, written files, and other problems."""
    if not missing:
        return ""
    if missing[0][0].kind is RequirementKind.UNREADABLE:
        return f"this line cannot be read: {missing[0][0].shown}"
    about = {need.words for need, problem in missing if problem.why and need.kind is not RequirementKind.COMMAND}
    runs: dict[str, None] = {}
    others: dict[str, None] = {}
    passes = [need for need, problem in missing if need.words and need.words[0].text in _PASSING and not problem.why]
    for need, problem in missing:
        if need in passes:
            continue
        if need.kind is RequirementKind.COMMAND and (problem.why or need.words not in about):
            runs[f"`{_short(need)}`" + (f" ({problem.why})" if problem.why else "")] = None
        elif problem.why and need.kind is not RequirementKind.COMMAND:
            is_about_it = problem.why.startswith("it ")
            others[_quoted(need) + (problem.why.removeprefix("it") if is_about_it else f": {problem.why}")] = None
        elif need.kind is RequirementKind.WRITE and need.shell:
            others[f"it writes `{need.shown.lstrip('&<>| ')}`"] = None
    more = ", …" if len(runs) > MOST_PARTS else ""
    if passes and not runs and not others:
        return f"what `{_short(passes[0])}` gets is known only when it runs"
    parts = [f"it runs {', '.join(list(runs)[:MOST_PARTS])}{more}"] if runs else []
    return "; ".join([*parts, *list(others)[:MOST_PARTS]]) or THE_CALL


_PASSING = frozenset({"read", "echo"})
"""Commands of the shell that run no program; the other parts of a line say what matters."""


def _short(need: Requirement) -> str:
    """The program, with what seems to be its subcommand."""
    first, *rest = [word.text for word in need.words] or [need.shown]
    more = 2 if rest[:1] == ["-m"] else 1 if rest and re.fullmatch(r"[a-z][\w:-]*", rest[0]) else 0
    return " ".join((first, *rest[:more]))[:MOST_SHORT]


def _is_plain(need: Requirement, line: str) -> bool:
    """The line is one command or pipeline, no chain, and shows the command itself, not in quotes (`sh -c 'x'`)."""
    bare, shown = (_QUOTED.sub("'", text.strip()) for text in (line, need.shown))
    return shown in bare and _CHAIN.search(bare) is None


_QUOTED = re.compile(r"""'[^']*'|"(?:\\.|[^"\\])*"|\\.""", re.DOTALL)
_CHAIN = re.compile(r"&&|\|\||;|\n|(?<!>)&(?!>)|`|[$<>]?\(|\{")


Rule = Callable[[PermissionRequest], Decision | None]
"""A rule in code decides a request or passes it on with None. Such rules must be pure; they run in order before
everything else, and the first decision counts."""

SHELL = "bash"


class Permissions:
    """Decides requests by rules, by effect, by remembered answers and by mode.

    In a read-only session earlier answers do not count.
    """

    def __init__(self, mode: Mode, rules: tuple[Rule, ...] = (), book: RuleBook | None = None) -> None:
        """`book`: written rules and the knowledge about commands and places; None: modes only."""
        self.mode = mode
        self.rules = rules
        self.book = book
        self._always: set[tuple[str, str]] = set()
        self.more = NOTHING_MORE
        """What the user allowed all commands of this session that the sandbox holds."""

    def questions(self, request: PermissionRequest) -> DiskQuestions:
        """The facts that `decide` needs from the disk."""
        return DiskQuestions() if self.book is None else self.book.at(request.workspace).questions(request)

    def matters(self, path: str) -> bool:
        """Whether a file found in a folder is relevant to `decide`; takes its real absolute path."""
        return self.book is not None and self.book.matters(path)

    def withholds(self, path: str, *, content: bool) -> bool:
        """Whether a tool's search skips this file: a rule names it, or its `content` may be keys."""
        if self.book is None:
            return False
        book = self.book.of(path)
        keys = content and self.mode is not Mode.YOLO and book.around.key_inside(path)
        return keys or book.withholds(path)

    def decide(self, request: PermissionRequest) -> Decision:
        """May this call run?"""
        planning = self.mode is Mode.PLAN and (request.changes or request.effect in (Effect.WRITE, Effect.RUN))
        for rule in self.rules:
            decision = rule(request)
            if isinstance(decision, Deny) or (decision is not None and not planning):
                return decision
        if request.outside is not None and (self.book is None or request.effect is not Effect.READ):
            return Deny(f"{request.outside} is outside the workspace", by="rule")
        book = self.book and self.book.at(request.workspace)
        judgement = None if book is None else book.judge(request, allowing=not planning)
        if judgement is not None and judgement.denied:
            return Deny(judgement.denied, by="rule")
        match request.effect:
            case Effect.READ if not planning:
                return self._looking(request, judgement, "reading inside the workspace is always allowed")
            case Effect.DELEGATE:
                return self._looking(request, judgement, "each call of the subagent is decided separately")
            case Effect.WRITE | Effect.RUN if self.mode is Mode.DENY:
                why = f"this session is read-only, and {request.tool} {_verb(request)}"
                return Deny(f"{why}; only the user can change its permission mode", by="mode")
            case _ if planning:
                return _planning(request, judgement)
            case _ if judgement is None:
                return self._by_answer(request) or self._by_mode(request)
            case _:
                return self._judged(request, judgement)

    def _looking(self, request: PermissionRequest, judgement: RuleVerdict | None, why: str) -> Decision:
        if judgement is None:
            return Allow(why)
        if self.mode is Mode.YOLO:
            return self._everything(request, judgement)
        if asked := _firm(request, judgement, judgement.perhaps_denied or judgement.asked):
            return asked
        if request.outside is not None and judgement.missing:
            why = f"{request.outside} is outside the workspace"
            return self._by_answer(request) or _rememberable(why, request, judgement)
        return Allow(why)

    def _judged(self, request: PermissionRequest, judgement: RuleVerdict) -> Decision:
        # An answer for this session covered exactly this call, so it counts even if the call is dangerous.
        if request.effect is not Effect.WRITE and (answered := self._by_answer(request)) is not None:
            return answered
        if self.mode is Mode.YOLO:
            return self._everything(request, judgement)
        if (held := self._held(request, judgement)) is not None:
            return held
        if asked := _firm(request, judgement, judgement.perhaps_denied or judgement.asked):
            return asked
        if not judgement.missing:
            return _unasked(request, judgement)
        decision = self._by_answer(request) or self._by_mode(request)
        if isinstance(decision, Ask):
            why = decision.why if judgement.missing == THE_CALL else judgement.missing
            return _rememberable(why, request, judgement)
        return decision

    def _held(self, request: PermissionRequest, judgement: RuleVerdict) -> Allow | Ask | None:
        """The decision on a line that the sandbox holds, so that it needs no question of its own; None: it is not held,
        or not only because of that."""
        refused = request.refused.beyond(self.more)
        if judgement.profile is None or judgement.perhaps_denied or judgement.asked:
            return None
        if refused != NOTHING_MORE and not (judgement.by_rule and not judgement.missing):
            return self._refused(request, refused)
        if not judgement.missing:
            return None
        looks = judgement.profile is ProfileName.LOOK
        more = NOTHING_MORE if looks else self.more.with_more(judgement.allowance)
        return Allow("the sandbox holds it", profile=judgement.profile, allowance=more, looks=looks)

    def _refused(self, request: PermissionRequest, refused: Allowance) -> Ask:
        """The question about a line that needs more than the sandbox gave it."""
        around = Surroundings("", "") if self.book is None else self.book.at(request.workspace).around
        shown = [f"`{one}`" for one in (*map(around.shown, refused.paths), *refused.hosts)]
        why = f"the sandbox keeps it from {', '.join(shown)}"
        guarded = around.key(refused.paths) or around.protected(refused.paths) or around.obeyed(refused.paths)
        dangers = (f"{why}, a place for keys or for what other programs run or obey",) if guarded else ()
        if not guarded and any(map(around.wide, refused.paths)):
            return Ask(f"{why}, which is too much to open", firm=False)
        more = refused.with_more(self.more)
        return Ask("; ".join(dangers) or why, firm=guarded, dangers=dangers, profile=ProfileName.WORK, allowance=more)

    def _everything(self, request: PermissionRequest, judgement: RuleVerdict) -> Decision:
        """The decision in mode yolo, where deny rules count, including possible matches, and the other working trees of
        the repository, because that mode was chosen for this one."""
        if (why := judgement.perhaps_denied or judgement.of_others) and (asked := _firm(request, judgement, why)):
            return asked
        dangerous, looks = "; ".join(judgement.dangers), _looks(request, judgement)
        return Allow("everything is allowed in this mode", by="mode", dangerous=dangerous, looks=looks)

    def _by_answer(self, request: PermissionRequest) -> Allow | None:
        return Allow("allowed for this session", by="user") if _scope(request) in self._always else None

    def _by_mode(self, request: PermissionRequest) -> Decision:
        match self.mode:
            case Mode.YOLO:
                return Allow("everything is allowed in this mode", by="mode")
            case Mode.EDITS if request.effect is Effect.WRITE:
                return Allow("writing inside the workspace is allowed in this mode", by="mode")
            case _:
                return Ask(f"it {_verb(request)}", firm=False, edits=request.effect is Effect.WRITE)

    def remember(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow | Deny:
        """Apply an answer to this request; "always" also counts for later requests of the same scope, and "edits" goes
        with a change of the mode, which is not made here.

        Without rules in the answer the scope is the tool for one that writes files, exactly this command line for
        bash, and exactly this input for any other tool that runs things. With rules it is what they allow, for this
        session; a rule that is not understood then allows nothing but this call.
        """
        match answer.choice:
            case "no":
                return Deny(answer.why, by=answer.by)
            case "once" | "edits":
                return self._allowed(request, answer)
            case "always" if answer.rules and self.book is not None:
                scope = RuleScope.ALWAYS if answer.keep else RuleScope.SESSION
                try:
                    for rule in [self.book.parse(Verdict.ALLOW, text, scope) for text in answer.rules]:
                        self.book.add(rule)
                except RuleError as error:
                    return Allow(answer.why, by=answer.by, not_kept=f"no rule was added: it {error}")
                return Allow(answer.why, by=answer.by)
            case "always" if request.allowance != NOTHING_MORE:
                self.more = self.more.with_more(request.allowance)
                return self._allowed(request, answer)
            case "always":
                self._always.add(_scope(request))
                return self._allowed(request, answer)

    def _allowed(self, request: PermissionRequest, answer: PermissionAnswer) -> Allow:
        return Allow(answer.why, by=answer.by, profile=request.profile, allowance=request.allowance)


def _planning(request: PermissionRequest, judgement: RuleVerdict | None) -> Decision:
    """The decision in plan mode, where only read-only command lines run; `judgement`: without rules that allow."""
    if judgement is None or not _looks(request, judgement):
        missing = "" if judgement is None or judgement.missing == THE_CALL else f" ({judgement.missing})"
        verb = "changes something" if request.changes else _verb(request)
        what = f"{request.tool} {verb}{missing if request.tool == SHELL else ''}"
        return Deny(f"plan mode only looks until the user ends it, and {what}", by="mode")
    asked = _firm(request, judgement, judgement.perhaps_denied or judgement.asked)
    return asked or Allow(judgement.allowed, profile=ProfileName.LOOK, looks=True)


def _unasked(request: PermissionRequest, judgement: RuleVerdict) -> Allow | Ask:
    """The decision on a call of which nothing is missing."""
    looks = _looks(request, judgement)
    by: DecidedBy = "rule" if judgement.by_rule else "default"
    # Without a full sandbox something else may hold it: that lets no line through to a server.
    only_outside = judgement.sees_outside and not judgement.reads_files
    held = not only_outside if request.sandbox is None else judgement.profile is not None
    if looks and not held and judgement.sees_outside and judgement.reads_files:
        return Ask(f"`{judgement.sees_outside}` sees nothing in a sandbox", firm=False)
    profile = ProfileName.LOOK if looks and held else ProfileName.FREE
    return Allow(judgement.allowed, by=by, profile=profile, looks=looks)


def _looks(request: PermissionRequest, judgement: RuleVerdict) -> bool:
    """A command line that runs unasked because it only reads."""
    return request.tool == SHELL and not judgement.missing and not judgement.by_rule


def _firm(request: PermissionRequest, judgement: RuleVerdict, reason: str) -> Ask | None:
    """The question that a rule or a danger requires; None: neither."""
    why = "; ".join(filter(None, (reason, *judgement.dangers)))
    return Ask(why, dangers=judgement.dangers) if why else None


def _rememberable(why: str, request: PermissionRequest, judgement: RuleVerdict) -> Ask:
    """A question whose answer can also hold for later calls."""
    edits = request.effect is Effect.WRITE
    return Ask(why, judgement.offers, firm=False, family=judgement.family, edits=edits)


def _scope(request: PermissionRequest) -> tuple[str, str]:
    if request.effect is Effect.WRITE:
        return request.tool, ""
    if request.tool == SHELL and isinstance(command := request.input.get("command"), str):
        return request.tool, command
    return request.tool, json.dumps(request.input, sort_keys=True)


def _verb(request: PermissionRequest) -> str:
    """What a call does, in words."""
    server, separator, _ = request.tool.removeprefix("mcp__").partition("__")
    called = request.tool.startswith("mcp__") and separator and request.effect is Effect.RUN
    warning = ", which says that this may destroy something" if request.destructive else ""
    return f"calls the MCP server {server}{warning}" if called else _VERBS[request.effect]


_VERBS = {
    Effect.READ: "reads",
    Effect.WRITE: "writes a file",
    Effect.RUN: "runs a program",
    Effect.DELEGATE: "starts a subagent",
}
