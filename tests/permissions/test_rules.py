"""Rules: how they are written, what they cover and what they meet."""

from itertools import product

import pytest

from harness.permissions import (
    Allow,
    Ask,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
    Permissions,
    RuleBook,
    RuleError,
    RuleScope,
    Verdict,
    parse_rule,
)
from harness.permissions.disk import Disk
from harness.tools.tool import Effect
from tests.cases import cases, grouped, members, yes
from tests.permissions.test_verdicts import AROUND, bash, decided, permissions


def file_call(tool: str, path: str, real: str = "") -> PermissionRequest:
    """A call of a file tool; `real` is where the path leads, if links do not lead where it says."""
    effect = Effect.WRITE if tool in ("write_file", "edit_file") else Effect.READ
    joined = AROUND.joined(path, AROUND.workspace)
    return PermissionRequest("1", tool, effect, path, "", {"path": path}, disk=Disk({joined: (real,)} if real else {}))


# ── how they are written ────────────────────────────────────────────────────────────────────────


@cases(__file__, "text", "written text")
def test_a_rule_is_kept_as_it_is_written(written: str, text: str) -> None:
    assert parse_rule(Verdict.ALLOW, written, AROUND).text == text


@cases(__file__, "nonsense", "written why")
def test_a_rule_that_makes_no_sense_is_refused_with_one_that_would(written: str, why: str) -> None:
    with pytest.raises(RuleError, match=why):
        parse_rule(Verdict.ALLOW, written, AROUND)


@pytest.mark.parametrize("tool", ["read", "Read"])
def test_brackets_in_a_rule_that_denies_mean_both_readings(tool: str) -> None:
    rule = parse_rule(Verdict.DENY, f"{tool}(app/[id]/**/x.[ch])", AROUND)
    assert [one.text.partition("app/")[2] for one in (rule.path, *rule.also) if one] == ["[id]/**/x.[ch]", "?/**/x.?"]
    assert parse_rule(Verdict.ALLOW, f"{tool}(app/[id]/x)", AROUND).also == ()


# ── commands ────────────────────────────────────────────────────────────────────────────────────

COVERED = grouped(__file__, "covered")
NOT_COVERED = grouped(__file__, "not covered")


@pytest.mark.parametrize("rule", COVERED)
def test_a_rule_covers_a_command_however_it_is_written(rule: str) -> None:
    decisions = {line: decided(line, allow=rule) for line in COVERED[rule]}
    covered = [line for line, one in decisions.items() if isinstance(one, Allow) and rule in one.why]
    assert covered == COVERED[rule]


@pytest.mark.parametrize("rule", NOT_COVERED)
def test_a_rule_covers_nothing_beyond_its_command(rule: str) -> None:
    assert [line for line in NOT_COVERED[rule] if not isinstance(decided(line, allow=rule), Ask)] == []


def test_every_part_of_a_line_needs_its_own_rule() -> None:
    line = "npm run build > dist/log && git push"
    rules = ["bash(npm run *)", "bash(git push)", "write(dist/**)"]
    assert isinstance(decided(line, allow=rules), Allow)
    for left_out in rules:
        assert isinstance(decided(line, allow=[rule for rule in rules if rule != left_out]), Ask)


MET = grouped(__file__, "denied")
PERHAPS_MET = grouped(__file__, "perhaps denied")


@pytest.mark.parametrize("rule", MET)
def test_a_denial_meets_a_command_in_every_mode_and_names_itself(rule: str) -> None:
    for line, mode in product(MET[rule], Mode):
        decision = decided(line, mode, allow=["bash", "read", "write"], deny=rule)
        assert isinstance(decision, Deny), (line, decision)
        assert rule in decision.why
        assert decision.by == "rule"


@pytest.mark.parametrize("rule", PERHAPS_MET)
def test_what_a_denial_may_mean_is_asked_about_even_where_everything_is_allowed(rule: str) -> None:
    for line, mode in product(PERHAPS_MET[rule], (Mode.ASK, Mode.EDITS, Mode.YOLO)):
        decision = decided(line, mode, allow=["bash", "read", "write"], deny=rule)
        assert isinstance(decision, Ask), (line, decision)


def test_a_pattern_that_was_not_looked_up_may_be_denied() -> None:
    assert isinstance(permissions(Mode.YOLO, deny="read(secrets/**)").decide(bash("cat s*/key")), Ask)
    assert isinstance(decided("cat s*/key", Mode.YOLO, deny="read(secrets/**)"), Allow)  # nothing fits it


@pytest.mark.parametrize(("line", "met"), [("git push", True), ("git push -f", True), ("git pull", False)])
def test_a_denial_in_the_form_of_other_agents_means_what_it_means_there(line: str, met: bool) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny="bash(git push:*)"), Deny if met else Allow)
    assert isinstance(decided(line, allow="bash(git push:*)"), Ask)  # allowing means what our page says


@pytest.mark.parametrize(
    ("rule", "line"), [("bash(git push *)", "git pull"), ("read(secrets/**)", "cat src/a"), ("bash(rm *)", "echo rm")]
)
def test_a_denial_meets_nothing_else(rule: str, line: str) -> None:
    assert isinstance(decided(line, Mode.YOLO, deny=rule), Allow)


def test_a_rule_that_asks_counts_where_another_one_allows_and_where_the_command_only_looks() -> None:
    assert isinstance(decided("git push", allow="bash(git *)", ask="bash(git push *)"), Ask)
    assert isinstance(decided("git log", ask="bash(git log *)"), Ask)
    assert isinstance(decided("git log", Mode.YOLO, ask="bash(git log *)"), Allow)


# ── files ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", [Mode.ASK, Mode.EDITS])
@cases(__file__, "protected", "tool path real")
def test_a_protected_path_is_asked_about_however_it_is_named(mode: Mode, tool: str, path: str, real: str) -> None:
    session = permissions(mode, allow=["write(**)", "read(**)", "write", "read"])
    session.remember(file_call(tool, "other"), PermissionAnswer("always"))
    decision = session.decide(file_call(tool, path, real))
    assert isinstance(decision, Ask), decision
    assert "place" in decision.why


def test_a_rule_without_a_wildcard_allows_a_protected_path() -> None:
    assert isinstance(permissions(allow="read(.env)").decide(file_call("read_file", ".env")), Allow)
    assert isinstance(permissions(allow="write(.envrc)").decide(file_call("write_file", ".envrc")), Allow)
    assert isinstance(permissions(allow="read(.env)").decide(file_call("read_file", "x", "/srv/project/a/.env")), Ask)


@cases(__file__, "writing", "rule path real covered", str, str, str, yes)
def test_what_a_rule_about_writing_covers(rule: str, path: str, real: str, covered: bool) -> None:
    decision = permissions(allow=rule).decide(file_call("write_file", path, real))
    assert isinstance(decision, Allow if covered else Ask)


def test_files_are_written_unasked_in_the_mode_for_it_unless_a_rule_says_otherwise() -> None:
    session = permissions(Mode.EDITS, ask="write(src/**)", deny="write(*.lock)")
    assert isinstance(session.decide(file_call("write_file", "a")), Allow)
    assert isinstance(session.decide(file_call("write_file", "src/a")), Ask)
    denied = session.decide(file_call("edit_file", "x", "/srv/project/uv.lock"))
    assert isinstance(denied, Deny)
    assert denied.message == "This was not allowed: the rule deny write(*.lock) (of the settings) is about `x`."


@cases(__file__, "obeyed", "path")
def test_a_file_that_others_obey_is_asked_about_in_every_mode_that_asks(path: str) -> None:
    for mode, tool in product((Mode.ASK, Mode.EDITS), ("write_file", "edit_file")):
        session = permissions(mode, allow=["write", "write(src/**)", "write_file", "edit_file"])
        session.remember(file_call(tool, "other"), PermissionAnswer("always"))
        for call in (file_call(tool, path), file_call(tool, "link", f"/srv/project/{path}")):
            assert isinstance(decision := session.decide(call), Ask)
            assert decision.dangers
        assert isinstance(session.decide(file_call("read_file", path)), Allow)
    shell = permissions(Mode.EDITS, allow=["write", "bash(tee *)", "bash(prettier *)", "bash(git add *)"])
    for line in (f"echo x > {path}", f"echo x | tee {path}", f"mv a {path}", f"cp a {path}"):
        assert isinstance(decision := shell.decide(bash(line)), Ask), line
        assert decision.dangers, line
    for line in (f"prettier --check {path}", f"git add {path}"):
        assert isinstance(shell.decide(bash(line)), Allow), line


@cases(__file__, "ordinary", "path")
def test_ordinary_work_is_not_asked_about(path: str) -> None:
    assert isinstance(permissions(Mode.EDITS).decide(file_call("write_file", path)), Allow)


def test_a_rule_that_names_a_file_which_others_obey_allows_it() -> None:
    for rule, path in (
        *(
            ("write(AGENTS.md)", "AGENTS.md"),
            ("write(**/CLAUDE.md)", "src/CLAUDE.md"),
            ("write(.claude/**)", ".claude/x"),
        ),
        ("write(.github/workflows/*)", ".github/workflows/ci.yml"),
    ):
        assert isinstance(permissions(allow=rule).decide(file_call("write_file", path)), Allow), rule


def test_reading_is_allowed_unless_a_rule_says_otherwise() -> None:
    session = permissions(Mode.DENY, deny="read(secrets/**)", ask="read(notes/**)")
    assert isinstance(session.decide(file_call("read_file", "a")), Allow)
    assert isinstance(session.decide(file_call("grep", "secrets")), Deny)
    assert isinstance(session.decide(file_call("glob", "notes/old")), Ask)
    assert isinstance(session.decide(file_call("grep", ".")), Allow)  # the search leaves the secrets out
    assert session.withholds("/srv/project/secrets/key", content=False)
    assert session.withholds("/srv/project/notes/a", content=False)
    assert not session.withholds("/srv/project/src/a", content=True)


def test_setting_an_agent_to_work_is_allowed_in_every_mode_unless_a_rule_says_otherwise() -> None:
    task = PermissionRequest("1", "agent", Effect.DELEGATE, "find it", "", {"prompt": "find it"})
    for mode in Mode:
        assert isinstance(permissions(mode).decide(task), Allow)
        assert isinstance(permissions(mode, deny="agent").decide(task), Deny)
    assert isinstance(permissions(ask="agent").decide(task), Ask)


def test_a_tool_of_ones_own_has_rules_by_its_name() -> None:
    deploy = PermissionRequest("1", "deploy", Effect.RUN, "deploy", "", {"where": "here"})

    def decided_by(**rules: str) -> object:
        book = RuleBook(AROUND, own_tools=["deploy"])
        for verdict, text in rules.items():
            book.add(book.parse(Verdict(verdict), text, RuleScope.SETTINGS))
        return Permissions(Mode.ASK, book=book).decide(deploy)

    assert isinstance(decided_by(allow="deploy"), Allow)
    assert isinstance(decided_by(deny="deploy", allow="deploy"), Deny)
    assert isinstance(decided_by(allow="bash"), Ask)
    with pytest.raises(RuleError, match="names no tool"):
        parse_rule(Verdict.DENY, "deploy", AROUND)


# ── rules as other programs write them ──────────────────────────────────────────────────────────

TOOL_CALLS = {
    "bash": bash("npm run -s build"),
    "read_file": file_call("read_file", "src/a.py"),
    "write_file": file_call("write_file", "src/a.py"),
    "edit_file": file_call("edit_file", "src/a.py"),
    "grep": file_call("grep", "src"),
    "glob": file_call("glob", "src"),
    "agent": PermissionRequest("1", "agent", Effect.DELEGATE, "find it", "", {"prompt": "find it"}),
    "todo_write": PermissionRequest("1", "todo_write", Effect.READ, "plan", "", {"todos": []}),
    "mcp__docs__find": PermissionRequest("1", "mcp__docs__find", Effect.RUN, "find", "", {}),
}


@pytest.mark.parametrize("name", ["", "lower", "upper"])
@cases(__file__, "other programs", "written denied", str, members)
def test_a_rule_of_another_program_denies_what_its_author_means(written: str, denied: set[str], name: str) -> None:
    tool, bracket, rest = written.partition("(")
    if name and not tool.startswith("mcp__") and tool not in ("Read", "Write"):  # read and write are names of ours
        written = (tool.upper() if name == "upper" else tool.lower()) + bracket + rest
    session = permissions(Mode.YOLO, deny=written)
    assert {call for call, request in TOOL_CALLS.items() if isinstance(session.decide(request), Deny)} == denied


@cases(__file__, "allows no more", "written line covered", str, str, yes)
def test_a_rule_of_another_program_allows_no_more_than_it_says(written: str, line: str, covered: bool) -> None:
    assert isinstance(permissions(allow=written).decide(bash(line)), Allow) is covered


def test_what_the_server_runs_is_denied_by_name_and_never_asked_about() -> None:
    book = RuleBook(AROUND)
    book.add(book.parse(Verdict.DENY, "WebFetch", RuleScope.SETTINGS))
    assert (book.denies("web_fetch"), book.denies("web_search")) == (True, False)
    with pytest.raises(RuleError, match="web_search = false"):
        book.parse(Verdict.ASK, "WebSearch", RuleScope.SETTINGS)


def test_the_meaning_of_a_rule_is_shown_in_words_of_this_program() -> None:
    def meaning(verdict: Verdict, text: str) -> str:
        return parse_rule(verdict, text, AROUND).meaning

    assert meaning(Verdict.ALLOW, "Bash(npm run:*)") == "bash(npm run *)"
    assert meaning(Verdict.DENY, "Read(.env)") == "read(/srv/project/.env, **/.env)"
    assert meaning(Verdict.DENY, "Edit") == "write"
    assert meaning(Verdict.DENY, "Task") == "agent"


# ── what is answered ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("npm run a && git push", ("bash(npm run a)", "bash(git push)")),
        ("ls > out.txt", ("write(out.txt)",)),
        ("make all > build/log", ("bash(make all)", "write(build/log)")),
        ("cat /etc/hosts", ("read(/etc/hosts)",)),
        ("case x in x) make;& esac", ()),
    ],
)
def test_what_is_on_offer_is_what_would_have_allowed_it(line: str, offers: tuple[str, ...]) -> None:
    decision = decided(line)
    assert isinstance(decision, Ask)
    assert decision.offers == offers
    if offers:
        assert isinstance(decided(line, allow=list(offers)), Allow)


def test_an_answer_with_a_rule_counts_for_what_the_rule_covers() -> None:
    session = permissions()
    answer = PermissionAnswer("always", rules=("bash(npm run *)",))
    assert isinstance(session.remember(bash("npm run a"), answer), Allow)
    assert isinstance(session.decide(bash("npm run b")), Allow)
    assert isinstance(session.decide(bash("npm run b; git push")), Ask)


def test_an_answer_with_a_rule_that_is_not_understood_allows_this_once() -> None:
    session = permissions()
    allowed = session.remember(bash("npm run a"), PermissionAnswer("always", rules=("nonsense(",)))
    assert isinstance(allowed, Allow)
    assert "no rule was added" in allowed.not_kept
    assert isinstance(session.decide(bash("npm run a")), Ask)


def test_always_for_one_dangerous_line_takes_effect_for_exactly_this_line() -> None:
    session = permissions()
    session.remember(bash("rm -rf build"), PermissionAnswer("always"))
    assert isinstance(session.decide(bash("rm -rf build")), Allow)
    assert isinstance(session.decide(bash("rm -rf build dist")), Ask)


def test_an_answer_never_beats_a_denial() -> None:
    session = permissions(deny="bash(git push *)")
    session.remember(bash("git push"), PermissionAnswer("always"))
    session.remember(bash("git push"), PermissionAnswer("always", rules=("bash(git push)",)))
    assert isinstance(session.decide(bash("git push")), Deny)
