"""Checks of the verdict: the gate of harness decides about the same lines by the same rules."""

from collections.abc import Sequence
from itertools import permutations
from random import Random
from types import ModuleType

from harness.permissions import Mode, PermissionRequest, Permissions, RuleBook, RuleScope, Surroundings, Verdict
from harness.tools.tool import Effect

LINES = 600
AROUND = Surroundings(workspace="/srv/project", home="/home/ada")
USUAL = ("allow make *", "deny make deploy *", "ask make clean")

PROGRAMS = (*["make"] * 12, "just", "just", "./make", "/usr/bin/make", "MAKE")
WORDS = (*["test", "deploy", "clean"] * 3, "'deploy'", '"te"st', "-k", "$TARGET", "$(make clean)")
BEFORE = ("PATH=. ", "LD_PRELOAD=./a.so ")
BEHIND = (" > out.txt", " >> out.txt", " < in.txt", " 2>&1")
JOINTS = (" && ", " || ", " | ", "; ", " & ")
VERDICTS = ("allow", "allow", "allow", "ask", "deny")
PATTERNS = ("make *", "make test", "make test *", "make deploy", "make deploy *", "make clean", "just *", "just test")


def real(line: str, rules: Sequence[str]) -> str:
    """The verdict of harness: allow, ask or deny."""
    book = RuleBook(AROUND)
    for verdict, _, command in (rule.partition(" ") for rule in rules):
        book.add(book.parse(Verdict(verdict), f"bash({command})", RuleScope.SESSION))
    request = PermissionRequest("1", "bash", Effect.RUN, line, line, {"command": line})
    return type(Permissions(Mode.ASK, book=book).decide(request)).__name__.lower()


def difference(work: ModuleType, line: str, rules: Sequence[str]) -> str:
    """The line and rules if the learner's verdict differs from harness; empty: it does not."""
    made = [work.Rule(verdict, command) for verdict, _, command in (rule.partition(" ") for rule in rules)]
    got, wanted = work.decide(line, made), real(line, rules)
    return "" if got == wanted else f"{line}  [{'; '.join(rules)}] -> {got}, wanted {wanted}"


def same(work: ModuleType, lines: Sequence[str], rules: Sequence[str] = USUAL) -> None:
    """The learner's verdict on each line is that of harness."""
    for line in lines:
        different = difference(work, line, rules)
        assert not different, different


def check_a_line_is_as_strict_as_its_strictest_command(work: ModuleType) -> None:
    same(work, ("make test", "make test && make deploy", "make deploy; make test", "make test | make clean"))
    same(work, ("make test || rm -rf drafts", "rm -rf drafts; make deploy", "make test && make all"))
    same(work, ('make "$(make deploy)"', "if make test; then make deploy; fi", "sh -c 'make test; make deploy'"))


def check_the_order_of_the_rules_does_not_matter(work: ModuleType) -> None:
    for rules in permutations(("allow make *", "ask make deploy *", "deny make deploy now")):
        same(work, ("make test", "make deploy", "make deploy now"), rules)


def check_no_matching_rule_means_ask(work: ModuleType) -> None:
    same(work, ("make", "make test", "make  test", "make testing", "make test all"), ("allow make test",))
    same(work, ("just test", "make 'test all'", "makefile", "remake test"), ("allow make test *", "deny make deploy"))
    same(work, ("just test",), ())


def check_only_what_is_certain_is_allowed(work: ModuleType) -> None:
    same(work, ("make $TARGET", 'make "$(just)"', "make `just`", "make test > out.txt", "make test >> Makefile"))
    same(work, ("PATH=. make test", "LD_PRELOAD=./a.so make test", "> out.txt", "TARGET=deploy"))
    same(work, ("make 'test'", "make test < in.txt", "make test 2>&1"))


def check_a_denied_command_stays_denied(work: ModuleType) -> None:
    same(work, ("make 'deploy'", 'make "de"ploy', "make de\\ploy", "/usr/bin/make deploy", "./make deploy"))
    same(work, ("make deploy > out.txt", "PATH=. make deploy", "make deploy $TARGET", "env make deploy"))
    same(work, ("./make clean", "./make test", "/usr/bin/make test"))


def check_it_agrees_with_the_gate_of_harness(work: ModuleType) -> None:
    cases = (difference(work, *chosen(Random(seed))) for seed in range(LINES))
    shortest = min(filter(None, cases), key=len, default="")
    assert not shortest, shortest


def chosen(chance: Random) -> tuple[str, list[str]]:
    """A random line and random rules."""
    line = command(chance)
    for _ in range(chance.choice((0, 0, 0, 1, 2))):
        line += chance.choice(JOINTS) + command(chance)
    patterns = chance.sample(PATTERNS, chance.randint(1, 4))
    return line, [f"{chance.choice(VERDICTS)} {pattern}" for pattern in patterns]


def command(chance: Random) -> str:
    """A random command, with or without something before and behind it."""
    words = [chance.choice(PROGRAMS), *(chance.choice(WORDS) for _ in range(chance.choice((0, 1, 1, 1, 2))))]
    before = chance.choice(BEFORE) if chance.random() < 0.1 else ""
    behind = chance.choice(BEHIND) if chance.random() < 0.2 else ""
    return before + " ".join(words) + behind
